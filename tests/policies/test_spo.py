"""SPO+: its subgradient against the loss over all paths, what it learns, and what it refuses."""

from dataclasses import dataclass, replace
from itertools import product
from typing import ClassVar

import numpy as np
import pytest

from bocopt import run
from bocopt.checks import check_policy
from bocopt.core import Array, Dims, Sense, Solution
from bocopt.paper import Adam, Gaussian, Linear
from bocopt.policies.spo import SPOPlus
from bocopt.problems import Chance, Knapsack
from bocopt.problems.library.newsvendor import Newsvendor
from bocopt.problems.library.paths import ShortestPath, grid
from bocopt.streams.polynomial import PolynomialCosts
from bocopt.trace import record

GRID = grid(3, 3)
PREDICTOR = Linear(5, 12)
PRIOR = Gaussian(mean=PREDICTOR.constant(np.ones(12)).tolist(), sd=0.1)
NOTHING = np.zeros(0)


@dataclass(frozen=True)
class Earning:
    """The same paths, where xi'z is earned."""

    paths: ShortestPath = GRID
    dims: ClassVar[Dims] = GRID.dims
    sense: ClassVar[Sense] = Sense.MAXIMISE
    risk: ClassVar[Chance] = Chance(1.0)

    def solve(self, scenarios: Array, w: Array, x: Array) -> Solution:
        return self.paths.solve(-scenarios, w, x)

    def cost(self, x: Array, z: Array, xi: Array) -> Array:
        return self.paths.cost(x, z, -xi)

    def violation(self, x: Array, z: Array, xi: Array) -> Array:
        return self.paths.violation(x, z, xi)


def all_paths() -> Array:
    every = np.array(list(product([0.0, 1.0], repeat=12)))
    kept: Array = every[GRID.violation(NOTHING, every, np.ones(12)) <= 0]
    return kept


def spo_plus_loss(predicted: Array, c: Array, paths: Array) -> float:
    best = paths[(paths @ c).argmin()]
    return float((paths @ (c - 2 * predicted)).max() + 2 * predicted @ best - c @ best)


@pytest.mark.parametrize("problem", [GRID, Earning()])
def test_the_gradient_is_a_subgradient_of_a_loss_above_the_regret(
    problem: ShortestPath | Earning,
) -> None:
    rng, paths, sign = np.random.default_rng(0), all_paths(), problem.sense.sign
    policy = SPOPlus(problem=problem, predictor=PREDICTOR, prior=PRIOR)
    assert len(paths) == 6
    moved = 0
    for _ in range(100):
        p, q, xi = rng.uniform(0, 2, (3, 12))
        g = policy.gradient(np.array(0), 0, NOTHING, p, xi)
        at_p, at_q = (spo_plus_loss(sign * there, sign * xi, paths) for there in (p, q))
        assert at_q >= at_p + g @ (q - p) - 1e-12
        z = problem.solve(p[None], np.ones(1), NOTHING).z
        regret = problem.cost(NOTHING, z, xi) - (paths @ (sign * xi)).min()
        assert -1e-12 <= float(regret) <= at_p + 1e-12
        moved += bool(g.any())
    assert moved > 50


@pytest.mark.parametrize("problem", [GRID, Earning()])
def test_it_keeps_the_laws_of_policies(problem: ShortestPath | Earning) -> None:
    policy = SPOPlus(problem=problem, predictor=PREDICTOR, prior=PRIOR)
    check_policy(policy, PolynomialCosts(degree=3, half_width=0.5, dim_xi=12), problem=problem)


def test_it_learns_to_decide_where_the_law_is_linear() -> None:
    policy = SPOPlus(problem=GRID, predictor=PREDICTOR, prior=PRIOR, adam=Adam(rate=0.03))
    stream = PolynomialCosts(degree=1, dim_xi=12)
    trace = record(run(policy, stream, problem=GRID, seeds=range(5), horizon=600), GRID.sense)
    early, late = trace.regret[..., :50].mean(), trace.regret[..., -200:].mean()
    assert late < 0.1 * early


def test_other_costs_are_refused() -> None:
    newsvendor = Newsvendor(unit_cost=[1.0] * 12, price=2.0)
    policy = SPOPlus(problem=newsvendor, predictor=PREDICTOR, prior=PRIOR)
    stream = PolynomialCosts(dim_xi=12)
    with pytest.raises(ValueError, match="'problem' parameter of SPOPlus must be one whose cost"):
        list(run(policy, stream, problem=newsvendor, seeds=range(2), horizon=3))
    twelve = Knapsack(value=[1.0, 1.0], capacity=[1.0] * 6, salvage=[0.0] * 6)
    with pytest.raises(ValueError, match="a xi and a z of one size"):
        replace(policy, problem=twelve)
