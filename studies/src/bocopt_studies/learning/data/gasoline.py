"""Gasoline supplied in the United States, week by week, up to 2017."""

from collections.abc import Mapping

import numpy as np

from bocopt.core import Array
from bocopt.problems import Newsvendor
from bocopt_studies.learning.data.features import joined, lagged, season
from bocopt_studies.learning.data.source import Columns, DataSet, StudySeries, Times, table

_YEAR = 52  # weeks


def read() -> Mapping[str, Columns]:
    """Return the table `us_gasoline` of fpp3, a row a week."""
    return {"weeks": table("fpp3", "us_gasoline")}


def series(tables: Mapping[str, Columns]) -> StudySeries:
    """A stage is a week, an outcome its million barrels a day; last week's is known."""
    weeks = tables["weeks"]
    times = week(weeks)
    barrels = weeks["Barrels"].astype(float)[:, None]
    x = joined(season(times), lagged(barrels, 1, 2, 3, 4, _YEAR - 1, _YEAR, _YEAR + 1))
    return StudySeries(times, x, barrels).part(len(times) - 1000, 1000)


def week(rows: Columns) -> Times:
    """(T) the day on which it begins, were January 1 always a first one."""
    years, numbers = np.array([text.split(" W") for text in rows["Week"].astype(str)]).T
    first = years.astype("datetime64[Y]").astype("datetime64[D]")
    return np.asarray(first + 7 * (numbers.astype(int) - 1))


def problem() -> Newsvendor:
    """Return a week's newsvendor: storing a barrel is cheap, buying what is missing is not."""
    return Newsvendor(unit_cost=[1], price=[1], penalty=[4])


def as_last_week(x: Array) -> Array:
    """Return last week's barrels and two per cent (1): people complain about running out."""
    return np.asarray(1.02 * x[2:3])


GASOLINE = DataSet(read, series, problem)
