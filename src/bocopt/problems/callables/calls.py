"""Calls of a user's functions: on copies, with what comes back checked and each one named."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from bocopt import arguments
from bocopt.core import Array, BoolArray
from bocopt.problems.callables.pace import Pace
from bocopt.problems.scenarios import thin

Measure = Callable[[Array, Array, Array], Any]
Bounds = Callable[[Array, Array], Any]
Differences = Callable[[Array, Array, Array], Any]
Support = Callable[[Array, Array], Any]

_COMPARED = 16  # scenarios that a vectorised function is asked for one by one, once
_ROUNDING = 1e-9  # relative: a sum over many rows may round otherwise than over one


def called(name: str, function: Callable[..., Any], *values: Array) -> Any:
    """Call the user's function on copies, and say which one it was if it raises."""
    try:
        return function(*(value.copy() for value in values))
    except Exception as error:
        raise ValueError(f"The user's {name} raised {type(error).__name__}: {error}") from error


class MeasureOfOne:
    """A cost or violation that knows one instance at a time: (k), (d), (m) -> ()."""

    def __init__(self, name: str, function: Measure, pace: Pace) -> None:
        self._number = partial(pace.of, partial(_number, name, function))

    def __call__(self, x: Array, z: Array, xi: Array) -> Array:
        call = np.vectorize(self._number, signature="(k),(d),(m)->()", otypes=[np.float64])
        return np.asarray(call(x, z, xi))


class ByRows:
    """A cost or violation that takes many scenarios in one call: (k), (d), (s, m) -> (s).

    The first time that there are several, some are asked for one by one too, and compared.
    """

    def __init__(self, name: str, function: Measure, pace: Pace) -> None:
        self._name, self._function, self._compared = name, function, False
        self._pace = pace

    def __call__(self, x: Array, z: Array, xi: Array) -> Array:
        if (x.ndim, z.ndim, xi.ndim) == (1, 1, 2):
            return self._rows(x, z, xi)
        call = np.vectorize(self._rows, signature="(k),(d),(s,m)->(s)", otypes=[np.float64])
        if xi.ndim > 1 and all(part.ndim == 1 or part.shape[-2] == 1 for part in (x, z)):
            x, z = (part if part.ndim == 1 else part[..., 0, :] for part in (x, z))
            return np.asarray(call(x, z, xi))
        return np.asarray(call(x, z, xi[..., None, :]))[..., 0]

    def _rows(self, x: Array, z: Array, xi: Array) -> Array:
        found: Array = self._pace.of(self._asked, x, z, xi, many=len(xi))
        if len(xi) > 1 and not self._compared:
            for i in thin(len(xi), _COMPARED):
                self._compare(float(found[i]), float(self._asked(x, z, xi[i : i + 1])[0]), int(i))
            self._compared = True
        return found

    def _asked(self, x: Array, z: Array, xi: Array) -> Array:
        result = called(self._name, self._function, x, z, xi)
        given = _plain(result)
        if given.dtype.kind not in "biuf" or given.shape != (len(xi),):
            raise ValueError(
                f"The user's {self._name} must return {len(xi)} numbers for xi of shape {xi.shape} "
                f"(vectorised=True). Got {_shown(result, given)} instead."
            )
        numbers: Array = given.astype(np.float64)
        if not np.isfinite(numbers).all():
            i = int(np.flatnonzero(~np.isfinite(numbers))[0])
            raise ValueError(
                f"The user's {self._name} must return finite numbers. Got {numbers[i]} at [{i}] "
                "instead."
            )
        return numbers

    def _compare(self, among_many: float, alone: float, i: int) -> None:
        near = abs(among_many - alone) <= _ROUNDING * max(1.0, abs(alone))
        if near and (self._name != "violation" or (among_many <= 0) == (alone <= 0)):
            return
        raise ValueError(
            f"The user's {self._name} must give scenario {i} the same number among many as alone "
            f"(vectorised=True). Got {among_many} among many and {alone} alone."
        )


def never_violated(x: Array, z: Array, xi: Array) -> Array:
    """The violation where there is no constraint, for any leading axes."""
    return np.zeros(np.broadcast_shapes(x.shape[:-1], z.shape[:-1], xi.shape[:-1]))


def ranges(bounds: Bounds, x: Array, z: Array) -> tuple[Array, Array]:
    """(k), (d) -> (), (): the user's range, two numbers in order, which may be infinite."""
    return _pairs("bounds", bounds, "(k),(d)->(),()", x, z)


def differences(bounds: Differences, x: Array, z: Array, other: Array) -> tuple[Array, Array]:
    """(k), (d), (d) -> (), (): the same of what one decision costs more than another."""
    return _pairs("bounds_of_difference", bounds, "(k),(d),(d)->(),()", x, z, other)


def truths(support: Support, x: Array, xi: Array) -> BoolArray:
    """(k), (m) -> (): the user's support."""
    call = np.vectorize(partial(_truth, support), signature="(k),(m)->()", otypes=[np.bool_])
    return np.asarray(call(x, xi))


def decision(name: str, given: Any, size: int) -> Array:
    """A decision that the user's function returned, as an array."""
    z = arguments.array(f"the user's {name}", "z", given, (size,))
    if z.ndim != 1:
        raise arguments.wrong(f"the user's {name}", "z", f"of shape ({size},)", z.shape)
    return z


def _pairs(
    name: str, function: Callable[..., Any], shapes: str, *values: Array
) -> tuple[Array, Array]:
    pair = partial(_pair, name, function)
    call = np.vectorize(pair, signature=shapes, otypes=[np.float64, np.float64])
    low, high = call(*values)
    return np.asarray(low), np.asarray(high)


def _pair(name: str, function: Callable[..., Any], *values: Array) -> tuple[float, float]:
    pair = called(name, function, *values)
    ends = np.asarray(pair)
    if ends.dtype.kind not in "iuf" or ends.size != 2 or not ends.flat[0] <= ends.flat[1]:
        raise ValueError(f"The user's {name} must return two numbers, low <= high. Got {pair!r}.")
    return float(ends.flat[0]), float(ends.flat[1])


def _truth(support: Support, x: Array, xi: Array) -> bool:
    result = called("support", support, x, xi)
    given = np.asarray(result)
    if given.dtype.kind != "b" or given.size != 1:
        raise ValueError(f"The user's support must return True or False. Got {result!r} instead.")
    return bool(given.item())


def _number(name: str, function: Measure, *values: Array) -> float:
    result = called(name, function, *values)
    given = _plain(result)
    if given.dtype.kind not in "biuf" or given.size != 1 or not np.isfinite(given.item()):
        raise ValueError(f"The user's {name} must return a finite number. Got {result!r} instead.")
    return float(given.item())


def _plain(result: Any) -> Any:
    """Return the result as an array; a ragged one as an array of objects, refused by its kind."""
    try:
        return np.asarray(result)
    except ValueError:
        return np.empty(0, object)


def _shown(result: Any, given: Any) -> str:
    fits = given.dtype.kind in "biuf"
    return f"an array of shape {given.shape}" if fits else repr(result)
