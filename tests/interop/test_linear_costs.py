"""Models in the shape of PyEPO's as problems."""

import pickle
from itertools import islice
from typing import Any

import numpy as np
import pytest
from pyepo_shape import Cheapest, Dearest, Paths, Shares

from bocopt import Agent, Sense, Status, run
from bocopt.checks import check_problem
from bocopt.fingerprint import fingerprint
from bocopt.interop import from_pyepo
from bocopt.paper import Adam, Gaussian, Linear, SPOPlus
from bocopt.policies import Constant
from bocopt.problems.library.paths import grid
from bocopt.streams import PolynomialCosts

RNG = np.random.default_rng(0)
X, XI = RNG.normal(size=(6, 3)), RNG.uniform(0.3, 2.0, (6, 2))


@pytest.mark.parametrize("model", [Cheapest, Dearest, Paths])
def test_it_keeps_the_laws(model: Any) -> None:
    problem = from_pyepo(model)
    check_problem(problem, X, np.tile(XI, problem.dims.xi // 2))


def test_it_solves_as_a_problem_of_ours() -> None:
    theirs, ours = from_pyepo(Paths()), grid(2, 2)
    scenarios = RNG.uniform(0, 1, (20, 7, 4))
    w = RNG.dirichlet(np.ones(7), 20)
    one, other = (problem.solve(scenarios, w, np.empty(0)) for problem in (theirs, ours))
    assert (one.z == other.z).all()
    assert one.value == pytest.approx(other.value)
    assert (one.status == Status.OPTIMAL).all()
    xi = scenarios[:, 0]
    assert theirs.cost(X[0], one.z, xi) == pytest.approx(ours.cost(X[0], one.z, xi))


def test_what_is_maximised_is_earned() -> None:
    problem = from_pyepo(Dearest)
    solution = problem.solve(np.array([[3.0, 5.0]]), np.ones(1), np.empty(0))
    assert problem.sense is Sense.MAXIMISE
    assert solution.z.tolist() == [0.0, 1.0]
    assert solution.value == -5.0


@pytest.mark.parametrize(
    ("z", "distance"),
    [([1, 0], 0.0), ([1, 1], 1.0), ([0.5, 0.5], 1.0), ([3, 0], 2.0), ([0, -1], 2)],
)
@pytest.mark.parametrize("model", [Cheapest, Dearest])
def test_the_model_judges_how_far_a_decision_is_from_its_own(
    model: Any, z: list[float], distance: float
) -> None:
    found = from_pyepo(model).violation(np.empty(0), np.array(z, float), np.ones(2))
    assert found == pytest.approx(distance)


def test_a_model_of_other_decisions_needs_a_judge() -> None:
    scenario, one = np.array([[1.0, 2.0]]), np.ones(1)
    z = from_pyepo(Shares).solve(scenario, one, np.empty(0)).z
    assert z == pytest.approx([0.5, 0.5])
    judged = from_pyepo(Shares, violation=lambda z: abs(z.sum() - 1) - 1e-6)
    assert judged.violation(np.empty(0), z, scenario[0]) <= 0
    assert judged.violation(np.empty(0), z + 1, scenario[0]) > 0
    with pytest.raises(ValueError, match=r"'violation' .* this model are not all 0 or 1"):
        from_pyepo(Shares).violation(np.empty(0), z + 1, scenario[0])


def test_spo_plus_learns_on_it_as_on_ours() -> None:
    stream = PolynomialCosts(degree=2, half_width=0.5, dim_x=3, dim_xi=4)
    found = []
    for problem in (from_pyepo(Paths), grid(2, 2)):
        policy = SPOPlus(
            problem=problem,
            predictor=Linear(3, 4),
            prior=Gaussian.isotropic(16),
            adam=Adam(rate=0.05),
        )
        stages = run(policy, stream, problem=problem, horizon=30)
        found.append([(s.decision.solution.z, s.cost) for s in stages])
    for (z, cost), (ours, paid) in zip(*found, strict=True):
        assert (z == ours).all()
        assert cost == pytest.approx(paid)


def test_it_can_be_sent_and_saved_whatever_it_was_asked_before(tmp_path: Any) -> None:
    problem = from_pyepo(Cheapest)
    for x, xi in islice(zip(X, XI, strict=True), 3):
        problem.solve(xi[None], np.ones(1), x)
    again = pickle.loads(pickle.dumps(problem))
    assert fingerprint(problem) == fingerprint(again) == fingerprint(from_pyepo(Cheapest))
    agent = Agent(Constant([1, 0]), problem=problem)
    agent.observe(agent.decide(X[0]).id, XI[0])
    agent.save(tmp_path / "agent")
    assert Agent.load(tmp_path / "agent", Constant([1, 0]), problem=again).open_ids == ()


def test_what_the_model_returns_is_checked() -> None:
    short = type("Short", (Cheapest,), {"solve": lambda self: ([1.0], 0.0)})
    with pytest.raises(
        ValueError, match=r"The 'solution' that optmodel.solve\(\) returned must be"
    ):
        from_pyepo(short).solve(np.ones((1, 2)), np.ones(1), np.empty(0))
