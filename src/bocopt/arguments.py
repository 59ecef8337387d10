"""Checks of arguments, with one form of message: what, where, what was expected, what came."""

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextvars import ContextVar, copy_context
from types import EllipsisType
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bocopt.core import Array, BoolArray, IntArray
from bocopt.wrappers import members

Size = int | EllipsisType | None
Ends = tuple[tuple[float, ...], tuple[float, ...]]
P = ParamSpec("P")
T = TypeVar("T")

PARAMETER = "The '{name}' parameter of {owner}"
RETURNED = "The '{name}' that {owner} returned"
_SMALL = 2000  # numbers, up to which a sum of squares is quicker than looking at each
_LARGEST = 1e150  # beyond, a square overflows
_LARGEST_SEED = np.iinfo(np.int64).max
_NOT_LISTS = (str, bytes, bytearray, Mapping, Set)  # their items are something else, or in no order


class WrongError(ValueError):
    """A bad argument: its message names the owner, and its fields are what it is made of."""

    def __init__(self, message: str, name: str = "", why: str = "") -> None:
        super().__init__(message)
        self.name, self.why = name, why  # `why` without the name, as a file would tell it


def wrong(owner: str, name: str, expected: str, got: object, about: str = PARAMETER) -> WrongError:
    """The error for a bad argument; the caller raises it.

    >>> print(wrong("Knapsack", "alpha", "a number in (0, 1]", 1.4))
    The 'alpha' parameter of Knapsack must be a number in (0, 1]. Got 1.4 instead.
    """
    return _error(about, owner, name, expected, repr(got))


def _error(about: str, owner: str, name: str, expected: str, got: str) -> WrongError:
    why = f"must be {expected}. Got {got} instead."
    return WrongError(f"{about.format(name=name, owner=owner)} {why}", name, why)


def kind(owner: str, name: str, value: object, wanted: type) -> None:
    """An instance of a class, or of anything that has what a protocol asks for.

    >>> from bocopt.core import Stream
    >>> kind("run", "stream", 3.0, Stream)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    bocopt.arguments.WrongError: The 'stream' parameter of run must be a Stream (it needs stages)...
    """
    needs = tuple(members(wanted))
    if isinstance(value, type):
        fits = False
    elif needs:
        fits = all(hasattr(value, member) for member in needs)
    else:
        fits = isinstance(value, wanted)
    if not fits:
        article = "an" if wanted.__name__[0] in "AEIOU" else "a"
        listed = f"{', '.join(needs[:-1])} and {needs[-1]}" if needs[1:] else "".join(needs)
        reason = f" (it needs {listed})" if needs else ""
        raise wrong(owner, name, f"{article} {wanted.__name__}{reason}", value)


def each(owner: str, name: str, values: object, wanted: type) -> Iterator[Any]:
    """Several of them, one after the other."""
    if not isinstance(values, Iterable) or isinstance(values, (*_NOT_LISTS, type)):
        raise wrong(owner, name, f"a sequence, each a {wanted.__name__}", values)
    for value in values:
        kind(owner, name, value, wanted)
        yield value


def number(owner: str, name: str, value: object, interval: str) -> float:
    """A finite number in an interval written as in mathematics.

    >>> number("Knapsack", "alpha", 0.9, "(0, 1]")
    0.9
    """
    if isinstance(value, int | float | np.integer | np.floating) and _inside(value, interval):
        return float(value)
    raise wrong(owner, name, f"a number in {interval}", value)


def integer(owner: str, name: str, value: object, interval: str) -> int:
    """An integer in an interval.

    >>> integer("LiuWest", "steps", 0, "[1, inf)")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    bocopt.arguments.WrongError: The 'steps' parameter of LiuWest must be an integer in [1, inf)...
    """
    if isinstance(value, int | np.integer) and _inside(value, interval):
        return int(value)
    raise wrong(owner, name, f"an integer in {interval}", value)


def _inside(value: Any, interval: str) -> bool:
    if isinstance(value, np.generic):  # whose own arithmetic would overflow at its own size
        value = int(value) if isinstance(value, np.integer) else float(value)
    if isinstance(value, bool) or not abs(value) <= sys.float_info.max:  # NaN fails this too
        return False
    low, high = (float(end) for end in interval[1:-1].split(","))
    above = value >= low if interval[0] == "[" else value > low
    below = value <= high if interval[-1] == "]" else value < high
    return bool(above and below)


def numbers(
    owner: str, name: str, values: object, interval: str, size: int | None = None
) -> tuple[float, ...]:
    """A tuple of numbers; where a size is given, one number stands for all.

    >>> numbers("Gaussian", "sd", 0.5, "(0, inf)", size=3)
    (0.5, 0.5, 0.5)
    """
    return tuple(number(owner, name, v, interval) for v in _listed(owner, name, values, size))


def integers(
    owner: str, name: str, values: object, interval: str, size: int | None = None
) -> tuple[int, ...]:
    """The same for integers."""
    return tuple(integer(owner, name, v, interval) for v in _listed(owner, name, values, size))


def _listed(owner: str, name: str, values: object, size: int | None) -> list[object]:
    if isinstance(values, np.ndarray):
        values = real(owner, name, values).tolist()
    if size is not None and isinstance(values, int | float | np.number):
        return [values] * size
    if isinstance(values, Iterable) and not isinstance(values, _NOT_LISTS):
        listed = list(values)
        if listed and size in (None, len(listed)):
            return listed
    raise wrong(owner, name, f"a sequence of {size or 'one or more'} numbers", values)


def box(owner: str, name: str, ends: object, size: int) -> Ends:
    """Two ends, each a number or one for each component; infinite is none.

    >>> box("Mixture", "support", (0, [5, float("inf")]), 2)
    ((0.0, 0.0), (5.0, inf))
    """
    try:
        pair = [np.broadcast_to(np.asarray(end, np.float64), size) for end in _listed_as(ends)]
    except (TypeError, ValueError):
        pair = []
    if len(pair) != 2 or not (pair[0] < pair[1]).all():  # NaN fails this too
        expected = f"two ends, the lower one first, each a number or {size} of them"
        raise wrong(owner, name, expected, ends)
    return tuple(pair[0].tolist()), tuple(pair[1].tolist())


def _listed_as(ends: object) -> list[Any]:
    return list(ends) if isinstance(ends, Sequence | np.ndarray) else []


def array(
    owner: str,
    name: str,
    values: ArrayLike,
    shape: Sequence[Size],
    about: str = PARAMETER,
    *,
    gaps: bool = False,
) -> Array:
    """A finite float64 array whose last axes have the given sizes (None: one or more; ...: any).

    With `gaps`, NaN stands for a number that is missing.

    >>> array("Knapsack.solve", "w", [0.5, float("nan")], (None,))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    bocopt.arguments.WrongError: The 'w' parameter of Knapsack.solve must be finite. Got nan at...
    """
    if type(values) is np.ndarray and values.dtype == np.float64:
        if _surely_fits(values, shape):
            return values
        result = values
    else:
        with np.errstate(over="ignore"):  # what is infinite is refused below
            result = real(owner, name, values, about).astype(np.float64, copy=False)
    core = result.shape[max(result.ndim - len(shape), 0) :]
    fits = len(core) == len(shape) and all(
        want is ... or (have > 0 if want is None else have == want)
        for have, want in zip(core, shape, strict=True)
    )
    if not fits:
        names: dict[Size, str] = {None: "n >= 1", ...: "n"}
        wanted = ", ".join(names.get(size, str(size)) for size in shape)
        expected = f"an array of shape (..., {wanted})"
        raise wrong(owner, name, expected, result.shape, about)
    finite = np.isfinite(result) | (np.isnan(result) if gaps else False)
    if not finite.all():
        where = [int(i) for i in np.argwhere(~finite)[0]]
        raise _error(about, owner, name, "finite", f"{result[tuple(where)]} at {where}")
    return result


def checked(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function of a stage whose context and outcome have been checked.

    Inside it, numbers of theirs are not checked again. What one part asks of another still is:
    scenarios, weights, decisions, losses. It runs in a context of its own, so that however it ends,
    nothing of this is left behind.
    """

    def call() -> T:
        """Call the function with its numbers marked as checked."""
        _CHECKED.set(True)
        return function(*args, **kwargs)

    return copy_context().run(call)


_CHECKED: ContextVar[bool] = ContextVar("checked", default=False)


def inner(owner: str, name: str, values: ArrayLike, size: int) -> Array:
    """An `array` with a last axis of this size, which is not checked again inside a stage.

    >>> checked(inner, "Linear.sample", "x", np.array([np.nan]), 1)
    array([nan])
    """
    if _CHECKED.get() and type(values) is np.ndarray and values.dtype == np.float64:
        if values.shape[-1:] == (size,):
            return values
    return array(owner, name, values, (size,))


def _surely_fits(values: Array, shape: Sequence[Size]) -> bool:
    """The usual case, and quick to tell: only the last size is given; a finite sum of squares."""
    known = len(shape) == 1 or (len(shape) == 2 and shape[0] is None and values.ndim > 1)
    fits = known and 0 < values.size <= _SMALL and values.shape[-1] == shape[-1]
    return fits and math.isfinite(np.vdot(values, values))


def finite_and_squarable(
    owner: str, name: str, values: ArrayLike, size: Size, *, gaps: bool = False
) -> Array:
    """An `array` with a last axis of this size, of numbers that can be squared."""
    result = array(owner, name, values, (size,), gaps=gaps)
    if (np.abs(result) > _LARGEST).any():
        raise wrong(owner, name, f"at most {_LARGEST} in size", result)
    return result


def real(owner: str, name: str, values: Any, about: str = PARAMETER) -> NDArray[Any]:
    """An array of real numbers of some kind: no truth values, dates, words or gaps."""
    try:
        given = np.asanyarray(values)
    except (TypeError, ValueError, OverflowError) as error:
        raise wrong(owner, name, "an array of numbers", values, about) from error
    if np.ma.is_masked(given):
        raise wrong(owner, name, "an array without masked entries", values, about)
    if given.dtype.kind not in "iuf":
        got = f"{values!r} of dtype {given.dtype}"
        raise _error(about, owner, name, "an array of numbers", got)
    return np.asarray(given)


def weights(owner: str, w: ArrayLike, size: int) -> Array:
    """Scenario weights: non-negative, and 1 in sum but for 1e-9."""
    result = array(owner, "w", w, (size,))
    one = result.size == 1
    off = abs(result.item() - 1) if one else np.abs(result.sum(axis=-1) - 1).max(initial=0.0)
    if off > 1e-9 or (size > 1 and result.min(initial=0.0) < 0):
        raise wrong(owner, "w", "non-negative with sum 1", result)
    return result


def lead(owner: str, **leads: tuple[int, ...]) -> tuple[int, ...]:
    """The common leading axes of several arguments.

    >>> lead("Knapsack.solve", x=(3,), w=(4, 1))
    (4, 3)
    >>> lead("Knapsack.solve", x=(3,), w=(4,))
    Traceback (most recent call last):
    ValueError: Knapsack.solve needs leading axes that broadcast. Got x (3,), w (4,) instead.
    """
    found = list(leads.values())
    if found.count(found[0]) == len(found):
        return found[0]
    try:
        return np.broadcast_shapes(*found)
    except ValueError:
        got = ", ".join(f"{name} {axes}" for name, axes in leads.items())
        raise ValueError(f"{owner} needs leading axes that broadcast. Got {got} instead.") from None


def broadcast(values: Array, lead: tuple[int, ...]) -> Array:
    """`np.broadcast_to`, which is slow where there is nothing to do."""
    return np.broadcast_to(values, lead) if np.shape(values) != lead else np.asarray(values)


def outside(values: Array, low: float | Array, high: float | Array) -> BoolArray:
    """Return where values are not in [low, high], up to rounding: of the ends, 1e-9 of the width.

    >>> outside(np.array([0.0, 1.0 + 1e-12, 1.1]), 0.0, 1.0)
    array([False, False,  True])
    """
    ends = np.maximum(np.abs(low), np.abs(high))
    with np.errstate(over="ignore"):
        least = 1e-14 * ends + 1e-9 * (np.asarray(high) - low)
    return np.asarray(~((low - least <= values) & (values <= high + least)))


def seeds_of(owner: str, seeds: object) -> IntArray:
    """Seeds as an integer array: one number is one trial, a sequence is many.

    >>> seeds_of("run", range(3))
    array([0, 1, 2])
    """
    try:
        given = np.asanyarray(seeds)
    except (TypeError, ValueError, OverflowError):
        given = np.empty(0)
    fits = given.dtype.kind in "iu" and given.size > 0 and not np.ma.is_masked(given)
    if not fits or given.min() < 0 or given.max() > _LARGEST_SEED:
        raise wrong(owner, "seeds", "one or more integers >= 0", seeds)
    return np.asarray(given, np.int64)
