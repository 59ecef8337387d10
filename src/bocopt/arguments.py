"""Checks of arguments, with one form of message: what, where, what was expected, what came."""

import sys
from collections.abc import Iterable, Sequence
from types import EllipsisType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bocopt.core import Array, BoolArray, IntArray

Size = int | EllipsisType | None


def wrong(owner: str, name: str, expected: str, got: object) -> ValueError:
    """The error for a bad argument; the caller raises it.

    >>> print(wrong("Knapsack", "alpha", "a number in (0, 1]", 1.4))
    The 'alpha' parameter of Knapsack must be a number in (0, 1]. Got 1.4 instead.
    """
    return ValueError(f"The '{name}' parameter of {owner} must be {expected}. Got {got!r} instead.")


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

    >>> integer("LiuWest", "steps", 0, "[1, inf)")
    Traceback (most recent call last):
    ValueError: The 'steps' parameter of LiuWest must be an integer in [1, inf). Got 0 instead.
    """
    if isinstance(value, int | np.integer) and _inside(value, interval):
        return int(value)
    raise wrong(owner, name, f"an integer in {interval}", value)


def _inside(value: Any, interval: str) -> bool:
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
        values = values.tolist()
    if size is not None and isinstance(values, int | float | np.number):
        return [values] * size
    if isinstance(values, Iterable) and not isinstance(values, str):
        listed = list(values)
        if listed and size in (None, len(listed)):
            return listed
    raise wrong(owner, name, f"a sequence of {size or 'one or more'} numbers", values)


def array(owner: str, name: str, values: ArrayLike, shape: Sequence[Size]) -> Array:
    """A finite float64 array whose last axes have the given sizes (None: one or more; ...: any).

    >>> array("Knapsack.solve", "w", [0.5, float("nan")], (None,))
    Traceback (most recent call last):
    ValueError: The 'w' parameter of Knapsack.solve must be finite. Got nan at [1] instead.
    """
    try:
        result = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise wrong(owner, name, "an array of numbers", values) from error
    core = result.shape[max(result.ndim - len(shape), 0) :]
    fits = len(core) == len(shape) and all(
        want is ... or (have > 0 if want is None else have == want)
        for have, want in zip(core, shape, strict=True)
    )
    if not fits:
        names: dict[Size, str] = {None: "n >= 1", ...: "n"}
        wanted = ", ".join(names.get(size, str(size)) for size in shape)
        expected = f"an array of shape (..., {wanted})"
        raise wrong(owner, name, expected, result.shape)
    finite = np.isfinite(result)
    if not finite.all():
        where = [int(i) for i in np.argwhere(~finite)[0]]
        raise ValueError(
            f"The '{name}' parameter of {owner} must be finite. "
            f"Got {result[tuple(where)]} at {where} instead."
        )
    return result


def weights(owner: str, w: ArrayLike, size: int) -> Array:
    """Scenario weights: non-negative, and 1 in sum but for 1e-9."""
    result = array(owner, "w", w, (size,))
    if (result < 0).any() or (abs(result.sum(axis=-1) - 1) > 1e-9).any():
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
    try:
        return np.broadcast_shapes(*leads.values())
    except ValueError:
        got = ", ".join(f"{name} {axes}" for name, axes in leads.items())
        raise ValueError(f"{owner} needs leading axes that broadcast. Got {got} instead.") from None


def outside(values: Array, low: float | Array, high: float | Array) -> BoolArray:
    """Where values are not in [low, high], but for rounding: of the ends, and 1e-9 of the width.

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
    given = np.asarray(seeds)
    if given.dtype.kind not in "iu" or given.size == 0 or given.min() < 0:
        raise wrong(owner, "seeds", "one or more integers >= 0", seeds)
    return given.astype(np.int64)
