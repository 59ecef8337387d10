"""What drives the posterior: how bad the decision was that a parameter would have made."""

from dataclasses import dataclass

import numpy as np

from bocopt.core import Array, Predictor, Problem

_CERTAIN = np.ones(1)  # the weight of a single scenario


def clairvoyant(problem: Problem, x: Array, xi: Array) -> Array:
    """The best z with xi known, (k), (m) -> (d).

    Where no decision is feasible, `solve` answers with one that pays for infeasibility: its cost
    is then the hindsight cost.
    """
    return problem.solve(x, xi[..., None, :], _CERTAIN).z


def regret(problem: Problem, x: Array, predicted: Array, xi: Array) -> Array:
    """What deciding as if xi were `predicted` costs above hindsight, (k), (m), (m) -> ().

    c'(P(predicted); xi) - min over z of c(z; xi)
    """
    z = clairvoyant(problem, x, predicted)
    return problem.cost(x, z, xi) - problem.cost(x, clairvoyant(problem, x, xi), xi)


@dataclass(frozen=True)
class DecisionRegret:
    """l(theta, d) = c'(P(m(x; theta)); xi) - min over z of c(z; xi), with d = (x, xi)."""

    problem: Problem
    predictor: Predictor
    lower: float = 0.0

    @property
    def dim_noise(self) -> int:
        return self.predictor.dim_noise

    def __call__(self, theta: Array, x: Array, xi: Array, u: Array) -> Array:
        """(p), (k), (m), (n) -> ()."""
        return regret(self.problem, x, self.predictor.sample(theta, x, u), xi)
