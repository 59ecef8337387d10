"""Demand for electricity in Victoria, in blocks of three hours."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bocopt.problems.program import Program, minimise, pos, program, real
from bocopt.studies.learning.data.features import joined, lagged, one_hot, season, weekday
from bocopt.studies.learning.data.source import Columns, DataSet, Series, table

_HOURS = 3  # of a block
_A_DAY = 24 // _HOURS
_FIRST = np.datetime64("2014-01-01T00", "h")
_UNIT = 0.1  # gigawatt


def read() -> Mapping[str, Columns]:
    return {"half hours": table("fpp2", "elecdemand")}


def series(tables: Mapping[str, Columns]) -> Series:
    """A stage is a block, an outcome its largest demand; temperatures stand in for forecasts."""
    rows = tables["half hours"]
    halves = rows["Demand"].astype(float).reshape(-1, 2 * _HOURS) / _UNIT
    heat = rows["Temperature"].astype(float).reshape(-1, _HOURS, 2).mean(axis=-1)
    peak, blocks = halves.max(axis=-1, keepdims=True), len(halves)
    times = _FIRST + _HOURS * np.arange(blocks)
    x = joined(
        one_hot(np.arange(blocks) % _A_DAY, range(_A_DAY)),
        one_hot(weekday(times), range(7)),
        rows["WorkDay"][:: 2 * _HOURS].astype(float),
        season(times),
        heat,
        lagged(heat, _A_DAY),
        lagged(peak, 1, 2, _A_DAY, 2 * _A_DAY, 7 * _A_DAY),
        lagged(halves[:, -1:], 1),
    )
    return Series(times, x, peak).part(7 * _A_DAY, 1000)


def problem() -> Program:
    """Power for a block and reserve above it, such that both suffice in nineteen blocks of twenty.

    Power that is bought ahead is cheap; what is called from the reserve costs half as much again,
    and to hold it something too. The operator answers for a reliability, hence the chance
    constraint. What even the reserve does not cover is bought in an emergency, so that the middle
    of the law decides on the power and its tail on the reserve, and caution costs as its lack does.
    """

    @program(xi=1, chance=0.95, power=real(upper=1000.0), reserve=real(upper=1000.0))
    def block(xi: Any, power: Any, reserve: Any) -> Any:
        beyond_power, beyond_all = pos(xi[0] - power), pos(xi[0] - power - reserve)
        paid = power + 0.3 * reserve + 1.5 * beyond_power + 5.0 * beyond_all
        return minimise(paid), power + reserve >= xi[0]

    return block


ELECTRICITY = DataSet(read, series, problem)
