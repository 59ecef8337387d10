"""Riders of Chicago's elevated trains, day by day."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from bocopt.core import Array
from bocopt.problems import Newsvendor
from bocopt_studies.learning.data.features import joined, lagged, one_hot, season, weekday
from bocopt_studies.learning.data.source import Columns, DataSet, StudySeries, Times, table

STATIONS = ("Clark_Lake", "Belmont", "Quincy_Wells", "Jefferson_Park")
_WEATHER = (
    "temp_min",
    "temp",
    "temp_max",
    "wind",
    "percip",
    "weather_rain",
    "weather_snow",
    "weather_cloud",
    "weather_storm",
)
_GAMES = ("Blackhawks_Home", "Bulls_Home", "Bears_Home", "WhiteSox_Home", "Cubs_Home")
KNOWN = (*_WEATHER, *_GAMES)
_DELAY = 14  # the table shows stations as they were two weeks before


def read() -> Mapping[str, Columns]:
    """Return the table `Chicago` of modeldata, a row a day."""
    return {"days": table("modeldata", "Chicago")}


class Days(NamedTuple):
    """In thousands of riders, and what is all but known in the morning."""

    times: Times  # (T)
    riders: Array  # (T, stations)
    known: Array  # (T, weather and games)


def days_of(tables: Mapping[str, Columns]) -> Days:
    """All of them; the weather of a day stands in for its forecast."""
    days = tables["days"]
    riders = np.stack([days[name][_DELAY:] for name in STATIONS], axis=-1).astype(float)
    known = np.stack([days[name] for name in KNOWN], axis=-1).astype(float)
    return Days(days["date"].astype("datetime64[D]")[:-_DELAY], riders, known[:-_DELAY])


def series(tables: Mapping[str, Columns]) -> StudySeries:
    """A stage is a day."""
    times, riders, known = days_of(tables)
    x = joined(
        one_hot(weekday(times), range(7)),
        season(times),
        known,
        lagged(riders, 1, 7, 14),
    )
    return StudySeries(times, x, riders).part(len(times) - 1000, 1000)


def problem() -> Newsvendor:
    """Places on trains for four stations, in thousands, out of one fleet.

    Trains are assigned early in the morning, when weather and games are all but known. A place that
    is taken pays for itself, one that stays empty costs what it costs to run it, and who is left
    behind costs about twice as much. On the busiest days the fleet does not suffice, and the places
    have to go where they are missed most.
    """
    cost = [1, 1, 1, 1]
    return Newsvendor(unit_cost=cost, price=cost, penalty=[2, 2, 2.5, 1.5], capacity=42)


def as_last_week(x: Array) -> Array:
    """Return the riders of that day a week ago (4), cut alike where they exceed the fleet.

    Timetables are made by the day of the week, and last week's count is on the table.
    """
    riders = x[-8:-4]  # of lags of 1, 7 and 14 days, four stations each
    return np.asarray(riders * min(1.0, 42.0 / riders.sum()))


CHICAGO = DataSet(read, series, problem)
