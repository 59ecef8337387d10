"""The studies of other problems, at a tiny size, and the worlds that they are run in."""

from itertools import combinations, islice
from math import comb
from typing import Any

import numpy as np
import pytest
from small_studies import results

from bocopt import SampleAverage, run
from bocopt.checks import check_problem
from bocopt.core import Array
from bocopt.paper import ConditionalOptimum
from bocopt.problems import grid
from bocopt.streams import PolynomialCosts
from bocopt_studies.problems import classes, paths
from bocopt_studies.problems.task import DecideTask, OwnLaws, Race
from bocopt_studies.problems.worlds import Always, LogNormal, worlds
from bocopt_studies.reproduce import plan_of
from bocopt_studies.study import Size

Summaries = dict[str, dict[str, Any]]
NAMES = tuple(worlds())
QUICK = ("newsvendor", "shortest path", "0-1 knapsack", "0-1 knapsack, certain weights")


@pytest.fixture(scope="module")
def summaries(tmp_path_factory: pytest.TempPathFactory) -> Summaries:
    folder = tmp_path_factory.mktemp("report")
    found = results("problems-classes", Size(2, 1), folder)
    found |= results("problems-paths", Size(3, 2), folder)
    for noise in paths.NOISES:
        assert (folder / f"problems-paths-{noise}.png").exists()
    page = (folder / "problems-classes.md").read_text()
    assert all(f"**{name.capitalize()}: " in page for name in NAMES)
    return {name: result.summary for name, result in found.items()}


def test_one_command_runs_both() -> None:
    sizes = {study.name: size for study, size in plan_of("problems", Size())}
    assert sizes == {"problems-classes": Size(6, 100), "problems-paths": Size(10, 500)}


def test_every_class_is_compared_with_its_optimum(summaries: Summaries) -> None:
    found = summaries["problems-classes"]["classes"]
    assert tuple(found) == NAMES
    nothing = {"mean": 0.0, "low": 0.0, "high": 0.0}
    for name, world in worlds().items():
        rows = found[name]["rows"]
        assert (classes.DESCENT in rows) == world.linear
        assert rows[classes.BEST]["minus"] == rows[classes.BEST]["minus_last"] == nothing
        best = rows[classes.BEST]["risk"]["mean"]
        for row in rows.values():
            gap = row["risk"]["mean"] - best
            assert row["minus"]["mean"] == pytest.approx(gap, abs=1e-9)
            worse = gap * world.problem.sense.sign
            assert row["percent_behind"] == pytest.approx(100 * worse / abs(best), abs=1e-9)


def test_a_portfolio_is_compared_by_what_it_minimises(summaries: Summaries) -> None:
    found = summaries["problems-classes"]["classes"]
    measures = {name: found[name]["measure"] for name in ("portfolio", "newsvendor", NAMES[3])}
    assert list(measures.values()) == ["CVaR 0.95", "cost", "reward"]
    world = worlds()["portfolio"]
    costs = np.arange(40.0).reshape(1, 40)
    record = {"cost": costs, "feasible": costs >= 4}
    row = classes._row(world, record, {"cost": costs - 1.0})
    assert row["risk"]["mean"] == pytest.approx(38.5)  # the worst two
    assert row["mean"]["mean"] == pytest.approx(19.5)
    assert row["minus"]["mean"] == pytest.approx(1.0)
    assert row["percent_behind"] == pytest.approx(100 / 37.5)
    assert row["feasible"]["mean"] == 0.9


def test_a_reward_that_is_less_is_worse() -> None:
    world, costs = worlds()["0-1 knapsack"], np.full((2, 4), -30.0)
    record = {"cost": costs, "feasible": costs < 0}
    row = classes._row(world, record, {"cost": costs - 10.0})
    assert row["risk"]["mean"] == 30.0
    assert row["minus"]["mean"] == -10.0
    assert row["percent_behind"] == pytest.approx(25.0)


@pytest.mark.parametrize("name", QUICK)
def test_who_knows_the_law_does_better_than_who_ignores_the_context(name: str) -> None:
    world = worlds()[name]
    costs = {}
    for policy in (
        ConditionalOptimum(world.problem, world.stream, 64),
        SampleAverage(world.problem, world.first),
    ):
        task = DecideTask(
            policy=policy,
            problem=world.problem,
            stream=world.stream,
            seeds=tuple(range(40)),
            horizon=10,
        )
        costs[type(policy)] = task.run()["cost"].mean()
    assert costs[ConditionalOptimum] < costs[SampleAverage]


@pytest.mark.parametrize("name", NAMES)
def test_the_problems_keep_the_laws_of_problems(name: str) -> None:
    world = worlds()[name]
    x, xi = next(world.stream.stages(np.arange(3)))
    check_problem(world.problem, x, xi)


@pytest.mark.parametrize("name", NAMES)
def test_the_stake_is_about_the_spread_of_what_the_first_decision_costs(name: str) -> None:
    world = worlds()[name]
    x, xi = next(world.stream.stages(np.arange(5000, 5200)))
    spread = world.problem.cost(x, np.array(world.first), xi).std()
    assert world.stake == pytest.approx(spread, rel=0.15)


def test_outcomes_have_the_law_that_is_stated() -> None:
    stream = LogNormal(usual=[10, 20, 40], effect=0.4, spread=[0.1, 0.2, 0.3], common=0.4, less=5)
    x = np.array([0.5, -1.0, 1.5])
    u = np.random.default_rng(0).normal(size=(100_000, stream.dim_noise))
    xi = stream.sample_given(x, u)
    mean = np.array([10, 20, 40]) * np.exp(stream._effects @ x) - 5
    assert xi.mean(axis=0) == pytest.approx(mean, rel=0.01)
    logs = np.log(xi + 5)
    assert logs.std(axis=0) == pytest.approx(np.array([0.1, 0.2, 0.3]) * np.exp(0.45), rel=0.02)
    assert np.corrcoef(logs.T)[np.triu_indices(3, 1)] == pytest.approx(0.4, abs=0.02)


def test_contexts_are_stationary_and_remember() -> None:
    stream = LogNormal(usual=[1.0], effect=0.1, spread=0.1, common=0.0)
    x = np.stack([x for x, _ in islice(stream.stages(np.arange(4000)), 12)])
    assert x.var(axis=1) == pytest.approx(1.0, abs=0.1)
    remembered = (x[1:] * x[:-1]).mean(axis=(1, 2))
    assert remembered == pytest.approx(0.8, abs=0.06)


@pytest.mark.parametrize("name", QUICK)
def test_the_prior_predicts_what_is_usual_as_spread_as_outcomes_are(name: str) -> None:
    world = worlds()[name]
    predictor, prior = classes._line(world)
    rng = np.random.default_rng(1)
    theta = prior.sample(rng.normal(size=(20_000, prior.dim)))
    predicted = predictor.sample(theta, rng.normal(size=(20_000, 3)), np.empty(0))
    assert predicted.mean(axis=0) == pytest.approx(world.stream.centre, rel=0.03)
    assert predicted.std(axis=0) == pytest.approx(world.stream.scale, rel=0.05)


def test_a_problem_that_always_reads_the_same() -> None:
    world = worlds()["unit commitment"]
    problem: Any = world.problem
    assert isinstance(problem, Always)
    warm = Always(problem.problem, [1, 1, 1])
    x, usual, one = np.full(3, 7.0), world.stream.centre[None], np.ones(1)
    cold, started = (each.solve(usual, one, x) for each in (problem, warm))
    inner = problem.problem.solve(usual, one, np.zeros(3))
    assert (cold.z == inner.z).all()
    assert float(cold.value) == float(inner.value) == problem.cost(x, cold.z, usual[0])
    assert started.value < cold.value  # nothing to start
    assert problem.dims.x is None


def paths_of_the_grid() -> Array:
    """(70, 40): all ways through a grid of 5 x 5, by hand."""
    edges = list(grid(5, 5).edges)
    found = []
    for right in combinations(range(8), 4):
        at, z = 0, np.zeros(len(edges))
        for step in range(8):
            after = at + (1 if step in right else 5)
            z[edges.index((at, after))] = 1.0
            at = after
        found.append(z)
    assert len(found) == comb(8, 4)
    return np.array(found)


def test_what_a_path_misses_is_measured_by_mean_costs() -> None:
    policy, seeds = SampleAverage(grid(5, 5)), (3, 8)
    stream = OwnLaws(4, 0.5)
    task = Race(policy=policy, problem=grid(5, 5), stream=stream, seeds=seeds, horizon=6)
    record = task.run()
    assert record["missed"].shape == record["least"].shape == (2, 6)
    every = paths_of_the_grid()
    for i, seed in enumerate(seeds):
        law = PolynomialCosts(degree=4, half_width=0.5, law=seed)
        for stage in run(policy, law, problem=grid(5, 5), seeds=seed, horizon=6, hindsight=False):
            mean = law.sample_given(stage.x, np.zeros(40))
            least = (every @ mean).min()
            assert record["least"][i, stage.t] == pytest.approx(least)
            missed = mean @ stage.decision.solution.z - least
            assert record["missed"][i, stage.t] == pytest.approx(missed)
    assert record["missed"].max() > 0


def test_who_knows_the_matrix_misses_nothing() -> None:
    law = PolynomialCosts(degree=6, law=5)
    policy = ConditionalOptimum(grid(5, 5), law, 1)
    task = Race(policy=policy, problem=grid(5, 5), stream=OwnLaws(6, 0.0), seeds=(5,), horizon=4)
    assert task.run()["missed"] == pytest.approx(0.0, abs=1e-12)


def test_each_trial_has_its_own_matrix() -> None:
    stream = OwnLaws(2, 0.5)
    together = list(islice(stream.stages(np.array([4, 9])), 3))
    for i, seed in enumerate((4, 9)):
        law = PolynomialCosts(degree=2, half_width=0.5, law=seed)
        alone = islice(law.stages(np.array(seed)), 3)
        for (x, xi), (own_x, own_xi) in zip(together, alone, strict=True):
            assert (x[i] == own_x).all()
            assert (xi[i] == own_xi).all()


def test_regret_is_over_the_last_half_and_relative() -> None:
    record = {
        "missed": np.array([[9.0, 9.0, 1.0, 3.0], [0.0, 0.0, 0.0, 1.0]]),
        "least": np.array([[1.0, 1.0, 10.0, 10.0], [1.0, 1.0, 1.0, 3.0]]),
    }
    assert paths.regret(record).tolist() == [20.0, 25.0]


def test_regret_is_shown_for_every_degree(summaries: Summaries) -> None:
    summary = summaries["problems-paths"]
    assert summary["degrees"] == [1, 2, 4, 6, 8]
    for found in summary["regret"].values():
        assert list(found) == list(paths.policies())
        for cells in found.values():
            assert len(cells) == 5
            assert all(0 <= c["low"] <= c["mean"] <= c["high"] for c in cells)
