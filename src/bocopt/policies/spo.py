"""One model, learned by online subgradient steps on the SPO+ loss of its decisions."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bocopt import arguments
from bocopt.core import Array, Decision, IntArray
from bocopt.policies.gradient import GradientState, OneModel
from bocopt.problems.hindsight import decide_as_if

_ROUNDING = 1e-9  # relative, of a cost that is xi'z


@dataclass(frozen=True, kw_only=True)
class SPOPlus(OneModel):
    """Smart predict, then optimise: descend a convex bound of the regret of the decision.

    Where the cost is xi'z, with prediction p and the best decision P(.) for given costs,

        loss(p, xi) = max over z of (xi - 2 p)'z + 2 p'P(xi) - xi'P(xi),
        2 (P(xi) - P(2 p - xi))  is a subgradient of it in p.

    Where xi'z is a reward, the sign turns. The first lesson checks that the cost is of this form.

    >>> from bocopt.paper import Gaussian, Linear
    >>> from bocopt.problems.library.paths import grid
    >>> problem, predictor = grid(2, 2), Linear(dim_x=1, dim_xi=4)
    >>> policy = SPOPlus(problem=problem, predictor=predictor, prior=Gaussian.isotropic(8))
    >>> predicted, xi = np.array([1.0, 2.0, 1.0, 2.0]), np.array([4.0, 1.0, 4.0, 1.0])
    >>> policy.gradient(np.array(0), 0, np.zeros(1), predicted, xi).tolist()
    [-2.0, 2.0, -2.0, 2.0]

    Reference: Elmachtoub, Grigas (2022), Smart "predict, then optimize", Management Science.
    """

    lockstep: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        dims = self.problem.dims
        if dims.z != dims.xi:
            expected = "one whose cost is xi'z, with a xi and a z of one size"
            raise arguments.wrong("SPOPlus", "problem", expected, dims)

    def learn(
        self, state: GradientState, t: int, x: Array, decision: Decision, xi: Array
    ) -> GradientState:
        """Return the state after one subgradient step; the first checks that the cost is xi'z."""
        xi = arguments.inner("SPOPlus", "xi", xi, self.problem.dims.xi)
        if (state.adam.steps == 0).any():
            self._refuse_other_costs(x, decision.solution.z, xi)
        return super().learn(state, t, x, decision, xi)

    def gradient(self, seeds: IntArray, t: int, x: Array, predicted: Array, xi: Array) -> Array:
        """Return the subgradient (m) of the SPO+ loss, 2 (P(xi) - P(2 p - xi)) for costs."""
        best = decide_as_if(self.problem, x, xi).z
        tempted = decide_as_if(self.problem, x, 2 * predicted - xi).z
        return 2 * self.problem.sense.sign * (best - tempted)

    def _refuse_other_costs(self, x: Array, z: Array, xi: Array) -> None:
        """Look at decisions and outcomes of the first stage, also mixed and doubled."""
        best = decide_as_if(self.problem, x, xi).z
        for seen in (xi, 2.0 * xi):
            for decided in (z, best):
                cost = self.problem.cost(x, decided, seen)
                linear = self.problem.sense.sign * (seen * decided).sum(axis=-1)
                size = 1.0 + np.abs(seen * decided).sum(axis=-1)
                if (np.abs(cost - linear) > _ROUNDING * size).any():
                    expected = "one whose cost is xi'z (or whose reward is)"
                    raise arguments.wrong("SPOPlus", "problem", expected, self.problem)
