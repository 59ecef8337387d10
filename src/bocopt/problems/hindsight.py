"""The best that could have been decided, had xi been known."""

from typing import NamedTuple

import numpy as np

from bocopt.core import Array, BoolArray, Problem, Solution, Status, judge
from bocopt.numeric.recent import Recent

_CERTAIN = np.ones(1)  # the weight of a single scenario
_RECENT = Recent(256)  # a stage asks several times, and moves over the past ask again and again


class Hindsight(NamedTuple):
    """The best that could have been done."""

    cost: Array  # ()
    feasible: BoolArray  # () whether any decision would have been


def decide_as_if(problem: Problem, x: Array, xi: Array) -> Solution:
    """P(xi): the program with one certain scenario, (k), (m) -> solution."""
    return problem.solve(xi[..., None, :], _CERTAIN, x)


def hindsight(problem: Problem, x: Array, xi: Array) -> Hindsight:
    """min over z of c(z; xi), (k), (m) -> (); asked again, the same is not solved again.

    Where no decision is feasible, `solve` answers with one that pays for infeasibility: that is
    then the least cost. Where the search stopped at its limit, the proven bound takes the place of
    the optimum, so that regret is never negative.
    """
    lead = xi.shape[:-1]
    if x.shape[:-1] != lead:
        return _solved(problem, x, xi)
    cost, feasible = _RECENT.answer(problem, (x, xi), lambda: _solved(problem, x, xi))
    return Hindsight(cost.reshape(lead), feasible.reshape(lead))


def _solved(problem: Problem, x: Array, xi: Array) -> Hindsight:
    solution = decide_as_if(problem, x, xi)
    missed = np.where(solution.status == Status.LIMIT, solution.gap, 0.0)
    cost, violation = judge(problem, x, solution.z, xi)
    return Hindsight(cost - np.where(np.isfinite(missed), missed, 0.0), violation <= 0)


def regret(problem: Problem, x: Array, predicted: Array, xi: Array) -> Array:
    """Return the cost above hindsight of deciding as if xi were `predicted`: (k), (m), (m) -> ().

    c'(P(predicted); xi) - min over z of c(z; xi)
    """
    z = decide_as_if(problem, x, predicted).z
    return problem.cost(x, z, xi) - hindsight(problem, x, xi).cost
