"""A law that somebody else predicts, by its quantiles at the levels (i + 0.5) / L."""

import math

from bocopt.core import Array
from bocopt.models.kernels.light.layout import FINE, LARGEST_SHARE, SMALLEST
from bocopt.numeric.compiled import inlined


@inlined
def is_given(given: Array) -> bool:
    """Return True if there is a law: its quantiles are not NaN."""
    return bool(given[0] == given[0])


@inlined
def tail_of(given: Array, inner: int, outer: int) -> float:
    """Return the mean distance beyond the outer quantile, of which the inner is the next one."""
    last = len(given) - 1
    wide = (given[last] - given[0]) / len(given)
    least = max(SMALLEST, 1e-9 * abs(given[outer]))
    return float(max(abs(given[outer] - given[inner]), wide, least))


@inlined
def given_below(given: Array, y: float) -> float:
    """Return the probability of at most y: linear between quantiles, exponential beyond them."""
    many = len(given)
    if y < given[0]:
        return 0.5 / many * math.exp((y - given[0]) / tail_of(given, 1, 0))
    if y >= given[many - 1]:
        beyond = (given[many - 1] - y) / tail_of(given, many - 2, many - 1)
        return 1.0 - 0.5 / many * math.exp(beyond)
    i = 0
    while given[i + 1] <= y:
        i += 1
    return float((i + 0.5 + (y - given[i]) / (given[i + 1] - given[i])) / many)


@inlined
def given_quantile(given: Array, level: float) -> float:
    """Return the quantile at a level in (0, 1)."""
    many = len(given)
    where = level * many - 0.5
    if where < 0.0:
        return float(given[0] + tail_of(given, 1, 0) * math.log(2.0 * many * level))
    if where >= many - 1:
        rest = math.log(2.0 * many * (1.0 - level))
        return float(given[many - 1] - tail_of(given, many - 2, many - 1) * rest)
    i = int(where)
    return float(given[i] + (where - i) * (given[i + 1] - given[i]))


@inlined
def fineness(given: Array, whole: bool) -> float:
    """Return how near outcomes are to be the same; whole numbers are rounded ones."""
    last = len(given) - 1
    fine = max(FINE * (given[last] - given[0]), SMALLEST)
    return 0.5 if whole else float(max(fine, 1e-9 * abs(given[last])))


@inlined
def share_of_zero(given: Array, whole: bool, gated: bool) -> float:
    """Return how much of the law is left out where zeros have a probability of their own."""
    if not gated:
        return 0.0
    return min(given_below(given, fineness(given, whole)), LARGEST_SHARE)


@inlined
def given_seen(
    given: Array, y: float, place: float, whole: bool, out: float
) -> tuple[float, float]:
    """Return the log density of an outcome, and the level at which it lies.

    A whole number y is spread over the unit above it, and `place` is where; `out` is left out.
    """
    near = fineness(given, whole)
    under, upto = given_below(given, y - near), given_below(given, y + near)
    inside = max(upto - max(under, out), 1e-300) / (1.0 - out)
    middle = given_below(given, y) if not whole else under + place * (upto - under)
    return math.log(inside / (2.0 * near)), max(middle - out, 0.0) / (1.0 - out)
