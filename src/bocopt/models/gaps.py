"""Numbers that are missing in a context: filled by the mean of what was seen of them."""

from typing import NamedTuple

import numpy as np

from bocopt.core import Array, IntArray
from bocopt.numeric.stacking import alike


class Gaps(NamedTuple):
    """Counts and totals of the values seen of each number of a context.

    One that is missing at the first stage is measured from the first value that is seen of it.
    It is 0 until then, and so it never looks as if it had jumped.
    """

    seen: Array  # (k) how often it was seen
    total: Array  # (k) of what was seen
    origin: Array  # (k) what it is measured from
    stages: IntArray  # ()

    def filled(self, x: Array) -> Array:
        """(k) -> (k), all finite."""
        gaps = self._begun(x)
        mean = gaps.total / np.maximum(gaps.seen, 1.0)
        return np.asarray(np.where(np.isnan(x), mean, x) - gaps._origin(x))

    def update(self, x: Array) -> "Gaps":
        """Return the counts after one more context (k), with the leading axes of the trials."""
        gaps = self._begun(x)
        known = ~np.isnan(x)
        return Gaps(
            seen=gaps.seen + known,
            total=gaps.total + np.where(known, x, 0.0),
            origin=gaps._origin(x),
            stages=gaps.stages + 1,
        )

    def _begun(self, x: Array) -> "Gaps":
        """Return the counts; before the first context (k), zeros of its shape."""
        return self if alike("with and without a context", self.stages > 0) else initial(x.shape)

    def _origin(self, x: Array) -> Array:
        """Return the origin (k), with the values of a context (k) that are the first."""
        late = (self.stages > 0)[..., None] & (self.seen == 0) & ~np.isnan(x)
        return np.where(late, x, self.origin)


def initial(shape: tuple[int, ...]) -> Gaps:
    """Before any context, of a shape (..., k)."""
    zeros = np.zeros(shape)
    return Gaps(zeros, zeros, zeros, np.zeros(shape[:-1], np.int64))
