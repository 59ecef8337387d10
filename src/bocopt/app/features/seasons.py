"""Calendar features of times, as numbers."""

from collections.abc import Iterator, Sequence

import numpy as np

from bocopt.app.features.public_holidays import AWAY, near_holiday
from bocopt.app.features.spec import Spec
from bocopt.app.reading.times import Clock
from bocopt.core import Array, IntArray

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_DAYS_OF_A_YEAR = 365.25


def seasons(
    clock: Clock, words: Sequence[str], origin: np.datetime64, region: str = ""
) -> Iterator[tuple[str, Array]]:
    """Yield the features of each word, by name and in order; 'trend' is from the origin.

    Holidays are those of a region, such as "US-IL".

    Each time is taken by itself: its numbers are the same bits whatever stands beside it.

    >>> clock = np.array(["2024-03-05", "2024-03-06"], "M8[D]")
    >>> {name: values.tolist() for name, values in seasons(clock, ["weekday"], clock[0])}["Tuesday"]
    [1.0, 0.0]
    """
    for word in words:
        if word == "weekday":
            yield from _one_hot(weekday(clock), _WEEKDAYS)
        elif word == "month":
            yield from _one_hot(clock.astype("M8[M]").astype(np.int64) % 12, _MONTHS)
        elif word == "trend":
            yield "trend", _days(clock - origin) / _DAYS_OF_A_YEAR
        elif word in AWAY:
            yield word.replace("_", " "), near_holiday(clock, region, word)
        else:
            yield from _round(word.replace("_", " "), _progress(clock, word))


def calendar(
    times: Array | IntArray, clock: Clock | None, spec: Spec, origin: float
) -> Iterator[tuple[str, Array]]:
    """Yield the features of times (T), by name; `clock` is None where these are numbers.

    The origin is the first time: in microseconds since 1970, or a number.
    """
    if clock is not None:
        yield from seasons(clock, spec.calendar, np.datetime64(int(origin), "us"), spec.holidays)
    elif spec.calendar:  # which says "trend" and nothing else
        yield "trend", (times - origin).astype(np.float64)


def weekday(clock: Clock) -> IntArray:
    """Return the weekday of each time, from 0 on Mondays to 6 on Sundays."""
    return np.asarray((clock.astype("M8[D]").astype(np.int64) + 3) % 7)  # day 0 was a Thursday


def _one_hot(values: IntArray, names: Sequence[str]) -> Iterator[tuple[str, Array]]:
    """Yield ones and zeros for all names but the first, which is zero everywhere."""
    for number, name in enumerate(names[1:], 1):
        yield name, (values == number).astype(np.float64)


def _round(name: str, progress: Array) -> Iterator[tuple[str, Array]]:
    angle = 2 * np.pi * progress
    yield f"{name} (sine)", np.sin(angle)
    yield f"{name} (cosine)", np.cos(angle)


def _progress(clock: Clock, word: str) -> Array:
    """Return the share of the day, week or year that has passed at each time, from 0 to 1."""
    day = clock.astype("M8[D]")
    hours = _days(clock - day)
    if word == "hour":
        return hours
    if word == "week":
        return (weekday(clock) + hours) / 7
    year = clock.astype("M8[Y]")
    start, end = year.astype("M8[D]"), (year + 1).astype("M8[D]")
    return (_days(day - start) + hours) / _days(end - start)


def _days(span: np.ndarray[tuple[int, ...], np.dtype[np.timedelta64]]) -> Array:
    return np.asarray(span / np.timedelta64(1, "D"))
