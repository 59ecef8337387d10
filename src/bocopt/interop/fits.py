"""Fitted models, remembered by a digest of what they were fitted to.

Regressors of other libraries are no arrays, so a state cannot hold them. It holds what they were
fitted to, and a digest of it. What is fitted is found again by the digest; after a restart, or in
another process, it is fitted again, with the same result.
"""

from collections.abc import Callable
from hashlib import blake2b
from threading import RLock
from typing import Any, NamedTuple

import numpy as np

from bocopt.core import Array, IntArray

KEY_SIZE = 4  # integers


def key_of(*parts: Array | IntArray) -> IntArray:
    """Return a digest (4) of arrays.

    >>> bool((key_of(np.zeros(2)) == key_of(np.zeros(3))).any())
    False
    """
    digest = blake2b(digest_size=8 * KEY_SIZE)
    for part in parts:
        digest.update(str(part.shape).encode())
        digest.update(part.tobytes())
    return np.frombuffer(digest.digest(), np.int64)


class _Kept(NamedTuple):
    value: Any


class LatestFits:
    """The latest fits. Who asks says how many are to be kept: at least one for each trial.

    >>> fits, made = LatestFits(), []
    >>> for _ in range(3):
    ...     found = fits.answer(key_of(np.ones(2)), 8, lambda: made.append(1) or 42)
    >>> found, len(made)
    (42, 1)
    """

    def __init__(self) -> None:
        self.guard = RLock()
        self._kept: dict[bytes, _Kept] = {}

    def __reduce__(self) -> tuple[type["LatestFits"], tuple[()]]:
        """In another process, it begins anew."""
        return LatestFits, ()

    def answer(self, key: IntArray, most: int, fit: Callable[[], Any]) -> Any:
        """Return the fit that has this key, or fit it now."""
        with self.guard:  # who asks meanwhile waits, and does not fit the same again
            found = self.take(key, fit)
            self.put(key, most, found)
        return found

    def take(self, key: IntArray, fit: Callable[[], Any]) -> Any:
        """Return the fit that has this key, or fit it now; forget it, as it will be changed."""
        with self.guard:
            kept = self._kept.pop(key.tobytes(), None)
        return fit() if kept is None else kept.value

    def put(self, key: IntArray, most: int, fitted: Any) -> None:
        """Remember it as the latest, and forget the one that was asked for longest ago."""
        with self.guard:
            self._kept[key.tobytes()] = _Kept(fitted)
            while len(self._kept) > most:
                del self._kept[next(iter(self._kept))]
