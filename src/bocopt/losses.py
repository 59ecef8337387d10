"""What drives the posterior: how bad the decision was that a parameter would have made."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from bocopt.core import Array, BoolArray, Predictor, Problem, Solution, Status

_CERTAIN = np.ones(1)  # the weight of a single scenario


class Hindsight(NamedTuple):
    """The best that could have been done, had xi been known."""

    cost: Array  # ()
    feasible: BoolArray  # () whether any decision would have been


def decide_as_if(problem: Problem, x: Array, xi: Array) -> Solution:
    """P(xi): the program with one certain scenario, (k), (m) -> solution."""
    return problem.solve(x, xi[..., None, :], _CERTAIN)


def hindsight(problem: Problem, x: Array, xi: Array) -> Hindsight:
    """min over z of c(z; xi), (k), (m) -> ().

    Where no decision is feasible, `solve` answers with one that pays for infeasibility: that is
    then the least cost. Where the search stopped at its limit, the proven bound takes the place of
    the optimum, so that regret is never negative.
    """
    solution = decide_as_if(problem, x, xi)
    missed = np.where(solution.status == Status.LIMIT, solution.gap, 0.0)
    cost = problem.cost(x, solution.z, xi) - np.where(np.isfinite(missed), missed, 0.0)
    return Hindsight(cost, problem.violation(x, solution.z, xi) <= 0)


def regret(problem: Problem, x: Array, predicted: Array, xi: Array) -> Array:
    """What deciding as if xi were `predicted` costs above hindsight, (k), (m), (m) -> ().

    c'(P(predicted); xi) - min over z of c(z; xi)
    """
    z = decide_as_if(problem, x, predicted).z
    return problem.cost(x, z, xi) - hindsight(problem, x, xi).cost


@dataclass(frozen=True)
class DecisionRegret:
    """l(theta, d) = c'(P(m(x; theta)); xi) - min over z of c(z; xi), with d = (x, xi)."""

    problem: Problem
    predictor: Predictor
    lower: ClassVar[float] = 0.0

    @property
    def dim_noise(self) -> int:
        return self.predictor.dim_noise

    def __call__(self, theta: Array, x: Array, xi: Array, u: Array) -> Array:
        """(p), (k), (m), (n) -> ()."""
        return regret(self.problem, x, self.predictor.sample(theta, x, u), xi)
