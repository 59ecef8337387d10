"""Calls to a bank, hour by hour."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bocopt.core import Array
from bocopt.problems.program import Program, minimise, pos, program, real
from bocopt_studies.learning.data.features import joined, lagged, one_hot, weekday
from bocopt_studies.learning.data.source import Columns, DataSet, StudySeries, Times, table

_HOURS = range(7, 21)
_A_DAY = len(_HOURS)
_LAGS = (1, 2, _A_DAY, _A_DAY + 1, 5 * _A_DAY, 5 * _A_DAY + 1)  # of now, and of an hour before
_UNIT = 100.0  # calls
_PARTS = 12  # of an hour: the table has five minutes a row


def read() -> Mapping[str, Columns]:
    """Return the table `bank_calls` of fpp3, a row for five minutes."""
    return {"calls": table("fpp3", "bank_calls")}


def hours_of(tables: Mapping[str, Columns]) -> tuple[Times, Array]:
    """(T), (T) when opening hours begin, and the calls in each."""
    calls = tables["calls"]
    times = np.array([text.rstrip("Z") for text in calls["DateTime"]], "datetime64[m]")
    open_ = np.isin(hour_of(times), _HOURS)
    parts = calls["Calls"][open_].astype(float).reshape(-1, _PARTS)
    return times[open_].reshape(-1, _PARTS)[:, 0], parts.sum(axis=-1)


def series(tables: Mapping[str, Columns]) -> StudySeries:
    """A stage is an opening hour, an outcome the hundreds of calls in it."""
    starts, calls = hours_of(tables)
    hours = calls[:, None] / _UNIT
    x = joined(
        one_hot(hour_of(starts), _HOURS),
        one_hot(weekday(starts), range(5)),
        lagged(hours, *_LAGS),
    )
    return StudySeries(starts, x, hours).part(len(starts) - 1000, 1000)


def hour_of(times: Times) -> Any:
    """(T) -> (T) of the day."""
    return times.astype("datetime64[h]").astype(np.int64) % 24


def problem() -> Program:
    """Return the problem of staffing an hour, such that all work is done nine times in ten.

    A call centre promises a service level and not a cost: hence the chance constraint. Staff is
    paid whether there are calls or not. Work that is left over is done in paid overtime, at a price
    at which nine times in ten is about right, so that caution and its lack both cost.
    """

    @program(xi=1, chance=0.9, staff=real(upper=1000.0))
    def hour(xi: Any, staff: Any) -> Any:
        """Return the objective, staff and overtime, and the constraint that staff suffices."""
        return minimise(staff + 8.0 * pos(xi[0] - staff)), staff >= xi[0]

    return hour


CALLS = DataSet(read, series, problem)
