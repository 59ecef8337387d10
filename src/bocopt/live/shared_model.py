"""A model of all series of a panel, beside the state of each: its quantiles are contexts of theirs.

seen = (x, quantiles of the model); the policy decides and learns under what was seen
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bocopt.core import Array, IntArray
from bocopt.models.across import AcrossSeries, AcrossState
from bocopt.state import Arrays, flatten, rebuild

_NAME = "across"


class SharedModel:
    """An `AcrossSeries` and its state, which is fitted anew whenever that is due; or nothing."""

    def __init__(self, model: AcrossSeries | None, seed: int) -> None:
        self.model = model
        self.state = None if model is None else model.init(np.array(seed))

    def beside(self, places: IntArray, x: Array) -> Array:
        """Return what stands beside the contexts (n, k) of different series: quantiles, rows."""
        if self.model is None or self.state is None:
            return np.zeros((len(x), 0))
        rows = self.model.rows(self.state, places, x)
        return np.concatenate([self.model.quantiles(self.state, rows), rows], axis=1)

    def seen(self, x: Array, beside: Array) -> Array:
        """Return the contexts (n, k + L) that a policy sees."""
        return x if self.model is None else np.hstack([x, beside[:, : self.model.levels]])

    def width(self, k: int) -> int:
        """Return how many numbers stand beside a context (k)."""
        return 0 if self.model is None else self.model.levels + k + 2

    def after(self, places: IntArray, beside: Array, xi: Array) -> AcrossState | None:
        """Return the state after outcomes (n, 1) of what stood beside; it is fitted if due."""
        if self.model is None or self.state is None or not len(xi):
            return self.state
        rows = beside[:, self.model.levels :]
        state = self.model.learn(self.state, places, rows, xi[:, 0])
        return self.model.refit(state) if self.model.is_due(state) else state

    def arrays(self) -> Arrays:
        """Return all that `restore` needs."""
        return {} if self.state is None else flatten(self.state, _NAME)

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over what `arrays` returned."""
        if self.state is not None:
            self.state = rebuild(self.state, arrays, _NAME)
