"""Contexts with gaps: filled where the user asks for it, refused by everyone else."""

from typing import Any

import numpy as np
import pytest
from blackbox import wrapped
from memories import NAN, SHOP, Gappy, Hidden, Unseen, Watching, mean_cost, small
from registry import INSTANCES, KNAPSACK, STREAM
from trees import same_bits

from bocopt import Agent, Ensemble, Replay, SampleAverage, run
from bocopt.abilities import TakesMissing
from bocopt.core import Dims, Policy, Problem
from bocopt.loop import play
from bocopt.models.remembering import Missing, Remembering
from bocopt.policies import Frozen, Predictive, WeightedSampleAverage
from bocopt.problems import Newsvendor
from bocopt.problems.program import minimise, pos, program, real
from bocopt.trace import record
from bocopt.wrappers import promises
from bocopt_studies.learning.synthetic import synthetic_worlds

RULES: tuple[Missing, ...] = ("mean", "marked")


def test_without_gaps_filling_them_changes_nothing() -> None:
    plain = run(Predictive(KNAPSACK, small()), STREAM, seeds=range(2), horizon=25)
    asked = Predictive(KNAPSACK, Remembering(small(), missing="mean"))
    for one, other in zip(
        plain, run(asked, STREAM, problem=KNAPSACK, seeds=range(2)), strict=False
    ):
        assert same_bits(one.decision, other.decision)


def test_what_is_missing_is_filled_and_marked() -> None:
    watching, problem = Watching(), Newsvendor(unit_cost=[1.0], price=[2.0])
    policy = Predictive(problem, Remembering(watching, missing="marked"))
    x = [[1.0, NAN], [NAN, NAN], [3.0, 100.0], [NAN, 102.0]]
    list(run(policy, Replay(x, np.ones((4, 1)), gaps=True), problem=problem, hindsight=False))
    expected = [[1, 0, 0, 1], [1, 0, 1, 1], [3, 0, 0, 0], [2, 2, 1, 0]]
    assert np.allclose(watching.learned, expected)


def test_a_frozen_policy_takes_what_its_policy_takes() -> None:
    gaps = Remembering(small(), missing="mean")
    assert promises(Frozen(Predictive(KNAPSACK, gaps)), TakesMissing)
    assert not promises(Frozen(Predictive(KNAPSACK, small())), TakesMissing)


def test_gaps_cost_less_than_not_looking_at_the_context() -> None:
    stream = Gappy(synthetic_worlds()["three of thirty features"].stream)
    problem = synthetic_worlds()["three of thirty features"].problem
    model = Remembering(small(6), missing="mean")
    filled = mean_cost(Predictive(problem, model), problem, stream, 80, 3)
    blind = mean_cost(SampleAverage(problem), problem, Unseen(stream), 80, 3)
    assert (filled < blind).all()


def test_marks_pay_where_contexts_are_missing_for_a_reason() -> None:
    filled, marked = (
        mean_cost(Predictive(SHOP, Remembering(small(), missing=rule)), SHOP, Hidden(), 100, 3)
        for rule in RULES
    )
    assert (marked < filled - 0.02 * np.abs(filled)).all()


@program(xi=1, chance=0.9, staff=real(upper=100.0))
def hour(xi: Any, staff: Any) -> Any:
    return minimise(staff + 8.0 * pos(xi[0] - staff)), staff >= xi[0]


@program(x=1, xi=1, staff=real(upper=100.0))
def reads_it(x: Any, xi: Any, staff: Any) -> Any:
    return minimise(staff + x[0] + 8.0 * pos(xi[0] - staff))


def gappy_run(policy: Policy[Any], problem: Problem) -> Any:
    rng = np.random.default_rng(0)
    x, xi = rng.normal(size=(8, 1)), rng.random((8, problem.dims.xi))
    x[[0, 3]] = NAN
    return record(
        run(policy, Replay(x, xi, gaps=True), problem=problem, seeds=[0, 1]), problem.sense
    )


@pytest.mark.parametrize("level", ["declared", "adaptive"])
def test_programs_that_do_not_read_the_context_do_not_mind_gaps(level: Any) -> None:
    model = Remembering(small(1), missing="mean")
    trace = gappy_run(Ensemble(hour, model, calibration=level), hour)
    assert np.isfinite(trace.cost).all()
    assert trace.spread_over != "trials"  # all trials saw the same, gaps included


UNREAD = [
    *(INSTANCES[name] for name in ("Knapsack", "Newsvendor", "Program, a chance", "Conic")),
    wrapped(dims=Dims(None, 2, 2)),
]


@pytest.mark.parametrize("problem", UNREAD)
def test_a_problem_that_does_not_read_the_context_answers_the_same(problem: Problem) -> None:
    scenarios, w = np.array([[0.5, 1.0], [1.0, 1.5]]), np.array([0.5, 0.5])
    answers = []
    for x in (np.zeros(2), np.full(2, NAN)):
        solution = problem.solve(scenarios, w, x)
        paid = problem.cost(x, solution.z, scenarios[0])
        answers.append((*solution, paid, problem.violation(x, solution.z, scenarios[0])))
    assert same_bits(*answers)


REFUSED = r"The 'x' parameter of play must be finite. Got nan at \[0, 0\] instead."
FILLED = Remembering(small(1), missing="mean")


@pytest.mark.parametrize(
    ("policy", "problem"),
    [
        (SampleAverage(hour), hour),
        (Predictive(hour, Remembering(small(1), lags=[1])), hour),
        (Ensemble(hour), hour),
        (Ensemble(hour, FILLED, arms=[WeightedSampleAverage(hour)]), hour),
        (Predictive(reads_it, FILLED), reads_it),
    ],
)
def test_gaps_are_refused_where_nobody_asked_for_them(
    policy: Policy[Any], problem: Problem
) -> None:
    with pytest.raises(ValueError, match=REFUSED):
        gappy_run(policy, problem)


def test_infinities_and_missing_outcomes_stay_errors() -> None:
    policy = Ensemble(hour, FILLED)
    agent = Agent(policy, problem=hour)
    with pytest.raises(ValueError, match=r"'x' parameter of Agent.decide must be finite. Got inf"):
        agent.decide([np.inf])
    ticket = agent.decide([NAN])
    with pytest.raises(ValueError, match=r"'xi' parameter of Agent.observe must be finite"):
        agent.observe(ticket.id, [NAN])
    state = policy.init(np.array(0))
    with pytest.raises(ValueError, match=r"'x' parameter of play must be finite. Got -inf"):
        play(policy, hour, state, 0, np.array([-np.inf]), np.array([1.0]))
    with pytest.raises(ValueError, match=r"'xi' parameter of Remembering.step must be finite"):
        FILLED.step(FILLED.init(np.array(0)), 0, np.array([NAN]), np.array([NAN]))
    with pytest.raises(ValueError, match=r"'x' parameter of Replay must be finite. Got nan"):
        Replay([[NAN]], [[1.0]])
