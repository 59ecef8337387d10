"""Notes, few of them, on values that look wrong in a column, though it can be used."""

from collections.abc import Iterable, Iterator

import numpy as np

from bocopt.core import Array, IntArray

_FEW = 0.01  # of the outcomes, at the most, lie far from all others; one always may
_FAR = 3.0  # times as far from the median as the next
_ENOUGH = 20  # outcomes, of which one can be far from the others
_SHOWN = 3


def alike(name: str, values: Iterable[str]) -> Iterator[str]:
    """Yield a note on categories that a person would take for one.

    >>> list(alike("channel", ["TV", "radio", "tv"]))
    ["'channel' has 'TV' and 'tv', which differ in case or spaces alone: they count as different"]
    """
    groups: dict[str, list[str]] = {}
    for value in sorted(values):
        groups.setdefault("".join(value.split()).casefold(), []).append(value)
    several = [group for group in groups.values() if len(group) > 1]
    if several:
        shown = ", ".join(" and ".join(f"'{v}'" for v in group) for group in several[:_SHOWN])
        more = f" and {len(several) - _SHOWN} more such" if len(several) > _SHOWN else ""
        yield (
            f"'{name}' has {shown}{more}, which differ in case or spaces alone: they count as "
            "different"
        )


def far(name: str, values: Array, line: str, places: IntArray) -> Iterator[str]:
    """Yield a note on outcomes that lie far from all others; NaN where none came.

    Their distance from the median is more than three times the largest of the others'.

    >>> demand = np.append(np.arange(20.0, 60.0), 400.0)
    >>> list(far("demand", demand, "line", np.arange(2, 43)))
    ["'demand' is 400 at line 42, far from all others (20 to 59): is that right?"]
    """
    rows = np.flatnonzero(np.isfinite(values))
    if len(rows) < _ENOUGH:
        return
    known = values[rows]
    away = np.abs(known - np.median(known))
    order = np.argsort(away, kind="stable")
    start = len(order) - max(1, int(_FEW * len(order)))  # all before are usual
    steps = _steps(away[order], start)
    if not steps.size:
        return
    first = start + int(steps[0])
    usual, odd = known[order[:first]], np.sort(rows[order[first:]])
    shown = ", ".join(f"{values[row]:g} at {line} {places[row]}" for row in odd[:_SHOWN])
    more = f" and {len(odd) - _SHOWN} more" if len(odd) > _SHOWN else ""
    between = f"{usual.min():g} to {usual.max():g}"
    right = "is that right" if len(odd) == 1 else "are they right"
    yield f"'{name}' is {shown}{more}, far from all others ({between}): {right}?"


def _steps(away: Array, start: int) -> IntArray:
    """Return the places, from `start` on, where a rising distance is far above the one before."""
    before, after = away[start - 1 : -1], away[start:]
    return np.flatnonzero((before > 0) & (after > _FAR * before))
