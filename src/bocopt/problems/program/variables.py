"""The columns of a program: what is decided now, and what once xi is known."""

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import ArrayLike

from bocopt import arguments
from bocopt.core import Array

_MOST = 100_000  # columns of one variable
_LARGEST_INTEGER = 1e9  # beyond, a tolerance of a solver is no longer small


@dataclass(frozen=True, eq=False)
class Variable:
    """An array of columns with bounds; see `real`, `integer`, `binary` and `recourse`."""

    shape: tuple[int, ...]
    lower: Array  # of that shape
    upper: Array
    integer: bool
    later: bool  # decided once xi is known

    @property
    def size(self) -> int:
        """The number of columns."""
        return prod(self.shape)


def real(
    shape: int | tuple[int, ...] = (), *, lower: ArrayLike = 0.0, upper: ArrayLike = np.inf
) -> Variable:
    """Numbers, not negative unless `lower` says so.

    >>> real(3, upper=[1, 2, 3]).upper
    array([1., 2., 3.])
    """
    return _variable("real", shape, lower, upper, integer=False, later=False)


def integer(
    shape: int | tuple[int, ...] = (), *, lower: ArrayLike = 0, upper: ArrayLike
) -> Variable:
    """Whole numbers, which need finite bounds."""
    return _variable("integer", shape, lower, upper, integer=True, later=False)


def binary(shape: int | tuple[int, ...] = ()) -> Variable:
    """0 or 1."""
    return _variable("binary", shape, 0.0, 1.0, integer=True, later=False)


def recourse(
    shape: int | tuple[int, ...] = (),
    *,
    lower: ArrayLike = 0.0,
    upper: ArrayLike = np.inf,
    integer: bool = False,
) -> Variable:
    """Variable that is decided once xi is known, at best: no part of z, but of what z costs."""
    return _variable("recourse", shape, lower, upper, integer=integer, later=True)


def _sizes(owner: str, shape: int | tuple[int, ...]) -> tuple[int, ...]:
    given = shape if isinstance(shape, tuple) else (shape,)
    sizes = tuple(arguments.integer(owner, "shape", size, f"[1, {_MOST}]") for size in given)
    if prod(sizes) > _MOST:
        raise arguments.wrong(owner, "shape", f"of at most {_MOST} numbers in all", sizes)
    return sizes


def _variable(
    owner: str,
    shape: int | tuple[int, ...],
    lower: ArrayLike,
    upper: ArrayLike,
    integer: bool,
    later: bool,
) -> Variable:
    sizes = _sizes(owner, shape)
    if not isinstance(integer, bool):
        raise arguments.wrong(owner, "integer", "True or False", integer)
    low, high = (_bound(owner, n, b, sizes) for n, b in (("lower", lower), ("upper", upper)))
    if (low == np.inf).any() or (high == -np.inf).any() or (low > high).any():
        raise arguments.wrong(owner, "upper", f"at least lower = {_short(low)}", _short(high))
    if integer:
        low, high = np.array(np.ceil(low)), np.array(np.floor(high))
        if np.maximum(np.abs(low), np.abs(high)).max() > _LARGEST_INTEGER:
            allowed = f"finite for integers, at most {_LARGEST_INTEGER:.0e} in size"
            raise arguments.wrong(owner, "lower and upper", allowed, (_short(low), _short(high)))
        if (low > high).any():
            raise arguments.wrong(owner, "upper", "such that an integer lies between", upper)
    low.flags.writeable = high.flags.writeable = False
    return Variable(sizes, low, high, integer, later)


def _bound(owner: str, name: str, bound: ArrayLike, shape: tuple[int, ...]) -> Array:
    try:
        given = np.array(bound, dtype=np.float64)
        array = np.array(np.broadcast_to(given, shape))
    except (TypeError, ValueError):
        raise arguments.wrong(owner, name, f"numbers of shape {shape}", bound) from None
    if np.isnan(array).any():
        raise arguments.wrong(owner, name, "numbers, not NaN", bound)
    return array


def _short(bound: Array) -> object:
    return bound.flat[0].item() if (bound == bound.flat[0]).all() else bound.tolist()
