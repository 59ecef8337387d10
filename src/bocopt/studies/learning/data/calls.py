"""Calls to a bank, hour by hour."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bocopt.problems.program import Program, integer, minimise, program
from bocopt.studies.learning.data.features import joined, lagged, one_hot, weekday
from bocopt.studies.learning.data.source import Columns, DataSet, Series, table

_HOURS = range(7, 21)
_A_DAY = len(_HOURS)
_TEAM = 60.0  # calls that one team answers in half an hour


def read() -> Mapping[str, Columns]:
    return {"calls": table("fpp3", "bank_calls")}


def series(tables: Mapping[str, Columns]) -> Series:
    """A stage is an opening hour, an outcome the calls of its two halves, in teams."""
    calls = tables["calls"]
    times = np.array([text.rstrip("Z") for text in calls["DateTime"]], "datetime64[m]")
    open_ = np.isin(_hour(times), _HOURS)
    counts = calls["Calls"][open_].astype(float).reshape(-1, 2, 6)
    halves = counts.sum(axis=-1) / _TEAM
    starts = times[open_].reshape(-1, 12)[:, 0]
    x = joined(
        one_hot(_hour(starts), _HOURS),
        one_hot(weekday(starts), range(5)),
        lagged(halves, 1, _A_DAY, 5 * _A_DAY),
    )
    return Series(starts, x, halves).part(len(starts) - 1000, 1000)


def _hour(times: Any) -> Any:
    return times.astype("datetime64[h]").astype(np.int64) % 24


def problem() -> Program:
    """Teams for an hour, and more for either half, so that all calls are answered nine times in ten.

    A call centre promises a service level and not a cost: hence the chance constraint. Those who
    come for half an hour are dearer by the hour. An hour in which calls are lost costs about as
    much more as a tenth of such hours is worth avoiding, so that who is over-cautious pays too.
    """

    @program(xi=2, chance=0.9, otherwise=120.0, base=integer(upper=100), more=integer(2, upper=100))
    def teams(xi: Any, base: Any, more: Any) -> Any:
        return minimise(2 * base + 1.5 * more.sum()), base + more >= xi

    return teams


CALLS = DataSet(read, series, problem)
