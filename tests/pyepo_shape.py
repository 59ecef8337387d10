"""A model in the shape of PyEPO's `optModel`: told its costs, then asked."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


class Listed:
    """The best of a list of decisions."""

    decisions = np.eye(2)

    def __init__(self) -> None:
        self.costs: Any = None

    @property
    def num_cost(self) -> int:
        return int(self.decisions.shape[-1])

    def tell(self, costs: Numbers) -> None:
        self.costs = costs

    def solve(self) -> tuple[list[float], float]:
        sense = getattr(self, "modelSense", 1)
        worth = self.decisions @ self.costs
        best = int(np.argmin(sense * worth))
        return (self.decisions[best] + 1e-9).tolist(), float(worth[best])


#: Names that PyEPO has, and no linter would let us write down.
Cheapest = type("Cheapest", (Listed,), {"modelSense": 1, "setObj": Listed.tell})
Dearest = type("Dearest", (Listed,), {"modelSense": -1, "setObj": Listed.tell})
Shares = type("Shares", (Cheapest,), {"decisions": np.array([[0.5, 0.5], [0.25, 0.75]])})
#: Paths from one corner of a grid of 2 x 2 to the other, edges as in `grid(2, 2)`.
Paths = type("Paths", (Cheapest,), {"decisions": np.array([[1.0, 0, 1, 0], [0, 1, 0, 1]])})
