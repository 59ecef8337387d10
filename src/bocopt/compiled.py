"""The numba decorators we use, typed once.

Machine code is cached beside the source. The cache knows when a file changes, but not when another
file changes that it calls into: after such an edit, `make clean` (or touch the caller).
"""

from collections.abc import Callable
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])
Gufunc = Callable[..., Any]

_njit: Callable[..., Any] = numba.njit
_guvectorize: Callable[..., Any] = numba.guvectorize


def compiled(function: F) -> F:
    """A function that runs as machine code and lets other threads run meanwhile."""
    result: F = _njit(cache=True, nogil=True, error_model="numpy")(function)
    return result


def inlined(function: F) -> F:
    """The same for a small function on a hot path: copied into its callers."""
    result: F = _njit(cache=True, error_model="numpy", forceinline=True)(function)
    return result


def reordered(function: F) -> F:
    """The same, but sums may be reordered and vectorised: for bounds, never for what is kept."""
    result: F = _njit(cache=True, error_model="numpy", fastmath={"reassoc"})(function)
    return result


def gufunc(types: str, shapes: str) -> Callable[[Callable[..., None]], Gufunc]:
    """A function of one instance that broadcasts over leading axes; compiled when decorated."""
    decorate: Callable[[Callable[..., None]], Gufunc] = _guvectorize([types], shapes, cache=True)
    return decorate
