"""Public holidays, by the library `holidays`: which days are, and by which version of it."""

import re
from functools import cache
from typing import Any

import numpy as np

from bocopt.app.reading.times import Clock
from bocopt.core import Array
from bocopt.extras import needed

#: Words of a calendar, and how many days away the holiday is.
AWAY = {"holiday": 0, "day_before_holiday": 1, "day_after_holiday": -1}

_CODE = re.compile(r"[A-Z]{2}(-.+)?")


def near_holiday(clock: Clock, region: str, word: str) -> Array:
    """Return ones (T) where a day is a holiday, or the day before or after one; else zeros.

    >>> clock = np.array(["2024-07-03T09:00", "2024-07-04T23:59"], "M8[s]")
    >>> near_holiday(clock, "US", "holiday").tolist()
    [0.0, 1.0]
    >>> near_holiday(clock, "US", "day_before_holiday").tolist()
    [1.0, 0.0]
    """
    days, places = np.unique(clock.astype("M8[D]") + AWAY[word], return_inverse=True)
    calendar = _calendar(region)
    return np.array([day in calendar for day in days.tolist()], np.float64)[places]


def is_region(region: str) -> bool:
    """True for a country, or a part of one, whose holidays are known.

    >>> is_region("DE"), is_region("US-IL"), is_region("US-XX")
    (True, True, False)
    """
    if not _CODE.fullmatch(region):  # the library takes other words too, such as Germany
        return False
    try:
        _calendar(region)
    except NotImplementedError:
        return False
    return True


def version() -> str:
    """Return the version of the library, with which holidays change."""
    return str(_library().__version__)


def _library() -> Any:
    return needed("holidays", "A calendar of holidays", '"bocopt[holidays]"')


@cache
def _calendar(region: str) -> Any:
    country, _, part = region.partition("-")
    return _library().country_holidays(country, subdiv=part or None)
