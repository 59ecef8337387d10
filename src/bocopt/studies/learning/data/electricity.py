"""Demand for electricity in Victoria, in blocks of three hours."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bocopt.problems.program import Program, integer, minimise, program
from bocopt.studies.learning.data.features import joined, lagged, one_hot, season, weekday
from bocopt.studies.learning.data.source import Columns, DataSet, Series, table

_HOURS = 3  # of a block
_A_DAY = 24 // _HOURS
_FIRST = np.datetime64("2014-01-01T00", "h")
_UNIT = 0.1  # gigawatt: what a generator gives


def read() -> Mapping[str, Columns]:
    return {"half hours": table("fpp2", "elecdemand")}


def series(tables: Mapping[str, Columns]) -> Series:
    """A stage is a block, an outcome the demand of its hours; temperatures stand in for forecasts."""
    rows = tables["half hours"]
    demand, heat = (_hourly(rows[name]) for name in ("Demand", "Temperature"))
    blocks = len(demand)
    times = _FIRST + _HOURS * np.arange(blocks)
    x = joined(
        one_hot(np.arange(blocks) % _A_DAY, range(_A_DAY)),
        one_hot(weekday(times), range(7)),
        rows["WorkDay"][:: 2 * _HOURS].astype(float),
        season(times),
        heat,
        lagged(heat, _A_DAY),
        lagged(demand / _UNIT, 1, _A_DAY, 7 * _A_DAY),
    )
    return Series(times, x, demand / _UNIT).part(7 * _A_DAY, 1000)


def _hourly(values: Any) -> Any:
    """(half hours) -> (blocks, hours)."""
    return values.astype(float).reshape(-1, _HOURS, 2).mean(axis=-1)


def problem() -> Program:
    """Generators for a block, and dearer ones for single hours, such that nine blocks in ten hold.

    Generators that run for a block are committed before it begins; peakers may run for an hour.
    The operator answers for a reliability, hence the chance constraint. A block in which they do
    not suffice is bought on the market for about a third more.
    """

    @program(
        xi=_HOURS,
        chance=0.9,
        otherwise=200.0,
        base=integer(upper=150),
        peak=integer(_HOURS, upper=150),
    )
    def generators(xi: Any, base: Any, peak: Any) -> Any:
        return minimise(_HOURS * base + 1.6 * peak.sum()), base + peak >= xi

    return generators


ELECTRICITY = DataSet(read, series, problem)
