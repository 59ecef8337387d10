"""Times that are missing between those of a table, where these are regular."""

from collections.abc import Sequence

import numpy as np

from bocopt.app.features.seasons import weekday
from bocopt.app.reading.times import Clock, Kind
from bocopt.core import Array, IntArray

_DAY = 86_400_000_000  # microseconds
_UNITS = {_DAY: "days", _DAY // 24: "hours", _DAY // 48: "half-hours", 60_000_000: "minutes"}
_LONG_ENOUGH = np.timedelta64(14, "D")
_REGULAR = 0.5  # at least so many of the steps are of one length


def gaps_note(
    kind: Kind, times: Array | IntArray, clock: Clock | None, shown: Sequence[str]
) -> str | None:
    """Return a note on how many times are missing; None where none is, or times are irregular.

    All are in order. Weekdays that never occur in two weeks or more are not missed.

    >>> days = ["2024-03-01", "2024-03-02", "2024-03-03", "2024-03-06"]
    >>> clock = np.array(days, "M8[us]")
    >>> gaps_note("date", clock.astype(int), clock, days)
    '2 days are missing between the first and the last, the first of them after 2024-03-03.'
    """
    scale, unit = _scale(kind, times, clock)
    steps = np.diff(scale)
    present = np.flatnonzero(steps)  # times that stand twice are no steps
    if len(present) < 2:
        return None
    lengths, counts = np.unique(steps[present], return_counts=True)
    usual = lengths[counts.argmax()]
    regular = counts.max() >= _REGULAR * len(present) and not (steps % usual).any()
    if not regular:
        return None
    if unit is None:
        unit = _UNITS.get(int(usual), "times")
    missed = steps // usual - (steps > 0)
    if unit == "days" and clock is not None:
        missed = _missed_days(clock, missed)
    return _note(missed, unit, shown)


def _scale(
    kind: Kind, times: Array | IntArray, clock: Clock | None
) -> tuple[Array | IntArray, str | None]:
    """The times on a scale where a regular step has one length; its unit, where that is known."""
    if kind == "number" or clock is None:
        return times, "times"
    months = clock.astype("M8[M]")
    if (clock - months == clock[0] - months[0]).all():
        return months.astype(np.int64), "months"
    return times, None


def _missed_days(clock: Clock, missed: Array | IntArray) -> Array | IntArray:
    """Return the numbers of missing days, but for weekdays in no row of two weeks or more."""
    if clock[-1] - clock[0] < _LONG_ENOUGH:
        return missed
    occurring = np.unique(weekday(clock))
    kept = missed.copy()
    for place in np.flatnonzero(missed):
        days = clock[place].astype("M8[D]") + np.arange(1, int(missed[place]) + 1)
        kept[place] = np.isin(weekday(days), occurring).sum()
    return kept


def _note(missed: Array | IntArray, unit: str, shown: Sequence[str]) -> str | None:
    count = int(missed.sum())
    if not count:
        return None
    after = shown[int(np.flatnonzero(missed)[0])]
    if count == 1:
        return f"One of the {unit} is missing between the first and the last, after {after}."
    return (
        f"{count} {unit} are missing between the first and the last, the first of them "
        f"after {after}."
    )
