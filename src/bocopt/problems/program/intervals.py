"""A tape played for all outcomes of a box at once: each number becomes two ends.

Every end is computed by the same operations, in the same order, as a number is. Rounding keeps the
order of numbers, so the ends hold for what is computed in float64, not only for what is meant. What
has no rule is unbounded.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bocopt.core import BoolArray
from bocopt.problems.program.tape import Depends, TapeStep, padded, played

Numbers = NDArray[Any]
_ULPS = 4.0  # by which exp and its kind may err


class Interval(NamedTuple):
    """Two ends of each number, or truth value; the same array twice where it is certain."""

    low: Numbers
    high: Numbers

    @property
    def certain(self) -> bool:
        """True where both ends are the same array."""
        return self.low is self.high


def enclosed(
    steps: Sequence[TapeStep], inputs: Mapping[str, Interval], axes: int
) -> list[Interval]:
    """The ends of all steps, for inputs that have so many leading axes."""
    values: list[Interval] = []
    with np.errstate(all="ignore"):  # what is infinite or NaN is an answer here
        for step in steps:
            given = [values[i] for i in step.inputs]
            values.append(_enclosed(step, given, inputs, axes))
    return values


def product(left: Interval, right: Interval) -> Interval:
    """Zero times anything is zero, however large that may be."""
    if left.certain and right.certain:
        return exactly(left.low * right.low)
    ends = np.stack([_times(a, b) for a in left for b in right])
    return Interval(ends.min(axis=0), ends.max(axis=0))


def exactly(values: Numbers) -> Interval:
    """Numbers that are certain."""
    return Interval(values, values)


def without_rule(steps: Sequence[TapeStep]) -> str | None:
    """The first function of xi that has no rule."""
    names = [step.name for step in steps if step.op == "ufunc" and _reads_outcome(step)]
    return next((name for name in names if name not in _RULES), None)


def _enclosed(
    step: TapeStep, given: Sequence[Interval], inputs: Mapping[str, Interval], axes: int
) -> Interval:
    lows = [interval.low for interval in given]
    low_inputs = {name: interval.low for name, interval in inputs.items()}
    if not _reads_outcome(step):
        return exactly(played(step, lows, low_inputs, axes))
    if step.op == "ufunc":
        rank = axes + len(step.shape)
        pads = [_padded(interval, rank, axes) for interval in given]
        return _bounded(_RULES.get(step.name, _anything)(*pads))
    highs = [interval.high for interval in given]
    high_inputs = {name: interval.high for name, interval in inputs.items()}
    return Interval(played(step, lows, low_inputs, axes), played(step, highs, high_inputs, axes))


def _reads_outcome(step: TapeStep) -> bool:
    return step.depends is Depends.OUTCOME


def _padded(interval: Interval, rank: int, axes: int) -> Interval:
    if interval.certain:
        return exactly(padded(interval.low, rank, axes))
    return Interval(*(padded(end, rank, axes) for end in interval))


def _bounded(found: Interval) -> Interval:
    """Return the interval, without bounds where an end is not a number."""
    if found.low.dtype == np.bool_:
        return found
    unknown = np.isnan(found.low) | np.isnan(found.high)
    return Interval(np.where(unknown, -np.inf, found.low), np.where(unknown, np.inf, found.high))


def _times(left: Numbers, right: Numbers) -> Numbers:
    if left.dtype == right.dtype == np.bool_:
        return left & right
    return np.where((left == 0) | (right == 0), 0.0, left * right)


def _anything(*given: Interval) -> Interval:
    shape = np.broadcast_shapes(*(interval.low.shape for interval in given))
    return Interval(np.full(shape, -np.inf), np.full(shape, np.inf))


def _rising(name: str) -> Callable[..., Interval]:
    """A function that never falls, and is computed exactly."""
    function = getattr(np, name)
    return lambda *given: Interval(
        function(*(interval.low for interval in given)),
        function(*(interval.high for interval in given)),
    )


def _nearly_rising(name: str) -> Callable[..., Interval]:
    """The same, but for its last digits."""
    function = getattr(np, name)

    def rule(of: Interval) -> Interval:
        """Return the interval of a rising function, wider by some units in the last place."""
        low, high = function(of.low), function(of.high)
        below, above = (_ULPS * np.spacing(np.abs(end)) for end in (low, high))
        return Interval(low - below, high + above)

    return rule


def _subtract(left: Interval, right: Interval) -> Interval:
    return Interval(left.low - right.high, left.high - right.low)


def _negative(of: Interval) -> Interval:
    return Interval(-of.high, -of.low)


def _divide(left: Interval, right: Interval) -> Interval:
    ends = np.stack(np.broadcast_arrays(*(a / b for a in left for b in right)))
    crosses = (right.low <= 0) & (right.high >= 0)
    return Interval(
        np.where(crosses, -np.inf, ends.min(axis=0)), np.where(crosses, np.inf, ends.max(axis=0))
    )


def absolute(of: Interval) -> Interval:
    """Return the interval of the absolute value."""
    of = Interval(*(np.asarray(end, np.float64) for end in of))
    farthest = np.maximum(np.abs(of.low), np.abs(of.high))
    return Interval(np.maximum(np.maximum(of.low, -of.high), 0.0), farthest)


def _square(of: Interval) -> Interval:
    size = absolute(of)
    return Interval(np.square(size.low), np.square(size.high))


def _power(base: Interval, exponent: Interval) -> Interval:
    """Return the interval of a power: monotone on either side of zero, where it is defined."""
    if not exponent.certain:
        return _anything(base, exponent)
    power = exponent.low
    ends = [np.power(end, power) for end in base]
    crosses = (base.low < 0) & (base.high > 0)
    low = np.where(crosses & (power > 0), np.minimum(np.minimum(*ends), 0.0), np.minimum(*ends))
    high = np.maximum(*ends)
    whole, touches = power == np.rint(power), (base.low <= 0) & (base.high >= 0)
    defined = ((base.low >= 0) | whole) & ((power >= 0) | ~touches)
    margin = _ULPS * np.spacing(np.maximum(np.abs(low), np.abs(high)))
    unbounded = _anything(base, exponent)
    return Interval(
        np.where(defined, low - margin, unbounded.low),
        np.where(defined, high + margin, unbounded.high),
    )


def _compared(name: str) -> Callable[[Interval, Interval], Interval]:
    """Return the rule of > or >=: true surely, and perhaps; what may be NaN is never surely so."""
    compare = getattr(np, name)

    def rule(left: Interval, right: Interval) -> Interval:
        """Return whether the comparison is true: surely, and perhaps."""
        bounded = np.isfinite(left.low) & np.isfinite(left.high)
        bounded = bounded & np.isfinite(right.low) & np.isfinite(right.high)
        return Interval(bounded & compare(left.low, right.high), compare(left.high, right.low))

    return rule


def _swapped(rule: Callable[[Interval, Interval], Interval]) -> Callable[..., Interval]:
    return lambda left, right: rule(right, left)


def _not(of: Interval) -> Interval:
    surely, perhaps = _truth(of)
    return Interval(~perhaps, ~surely)


def _both(left: Interval, right: Interval) -> Interval:
    return Interval(*(a & b for a, b in zip(_truth(left), _truth(right), strict=True)))


def _either(left: Interval, right: Interval) -> Interval:
    return Interval(*(a | b for a, b in zip(_truth(left), _truth(right), strict=True)))


def _where(condition: Interval, yes: Interval, no: Interval) -> Interval:
    surely, perhaps = _truth(condition)
    low, high = np.minimum(yes.low, no.low), np.maximum(yes.high, no.high)
    return Interval(
        np.where(surely, yes.low, np.where(perhaps, low, no.low)),
        np.where(surely, yes.high, np.where(perhaps, high, no.high)),
    )


def _truth(of: Interval) -> tuple[BoolArray, BoolArray]:
    """Return where numbers are surely not zero, and where perhaps."""
    return (of.low > 0) | (of.high < 0), (of.low != 0) | (of.high != 0)


_EXACT = ("add", "maximum", "minimum", "fmax", "fmin", "positive", "floor", "ceil", "rint", "trunc")
_NEARLY = ("exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "sqrt", "cbrt", "tanh")
_RULES: Mapping[str, Callable[..., Interval]] = MappingProxyType(
    {name: _rising(name) for name in (*_EXACT, "sign")}
    | {name: _nearly_rising(name) for name in (*_NEARLY, "sinh", "arctan", "arcsinh")}
    | {
        "subtract": _subtract,
        "negative": _negative,
        "multiply": product,
        "divide": _divide,
        "absolute": absolute,
        "fabs": absolute,
        "square": _square,
        "power": _power,
        "greater": _compared("greater"),
        "greater_equal": _compared("greater_equal"),
        "less": _swapped(_compared("greater")),
        "less_equal": _swapped(_compared("greater_equal")),
        "logical_not": _not,
        "logical_and": _both,
        "logical_or": _either,
        "bitwise_and": _both,
        "bitwise_or": _either,
        "invert": _not,
        "where": _where,
    }
)
