"""Demand for electricity in Victoria, in blocks of three hours."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from bocopt.core import Array
from bocopt.problems.program import Program, minimise, pos, program, real
from bocopt_studies.learning.data.features import joined, lagged, one_hot, season, weekday
from bocopt_studies.learning.data.source import Columns, DataSet, StudySeries, Times, table

_HOURS = 3  # of a block
_A_DAY = 24 // _HOURS
_FIRST = np.datetime64("2014-01-01T00", "h")
_UNIT = 0.1  # gigawatt


def read() -> Mapping[str, Columns]:
    """Return the table `elecdemand` of fpp2, a row for half an hour."""
    return {"half hours": table("fpp2", "elecdemand")}


class DemandBlocks(NamedTuple):
    """Blocks of three hours: demand, temperature and whether it is a workday."""

    times: Times  # (T) when they begin
    demand: Array  # (T, half hours) in gigawatt
    heat: Array  # (T, hours) in degrees
    workday: Array  # (T) 1 or 0


def blocks_of(tables: Mapping[str, Columns]) -> DemandBlocks:
    """All of the year."""
    rows = tables["half hours"]
    demand = rows["Demand"].astype(float).reshape(-1, 2 * _HOURS)
    heat = rows["Temperature"].astype(float).reshape(-1, _HOURS, 2).mean(axis=-1)
    workday = rows["WorkDay"][:: 2 * _HOURS].astype(float)
    return DemandBlocks(_FIRST + _HOURS * np.arange(len(demand)), demand, heat, workday)


def series(tables: Mapping[str, Columns]) -> StudySeries:
    """A stage is a block, an outcome its largest demand; temperatures stand in for forecasts."""
    times, demand, heat, workday = blocks_of(tables)
    halves = demand / _UNIT
    peak = halves.max(axis=-1, keepdims=True)
    x = joined(
        one_hot(np.arange(len(times)) % _A_DAY, range(_A_DAY)),
        one_hot(weekday(times), range(7)),
        workday,
        season(times),
        heat,
        lagged(heat, _A_DAY),
        lagged(peak, 1, 2, _A_DAY, 2 * _A_DAY, 7 * _A_DAY),
        lagged(halves[:, -1:], 1),
    )
    return StudySeries(times, x, peak).part(7 * _A_DAY, 1000)


def problem() -> Program:
    """Power for a block and reserve above it, such that both suffice in nineteen blocks of twenty.

    Power that is bought ahead is cheap; what is called from the reserve costs half as much again,
    and to hold it something too. The operator answers for a reliability, hence the chance
    constraint. What even the reserve does not cover is bought in an emergency, so that the middle
    of the law decides on the power and its tail on the reserve, and caution costs as its lack does.
    """

    @program(xi=1, chance=0.95, power=real(upper=1000.0), reserve=real(upper=1000.0))
    def block(xi: Any, power: Any, reserve: Any) -> Any:
        """Return the objective, and the constraint that power and reserve suffice together."""
        beyond_power, beyond_all = pos(xi[0] - power), pos(xi[0] - power - reserve)
        paid = power + 0.3 * reserve + 1.5 * beyond_power + 5.0 * beyond_all
        return minimise(paid), power + reserve >= xi[0]

    return block


ELECTRICITY = DataSet(read, series, problem)
