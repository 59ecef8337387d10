"""What two decisions cost, stage by stage, and what was to be expected."""

from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bocopt.core import Array, BoolArray, Dims, Sense, Solution
from bocopt.problems import Chance

TARGET = 0.9  # of feasibility


class Game(NamedTuple):
    """What happened at T stages to what is done now, and to a policy."""

    paid: Array  # (T, 2)
    expected: Array  # (T, 2) given all before
    own: Array  # (T, 2) between what the cost of now had to lie
    apart: Array  # (T, 2) between what the policy's had to, less that
    hidden: NDArray[np.bool_]  # (T) outcomes that never came
    at_random: bool = True  # whether they are hidden whatever they are
    earned: bool = False  # whether costs are minus what is earned
    feasible: float = TARGET  # the chance that a decision is
    met: NDArray[np.bool_] | None = None  # (T) whether it was; None: whatever else happened

    def until(self, t: int) -> "Game":
        return self._replace(
            paid=self.paid[:t],
            expected=self.expected[:t],
            own=self.own[:t],
            apart=self.apart[:t],
            hidden=self.hidden[:t],
            met=None if self.met is None else self.met[:t],
        )

    def decided(self, rng: np.random.Generator) -> "Game":
        """With what is not said yet of feasibility."""
        if self.met is not None:
            return self
        return self._replace(met=rng.random(len(self.paid)) < self.feasible)


class Priced:
    """Decision 0 or 1 costs what the outcome says; the context says between what that must lie."""

    risk: ClassVar[Chance] = Chance(TARGET)
    dims = Dims(x=4, z=1, xi=2)

    def __init__(self, sense: Sense) -> None:
        self.sense = sense

    def solve(self, scenarios: Array, w: Array, x: Array) -> Solution:
        raise AssertionError("nobody decides here")

    def cost(self, x: Array, z: Array, xi: Array) -> Array:
        return np.where(z[..., 0] > 0, xi[..., 1], xi[..., 0])

    def violation(self, x: Array, z: Array, xi: Array) -> Array:
        return np.zeros(np.broadcast_shapes(z.shape, xi.shape)[:-1])

    def range(self, x: Array, z: Array) -> tuple[Array, Array]:
        return x[..., 0], x[..., 1]

    def range_of_difference(self, x: Array, z: Array, other: Array) -> tuple[Array, Array]:
        return x[..., 2], x[..., 3]

    def possible(self, x: Array, xi: Array) -> BoolArray:
        return np.ones(xi.shape[:-1], bool)
