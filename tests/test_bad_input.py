"""Bad input of every class: a clear error that says what, where, what was expected, what came."""

import re
from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np
import pytest
from registry import STREAM, played_on, policies
from trees import same_bits, through_a_file

from bocopt import Replay, SampleAverage, run
from bocopt.abilities import TakesMissing
from bocopt.core import Array
from bocopt.loop import play
from bocopt.paper import (
    BMA,
    DFL,
    Adam,
    ConditionalOptimum,
    DecisionRegret,
    Gaussian,
    GibbsPosterior,
    Linear,
    LiuWest,
    PaperStream,
    PtO,
    SigmoidLinear,
)
from bocopt.policies import Constant
from bocopt.problems import Knapsack
from bocopt.trace import record
from bocopt.wrappers import promises

NAN, INF = float("nan"), float("inf")
PROBLEM = Knapsack(value=[12.0, 12.0], capacity=[8.0], salvage=[3.0])
LINEAR = Linear(3, 2)
PRIOR = Gaussian.isotropic(LINEAR.dim)
LOSS = DecisionRegret(PROBLEM, LINEAR)
X = np.zeros(3)


class NotANumber:
    lower, dim_noise = 0.0, 0

    def __call__(self, theta: Array, x: Array, xi: Array, u: Array) -> Array:
        return np.full(theta.shape[:-1], NAN)


def knapsack(**changes: Any) -> Knapsack:
    return Knapsack(**{"value": [12.0, 12.0], "capacity": [8.0], "salvage": [3.0], **changes})


def posterior(**changes: Any) -> GibbsPosterior:
    return GibbsPosterior(**{"prior": PRIOR, "loss": LOSS, "lam": 0.1, **changes})


def liu_west(**changes: Any) -> LiuWest:
    return LiuWest(**changes)


def solve(scenarios: Any, w: Any) -> Any:
    return PROBLEM.solve(scenarios, w, X)


def replayed(x: Any, xi: Any, seeds: Any = 0, **options: Any) -> Any:
    return list(run(Constant((1, 1)), Replay(x, xi), problem=PROBLEM, seeds=seeds, **options))


CASES: list[tuple[Callable[[], object], str]] = [
    # constructor arguments
    (
        lambda: knapsack(alpha=1.4),
        "'alpha' parameter of Knapsack must be a number in (0, 1]. Got 1.4",
    ),
    (lambda: knapsack(alpha=0), "'alpha' parameter of Knapsack must be a number in (0, 1]. Got 0"),
    (lambda: knapsack(alpha=NAN), "in (0, 1]. Got nan"),
    (lambda: knapsack(alpha="0.9"), "in (0, 1]. Got '0.9'"),
    (lambda: knapsack(value=[]), "'value' parameter of Knapsack must be a sequence of one or more"),
    (
        lambda: knapsack(value=[12.0, NAN]),
        "'value' parameter of Knapsack must be a number in [0, 1e100]. Got nan",
    ),
    (lambda: knapsack(value=[12.0, -1.0]), "in [0, 1e100]. Got -1.0"),
    (lambda: knapsack(value=["a", "b"]), "in [0, 1e100]. Got 'a'"),
    (
        lambda: knapsack(capacity=[INF]),
        "'capacity' parameter of Knapsack must be a number in [0, 1e100]. Got inf",
    ),
    (
        lambda: knapsack(salvage=[3.0, 3.0]),
        "'salvage' parameter of Knapsack must be a sequence of 1 numbers",
    ),
    (
        lambda: knapsack(lower=-1),
        "'lower' parameter of Knapsack must be an integer in [0, 1000000]. Got -1",
    ),
    (
        lambda: knapsack(lower=0.5),
        "'lower' parameter of Knapsack must be an integer in [0, 1000000]. Got 0.5",
    ),
    (
        lambda: knapsack(lower=[0, 5], upper=[9, 4]),
        "'upper' parameter of Knapsack must be at least lower",
    ),
    (lambda: knapsack(infeasible_reward=1), "in [-1e100, 0]. Got 1"),
    (
        lambda: knapsack(node_limit=0),
        "'node_limit' parameter of Knapsack must be an integer in [1, 1000000000000]. Got 0",
    ),
    (lambda: Linear(0, 2), "'dim_x' parameter of Linear must be an integer in [1, inf). Got 0"),
    (
        lambda: SigmoidLinear(3, 12, scale=-2.0),
        "'scale' parameter of SigmoidLinear must be a number in (0, inf)",
    ),
    (
        lambda: Gaussian([0.0], sd=0.0),
        "'sd' parameter of Gaussian must be a number in (0, inf). Got 0.0",
    ),
    (
        lambda: Gaussian([NAN], sd=1.0),
        "'mean' parameter of Gaussian must be a number in (-inf, inf). Got nan",
    ),
    (
        lambda: Gaussian.isotropic(0),
        "'dim' parameter of Gaussian must be an integer in [1, inf). Got 0",
    ),
    (
        lambda: posterior(lam=0),
        "'lam' parameter of GibbsPosterior must be a number in (0, inf). Got 0",
    ),
    (
        lambda: posterior(size=0),
        "'size' parameter of GibbsPosterior must be an integer in [1, inf). Got 0",
    ),
    (
        lambda: posterior(threshold=1.5),
        "'threshold' parameter of GibbsPosterior must be a number in [0, 1]. Got 1.5",
    ),
    (
        lambda: LiuWest(shrinkage=1.0),
        "'shrinkage' parameter of LiuWest must be a number in [0, 1). Got 1.0",
    ),
    (
        lambda: LiuWest(steps=0),
        "'steps' parameter of LiuWest must be an integer in [1, inf). Got 0",
    ),
    (lambda: liu_west(mode="fast"), "must be 'printed' or 'corrected'. Got 'fast'"),
    (
        lambda: LiuWest(mode="printed", diagonal=0.5),
        "'diagonal' parameter of LiuWest must be 0 in printed mode",
    ),
    (lambda: Adam(rate=-0.1), "'rate' parameter of Adam must be a number in (0, inf). Got -0.1"),
    (
        lambda: Adam(decay_every=0),
        "'decay_every' parameter of Adam must be an integer in [1, inf). Got 0",
    ),
    (
        lambda: PtO(problem=PROBLEM, predictor=LINEAR, prior=Gaussian.isotropic(5)),
        "'prior' parameter of PtO must be of dimension 8. Got 5",
    ),
    (
        lambda: DFL(problem=PROBLEM, predictor=LINEAR, prior=PRIOR, perturbations=0),
        "'perturbations' parameter of DFL must be an integer in [1, inf). Got 0",
    ),
    (lambda: Constant(()), "'z' parameter of Constant must be a sequence of one or more numbers"),
    (
        lambda: Constant((1, NAN)),
        "'z' parameter of Constant must be a number in (-inf, inf). Got nan",
    ),
    (
        lambda: SampleAverage(PROBLEM, initial_decision=(1, 2, 3)),
        "'initial_decision' parameter of SampleAverage must be a sequence of 2",
    ),
    (
        lambda: ConditionalOptimum(PROBLEM, PaperStream(), 0),
        "'scenarios' parameter of ConditionalOptimum",
    ),
    (
        lambda: PaperStream(offset=INF),
        "'offset' parameter of PaperStream must be a number in (-inf, inf). Got inf",
    ),
    (
        lambda: PaperStream(run_in=-1),
        "'run_in' parameter of PaperStream must be an integer in [0, inf). Got -1",
    ),
    (lambda: knapsack(node_limit=2**63), "in [1, 1000000000000]. Got 9223372036854775808"),
    (lambda: knapsack(value=[10**400, 1]), "in [0, 1e100]. Got 1000000"),
    (lambda: knapsack(value=[1e101, 1]), "in [0, 1e100]. Got 1e+101"),
    (lambda: knapsack(value=[12, "a"]), "in [0, 1e100]. Got 'a'"),
    (lambda: knapsack(value=[[1, 2], [3]]), "in [0, 1e100]. Got [1, 2]"),
    (lambda: knapsack(value=None), "must be a sequence of one or more numbers. Got None"),
    (lambda: knapsack(alpha=True), "in (0, 1]. Got True"),
    (
        lambda: knapsack(readable_search=1),
        "'readable_search' parameter of Knapsack must be True or False. Got 1",
    ),
    # scenarios and weights
    (lambda: solve([[1.0, 1e101]], np.ones(1)), "must be at most 1e+100 in size"),
    (
        lambda: solve(np.ones((3, 1, 2)), np.ones((4, 1))),
        "Knapsack.solve needs leading axes that broadcast. Got x (), scenarios (3,), w (4,)",
    ),
    (
        lambda: solve(np.zeros((0, 2)), np.zeros(0)),
        "must be an array of shape (..., n >= 1, 2). Got (0, 2)",
    ),
    (
        lambda: solve(np.ones((1, 3)), np.ones(1)),
        "'scenarios' parameter of Knapsack.solve must be an array of shape",
    ),
    (lambda: solve([[1.0, NAN]], np.ones(1)), "must be finite. Got nan at [0, 1]"),
    (lambda: solve([[1.0, -INF]], np.ones(1)), "must be finite. Got -inf at [0, 1]"),
    (
        lambda: solve("ab", np.ones(1)),
        "'scenarios' parameter of Knapsack.solve must be an array of numbers",
    ),
    (
        lambda: solve(np.ones((2, 2)), np.ones(3)),
        "'w' parameter of Knapsack.solve must be an array of shape (..., 2). Got (3,)",
    ),
    (lambda: solve(np.ones((2, 2)), [0.5, 0.6]), "must be non-negative with sum 1"),
    (lambda: solve(np.ones((2, 2)), [1.5, -0.5]), "must be non-negative with sum 1"),
    (
        lambda: PROBLEM.cost(X, np.ones(3), np.ones(2)),
        "'z' parameter of Knapsack.cost must be an array of shape (..., 2)",
    ),
    (
        lambda: PROBLEM.violation(X, np.ones(2), np.array([NAN, 1.0])),
        "'xi' parameter of Knapsack.violation must be finite",
    ),
    # predictors
    (
        lambda: LINEAR.sample(np.zeros(7), X, X),
        "'theta' parameter of Linear.sample must be an array of shape (..., 8). Got (7,)",
    ),
    (
        lambda: LINEAR.sample(np.zeros(8), np.zeros(2), X),
        "'x' parameter of Linear.sample must be an array of shape (..., 3)",
    ),
    (
        lambda: LINEAR.sample(np.zeros(8), np.array([0, INF, 0]), X),
        "'x' parameter of Linear.sample must be finite. Got inf at [1]",
    ),
    # beliefs
    (
        lambda: BMA(PROBLEM, LINEAR, posterior(prior=Gaussian.isotropic(5))).init(np.array(0)),
        "'sampler' parameter of BMA must be one over 8 parameters, as the predictor has. Got 5",
    ),
    (
        lambda: posterior(loss=NotANumber()).step(posterior().init(np.array(0)), 0, X, X),
        "'loss' parameter of GibbsPosterior.step must be finite. Got nan at [0]",
    ),
    (lambda: posterior().init(np.array(-1)), "'seeds' parameter of GibbsPosterior.init must be"),
    # streams and the loop
    (lambda: record([], PROBLEM.sense), "There are no stages to record."),
    (
        lambda: next(PaperStream().stages(np.array([0.5]))),
        "'seeds' parameter of PaperStream.stages",
    ),
    (
        lambda: Replay(np.zeros((0, 3)), np.zeros((0, 2))),
        "'x' parameter of Replay must be an array of shape (..., n >= 1, n)",
    ),
    (
        lambda: Replay(np.zeros((4, 3)), np.zeros((5, 2))),
        "'xi' parameter of Replay must be 4 stages long",
    ),
    (
        lambda: Replay([[0.0], [NAN]], [[1.0], [1.0]]),
        "'x' parameter of Replay must be finite. Got nan at [1, 0]",
    ),
    (
        lambda: replayed(np.zeros((2, 4, 3)), np.ones((4, 2)), seeds=range(3)),
        "one for each of the (3,) seeds",
    ),
    (
        lambda: replayed(np.zeros((4, 3)), np.ones((4, 2)), horizon=9),
        "ended after 4 stages; 9 wanted",
    ),
    (
        lambda: replayed(np.zeros((4, 3)), np.ones((4, 5))),
        "'xi' parameter of play must be an array of shape (..., 2). Got (5,)",
    ),
    (lambda: replayed(np.zeros((4, 3)), np.ones((4, 2)), horizon=0), "'horizon' parameter of run"),
    (
        lambda: replayed(np.zeros((4, 3)), np.ones((4, 2)), seeds=[]),
        "'seeds' parameter of run must be one or more",
    ),
    (
        lambda: replayed(np.zeros((4, 3)), np.ones((4, 2)), seeds=-1),
        "'seeds' parameter of run must be one or more",
    ),
    (
        lambda: replayed(np.zeros((4, 3)), np.ones((4, 2)), seeds=0.5),
        "'seeds' parameter of run must be one or more",
    ),
]


@pytest.mark.parametrize(("call", "message"), CASES, ids=[message for _, message in CASES])
def test_message(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        call()


@pytest.mark.parametrize("name", policies())
@pytest.mark.parametrize("bad", [NAN, INF, -INF])
def test_a_bad_outcome_or_context_changes_nothing(name: str, bad: float) -> None:
    policy, seeds = policies()[name], np.arange(2)
    state = policy.init(seeds)
    stages = list(islice(STREAM.stages(seeds), 6))
    for t, (x, xi) in enumerate(stages[:5]):
        _, state = play(policy, played_on(policy), state, t, x, xi)
    before = through_a_file(state)
    x, xi = stages[5]
    may_be_missing = np.isnan(bad) and promises(policy, TakesMissing)
    for broken in ("xi",) if may_be_missing else ("x", "xi"):
        bad_x, bad_xi = x.copy(), xi.copy()
        (bad_x if broken == "x" else bad_xi)[1, 1] = bad
        expected = f"'{broken}' parameter of play must be finite. Got {bad} at [1, 1]"
        with pytest.raises(ValueError, match=re.escape(expected)):
            play(policy, played_on(policy), state, 5, bad_x, bad_xi)
    assert same_bits(state, before)


#: They learn nothing, or a loss that reads the outcome is refused in its place.
NOT_READING = (
    *("Constant", "GivenAcross", "Rule", "Recorded", "Frozen", "ConditionalOptimum"),
    "BMA, noisy",
)
LEARNERS = [name for name in policies() if name not in NOT_READING]


@pytest.mark.parametrize("name", LEARNERS)
def test_learning_directly_from_a_bad_outcome_is_an_error(name: str) -> None:
    policy, seeds = policies()[name], np.arange(2)
    x, xi = next(STREAM.stages(seeds))
    state = policy.init(seeds)
    before = through_a_file(state)
    decision = policy.decide(state, 0, x)
    for bad in (np.where(xi > 0, NAN, xi), xi[..., :1]):
        with pytest.raises(ValueError, match=r"'xi' parameter of .* must"):
            policy.learn(state, 0, x, decision, bad)
    assert same_bits(state, before)
