"""Outcomes of which only bounds are known: the set of all xi that are still possible.

A shop that sold out saw `at_least(87)`. A component of which nothing is known is None. What is
known of all components together is `Bounds`: a box, a point where all was seen.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.columns import wrong_names
from bocopt.core import Array, Bounds

__all__ = ["at_least", "at_most", "between"]  # the rest is for those who read what was seen


class Bound(NamedTuple):
    """Ends between which a number lies, both included.

    >>> at_least(87), at_most(3), between(3, 5)
    (at_least(87), at_most(3), between(3, 5))
    """

    low: float
    high: float

    def __repr__(self) -> str:
        """Return the call that makes it."""
        if np.isinf(self.high):
            return f"at_least({self.low:g})"
        if np.isinf(self.low):
            return f"at_most({self.high:g})"
        return f"between({self.low:g}, {self.high:g})"


def at_least(low: float) -> Bound:
    """Return the bound of a number that is not below `low`: demand, where stock was sold out."""
    return Bound(arguments.number("at_least", "low", low, "(-inf, inf)"), np.inf)


def at_most(high: float) -> Bound:
    """Return the bound of a number that is not above `high`."""
    return Bound(-np.inf, arguments.number("at_most", "high", high, "(-inf, inf)"))


def between(low: float, high: float) -> Bound:
    """Return the bound of a number from `low` to `high`."""
    low = arguments.number("between", "low", low, "(-inf, inf)")
    high = arguments.number("between", "high", high, "(-inf, inf)")
    if low > high:
        raise arguments.wrong("between", "high", f"at least {low:g}, as `low` is", high)
    return Bound(low, high)


def exactly(xi: Array) -> Bounds:
    """Return the bounds of an outcome (m) that was seen in full."""
    return Bounds(xi, xi)


def is_of_parts(given: Any) -> bool:
    """Return whether an outcome was given by bounds, or with parts that are None.

    >>> is_of_parts([3, at_least(87)]), is_of_parts({"bread": None}), is_of_parts([3.0])
    (True, True, False)
    """
    if given is None or isinstance(given, Bound | Bounds):
        return True
    parts = given.values() if isinstance(given, Mapping) else given
    if not isinstance(parts, list | tuple) and not isinstance(given, Mapping):
        return False
    return any(part is None or isinstance(part, Bound) for part in parts)


def rows_of_parts(x: Any, xi: Any) -> list[Any] | None:
    """Return the outcomes of a history one by one, where some are bounds; None where none is.

    `x` is one context, or many.

    >>> rows_of_parts([[0.1], [0.2]], [[3.0], [at_least(87)]])
    [[3.0], [at_least(87)]]
    """
    if np.ndim(x) == 1:
        return [xi] if is_of_parts(xi) else None
    if isinstance(xi, Bounds):
        return [Bounds(*ends) for ends in zip(*xi, strict=True)]
    some = isinstance(xi, list | tuple) and any(is_of_parts(row) for row in xi)
    return list(xi) if some else None


def bounds_of(owner: str, name: str, given: Any, size: int, names: Sequence[str] = ()) -> Bounds:
    """Return the bounds (m) of an outcome: numbers, bounds and None, in their order or by name.

    A single one stands for an outcome of one number. A component that was not seen is None.
    """
    if isinstance(given, Bounds):
        parts: list[Any] = [Bound(*ends) for ends in zip(*np.atleast_1d(*given), strict=True)]
    elif isinstance(given, Mapping):
        parts = _by_name(owner, name, given, names)
    elif isinstance(given, Bound) or given is None:
        parts = [given]
    else:
        parts = list(given)
    if len(parts) != size:
        raise arguments.wrong(owner, name, f"of {size} numbers, bounds or None", parts)
    ends = np.array([_ends(owner, name, part) for part in parts])
    return Bounds(ends[:, 0].copy(), ends[:, 1].copy())


def _by_name(owner: str, name: str, given: Mapping[str, Any], names: Sequence[str]) -> list[Any]:
    if not names:
        expected = "in the order of its numbers: they have no names yet"
        raise arguments.wrong(owner, name, expected, dict(given))
    if wrong := wrong_names(given, names):
        expected = f"named {', '.join(names)} ({wrong}), None where nothing was seen"
        raise arguments.wrong(owner, name, expected, dict(given))
    return [given[one] for one in names]


def _ends(owner: str, name: str, part: Any) -> tuple[float, float]:
    if part is None:
        return -np.inf, np.inf
    if not isinstance(part, Bound):
        exact = arguments.number(owner, name, part, "(-inf, inf)")
        return exact, exact
    low, high = part
    if not low <= high or low == np.inf or high == -np.inf:  # also NaN
        raise arguments.wrong(
            owner, name, "made of bounds whose low end is not above the high", part
        )
    return float(low), float(high)
