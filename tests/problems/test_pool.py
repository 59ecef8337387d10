"""The pool: which scenarios are asked for, which candidates win, and how good they are."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pool_cases import NO_CONTEXT, knapsack, knapsack_scenarios, newsvendor
from scipy.stats.qmc import Sobol

from bocopt import Status, from_callables
from bocopt.core import Array, Dims
from bocopt.problems import Chance
from bocopt.problems.callables.pool import CandidateJudge, best_of
from bocopt.problems.scenarios import merged, synthetic, thin

LISTS = st.lists(st.integers(-3, 3), min_size=1, max_size=12)


@pytest.mark.parametrize("wanted", [10, 33, 50, 65, 129, 200])
def test_candidates_come_from_all_over_a_regular_pattern(wanted: int) -> None:
    """Of a low-discrepancy sequence too, where every so-manyth point lies in one corner."""
    points = Sobol(1, rng=0).random(1024)[:, 0]
    chosen = np.sort(points[thin(1024, wanted)])
    gaps = np.diff(np.concatenate([[0.0], chosen, [1.0]]))
    assert len(chosen) == wanted
    assert gaps.max() < 6.0 / wanted


@given(LISTS, st.data())
@settings(max_examples=60, deadline=None)
def test_merging_keeps_the_distribution(values: list[int], data: Any) -> None:
    counts = data.draw(st.lists(st.integers(0, 3), min_size=len(values), max_size=len(values)))
    w = np.array(counts) / max(sum(counts), 1)
    scenarios = np.array([[v, 0.0] for v in values])
    some, weight = merged(scenarios, w)
    assert len(np.unique(some, axis=0)) == len(some)
    assert (weight > 0).all()
    for row in np.unique(scenarios, axis=0):
        before = w[(scenarios == row).all(axis=1)].sum()
        assert weight[(some == row).all(axis=1)].sum() == pytest.approx(before)


@given(LISTS, st.data())
@settings(max_examples=60, deadline=None)
def test_made_up_scenarios_are_the_mean_and_quantiles(values: list[int], data: Any) -> None:
    weights = st.lists(st.integers(1, 5), min_size=len(values), max_size=len(values))
    counts = np.array(data.draw(weights))
    w, column = counts / counts.sum(), np.array(values)[:, None] + 0.5
    made = synthetic(column, w, 13)[:, 0]
    assert len(made) == 13
    assert made[0] == pytest.approx(np.repeat(column[:, 0], counts).mean())
    for level, found in zip((0.75, 0.25, 0.6, 0.4, 0.9, 0.1), made[1:7], strict=True):
        at_or_below, below = w[column[:, 0] <= found].sum(), w[column[:, 0] < found].sum()
        assert below - 1e-9 <= level <= at_or_below + 1e-9
    assert made[7:9] == pytest.approx([1.1 * made[0], 0.9 * made[0]])
    assert made[11:].tolist() == [column.max(), column.min()]


def test_made_up_scenarios_are_integers_where_all_are() -> None:
    scenarios = np.random.default_rng(0).poisson(7.3, (50, 3)) + np.array([0.0, 0.0, 0.5])
    made = synthetic(scenarios, np.full(50, 0.02), 20)
    assert (made[:, :2] == np.rint(made[:, :2])).all()
    assert made[0, 2] == pytest.approx(scenarios[:, 2].mean())
    assert synthetic(scenarios, np.full(50, 0.02), 0).shape == (0, 3)


@pytest.mark.parametrize("size", [2, 5, 13, 200])
def test_half_of_the_candidates_are_made_up_and_no_more_are_asked_for(size: int) -> None:
    asked: list[tuple[float, ...]] = []

    def solve(x: Array, xi: Array) -> Array:
        asked.append(tuple(xi))
        return xi

    scenarios = np.random.default_rng(0).normal(size=(size, 2))
    problem = from_callables(
        solve, lambda x, z, xi: 0.0, dims=Dims(None, 2, 2), fallback=[0, 0], alpha=None
    )
    problem.solve(scenarios, np.full(size, 1 / size), NO_CONTEXT)
    own = {tuple(xi) for xi in scenarios} & set(asked)
    assert len(asked) == len(set(asked)) <= 26
    assert len(own) == min(size, 13)
    assert len(asked) > len(own)
    assert len(asked) == 26 or size < 200  # with few, some quantiles are the same


def test_the_next_candidates_are_judged_where_the_best_of_some_scenarios_fail() -> None:
    """The screen is blind to a few scenarios; those who look best there fail on all."""
    size = 1000
    blind = np.setdiff1d(np.arange(size), thin(size, 128))[:1]
    scenarios = np.zeros((size, 1))
    scenarios[blind] = 20.0
    judge = CandidateJudge(
        lambda z, xi: np.full(len(xi), z[0]),
        lambda z, xi: xi[:, 0] - z[0],
        Chance(1.0),
        scenarios,
        np.full(size, 1 / size),
    )
    best = best_of(judge, [np.array([float(z)]) for z in range(26)])
    assert best is not None
    assert best.z.tolist() == [20.0]
    assert best.missed == 0
    seeded = best_of(judge, [np.array([float(z)]) for z in range(26)], [np.array([21.0])])
    assert seeded is not None
    assert seeded.z.tolist() == [21.0]  # something is feasible, and the next are left alone


def failures(instances: int, size: int, **options: Any) -> int:
    """In how many knapsacks no feasible decision is found."""
    problem = knapsack(**options)
    w = np.full(size, 1 / size)
    found = (
        problem.solve(knapsack_scenarios(seed, size), w, NO_CONTEXT) for seed in range(instances)
    )
    return sum(int(solution.status) == Status.FALLBACK for solution in found)


def test_a_large_knapsack_finds_feasible_decisions() -> None:
    assert failures(4, 100) == 0
    assert failures(4, 100, candidates=50, synthetic=False) >= 3


@pytest.mark.full
def test_large_knapsacks_find_feasible_decisions() -> None:
    assert failures(20, 1000) == 0


def regret(seed: int, size: int) -> float:
    """Of a newsvendor in a box, as a share of the optimum."""
    case = newsvendor(seed, size)
    problem = case.problem(vectorised=True, box=(0, 200))
    solution = problem.solve(case.demand, np.full(size, 1 / size), NO_CONTEXT)
    return case.regret(float(solution.value))


@pytest.mark.parametrize("seed", range(2))
def test_a_newsvendor_in_a_box_is_near_its_optimum(seed: int) -> None:
    assert -1e-9 < regret(seed, 300) <= 0.002


@pytest.mark.full
@pytest.mark.parametrize("seed", range(20))
def test_newsvendors_in_a_box_are_near_their_optimum(seed: int) -> None:
    assert -1e-9 < regret(seed, 1000) <= 0.002
