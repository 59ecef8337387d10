"""Days on which clocks go forward or back: an hour is missing, or stands there twice."""

import numpy as np
from numpy.typing import NDArray

from bocopt.core import Array, BoolArray, IntArray

Spans = NDArray[np.timedelta64]  # since midnight

_HOUR = np.timedelta64(1, "h")
_LATEST = np.timedelta64(4, "h")  # that clocks change, everywhere


def forward_days(
    days: NDArray[np.datetime64], slots: Spans, counts: IntArray, offsets: Array
) -> BoolArray:
    """Return a mask (D) of the days on which clocks go forward.

    - days       (D)
    - slots      (S) the times of a full day
    - counts     (D, S) rows
    - offsets    (D) how far the offset from UTC of the last row is above that of the first; NaN
                 where times have no zone

    With zones the offset rises. Without, one hour before four o'clock is missing, and on no other
    day of that year.

    >>> days = np.array(["2024-03-30", "2024-03-31"], "M8[D]")
    >>> slots = np.arange(24) * np.timedelta64(1, "h")
    >>> counts = np.ones((2, 24), int)
    >>> counts[1, 2] = 0
    >>> forward_days(days, slots, counts, np.full(2, np.nan)).tolist()
    [False, True]
    """
    return _changes(days, slots, counts == 0, offsets > 0, np.isnan(offsets))


def back_days(
    days: NDArray[np.datetime64], slots: Spans, counts: IntArray, offsets: Array
) -> BoolArray:
    """Return a mask (D) of the days on which clocks go back, likewise: an hour is there twice."""
    return _changes(days, slots, counts == 2, offsets < 0, np.isnan(offsets))


def _changes(
    days: NDArray[np.datetime64], slots: Spans, odd: BoolArray, said: BoolArray, zoneless: BoolArray
) -> BoolArray:
    """Return a mask (D) of days with one odd hour, by the zone or as the only one of a year."""
    hours = np.array([_is_one_hour(slots, row) for row in odd])
    years = days.astype("M8[Y]")
    found, numbers = np.unique(years[hours], return_counts=True)
    alone = np.isin(years, found[numbers == 1])
    return hours & np.where(zoneless, alone, said)


def _is_one_hour(slots: Spans, odd: BoolArray) -> bool:
    """True where these times of day are all of one hour, early in the day."""
    places = np.flatnonzero(odd)
    if not places.size or slots[places[0]] >= _LATEST:
        return False
    start = slots[places[0]]
    return bool(np.array_equal(odd, (slots >= start) & (slots < start + _HOUR)))
