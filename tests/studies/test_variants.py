"""Readings of the print that need code of their own."""

from itertools import islice, product

import numpy as np
import pytest

from bocopt.core import Array, Status
from bocopt.paper import PaperStream
from bocopt.problems import Knapsack
from bocopt_studies.paper.variants import OneStream, Uncapped

BIG_M = 1000.0


def printed_objective(problem: Knapsack, z: Array, scenarios: Array, w: Array) -> float:
    """The best of the printed program's other variables for this z; -inf where there are none.

    A scenario with u = 1 must be met, has V = M (nothing holds V down) and earns its salvage; one
    with u = 0 has V = l = 0. So u = 1 wherever possible.
    """
    a = scenarios.reshape(len(w), len(problem.capacity), len(problem.value))
    left = np.asarray(problem.capacity) - a @ z
    met = (left >= 0).all(axis=1)
    if (w * met).sum() < problem.alpha - 1e-12:
        return -np.inf
    return float((w * met * (BIG_M + left @ np.asarray(problem.salvage))).sum())


@pytest.mark.parametrize("lower", [0, 1])
def test_uncapped_answers_what_enumeration_of_the_printed_program_finds(lower: int) -> None:
    rng = np.random.default_rng(lower)
    statuses = set()
    for _ in range(60):
        problem = Knapsack(
            value=rng.uniform(1, 20, 2).tolist(),
            capacity=rng.uniform(1, 6, 2).tolist(),
            salvage=[3, 1],
            lower=lower,
        )
        scenarios, w = rng.uniform(0, 3, (4, 4)), rng.dirichlet(np.ones(4))
        grid = [np.array(z, float) for z in product(range(lower, 8), repeat=2)]
        values = [printed_objective(problem, z, scenarios, w) for z in grid]
        found = Uncapped(problem).solve(scenarios, w, np.zeros(1))
        statuses.add(int(found.status))
        if max(values) == -np.inf:
            assert found.status == Status.INFEASIBLE
        else:
            assert found.status == Status.OPTIMAL
            assert np.array_equal(found.z, grid[int(np.argmax(values))])
    assert Status.OPTIMAL in statuses
    assert (Status.INFEASIBLE in statuses) == (lower == 1)


def test_one_stream_is_the_same_for_every_trial() -> None:
    stream = PaperStream()
    seeds = np.array([3, 4])
    for (x, xi), (x0, xi0) in islice(
        zip(OneStream(stream).stages(seeds), stream.stages(np.array(0)), strict=False), 3
    ):
        assert x.shape == (2, 3)
        assert np.array_equal(x, [x0, x0])
        assert np.array_equal(xi, [xi0, xi0])
