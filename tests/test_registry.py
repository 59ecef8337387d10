"""Everything public is in the registry, and all that is in it keeps the laws that fit it."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from laws import (
    ALL,
    Fold,
    Trial,
    assert_declared_programs_are_best_under,
    assert_goes_on_from_its_arrays,
    assert_pure_and_free_of_leading_axes,
    assert_steps_are_pure,
    assert_the_value_is_what_its_tail_means_say,
    assert_trials_are_apart,
    copied,
    from_parts,
    same,
    visible,
)
from registry import (
    CLASSES,
    INSTANCES,
    KINDS,
    KNAPSACK,
    LINEAR,
    STREAM,
    instances,
    kind_of,
    of_kind,
    played_on,
    policies,
    predictor_of,
    public_modules,
    public_names,
    the,
)

from bocopt import Agent, run
from bocopt.abilities import LearnsParts, TakesMissing
from bocopt.checks import check_policy, check_problem
from bocopt.core import Array, judges
from bocopt.fingerprint import fingerprint
from bocopt.guarantees.certificate import nan_is_no_news
from bocopt.state import flatten
from bocopt.wrappers import forgotten, says, withheld

TRIALS, STAGES = 3, 12
SEEDS = np.arange(TRIALS)
PAIRS = list(islice(STREAM.stages(SEEDS), STAGES))
_RNG = np.random.default_rng(0)
X, XI = _RNG.normal(size=(6, 3)), _RNG.uniform(0.3, 2.0, (6, 2))


@pytest.mark.parametrize("name", [n for n, c in CLASSES.items() if kind_of(c) != "record"])
def test_every_public_class_has_an_instance(name: str) -> None:
    found = [thing for thing in INSTANCES.values() if type(thing) is CLASSES[name]]
    assert found, f"{name} is public but tests/registry.py has no instance of it"


@pytest.mark.parametrize("name", INSTANCES)
def test_every_instance_is_of_the_public_class_that_its_name_begins_with(name: str) -> None:
    cls = type(INSTANCES[name])
    assert CLASSES.get(cls.__name__) is cls, f"{cls.__name__} is in the registry but not public"
    assert name.partition(",")[0].split()[0] == cls.__name__


def test_a_public_name_means_one_thing() -> None:
    for module in public_modules():
        for name in public_names(module):
            if name in CLASSES:
                assert getattr(module, name) is CLASSES[name]


def test_every_kind_of_class_is_found() -> None:
    """Where a protocol changes, `KINDS` must: else its laws would be checked of nothing."""
    assert {kind_of(CLASSES[name]) for name in ("BMA", "Ensemble", "Frozen")} == {"policy"}
    assert {kind_of(CLASSES[name]) for name in ("Knapsack", "FromCallables")} == {"problem"}
    assert {kind_of(CLASSES[name]) for name in ("ResampleMove", "Mixture")} == {"sampler"}
    assert {kind_of(CLASSES[name]) for name in ("CVaR", "Expectation")} == {"risk"}
    assert {kind_of(CLASSES[name]) for name in ("Gaussian", "Calibrated")} == {"prior"}
    assert {kind_of(cls) for cls in CLASSES.values()} == {*dict(KINDS), "value", "record"}


@pytest.mark.parametrize("name", of_kind("problem"))
def test_every_problem_prices_a_decision_at_once(name: str) -> None:
    assert judges(INSTANCES[name])  # so that `check_problem` holds it to the law


@pytest.mark.parametrize("name", of_kind("policy"))
def test_every_policy_keeps_the_laws(name: str) -> None:
    policy = INSTANCES[name]
    check_policy(policy, STREAM, problem=played_on(policy), horizon=STAGES)


@pytest.mark.parametrize("name", of_kind("policy"))
def test_every_policy_goes_on_after_a_restart(name: str, tmp_path: Path) -> None:
    pair = [policies()[name] for _ in range(2)]
    one, other = (Agent(policy, problem=played_on(policy), seed=3) for policy in pair)
    for t, (x, xi) in enumerate(islice(STREAM.stages(np.array(3)), 6)):
        tickets = [agent.decide(x) for agent in (one, other)]
        assert (tickets[0].z == tickets[1].z).all()
        if t == 3:  # while an outcome is open
            other.save(tmp_path / "agent")
            again = policies()[name]
            other = Agent.load(tmp_path / "agent", again, problem=played_on(again))
        stages = [agent.observe(t, xi) for agent in (one, other)]
        assert stages[0] is not None
        assert stages[1] is not None
        assert same(tuple(stages[0].info.values()), tuple(stages[1].info.values()))
    assert same(one.state, other.state)
    assert str(one.monitor) == str(other.monitor)


SAMPLES = {
    "moderate": XI,
    "ties": _RNG.integers(0, 4, (6, 2)).astype(np.float64),
    "heavy": _RNG.uniform(2.0, 7.0, (6, 2)),
}


@pytest.mark.parametrize("samples", SAMPLES)
@pytest.mark.parametrize("name", of_kind("problem"))
def test_every_problem_keeps_the_laws(name: str, samples: str) -> None:
    check_problem(INSTANCES[name], X, SAMPLES[samples])


#: What is around another part that learns, predicts, is solved, judges or loses: name and field.
AROUND = {
    "policy": {"policy", "sampler"},
    "problem": {"problem"},
    "sampler": {"sampler"},
    "loss": {"loss"},
    "guarantee": {"guarantee"},
}
WRAPPERS = [
    (name, field.name)
    for kind, inside in AROUND.items()
    for name, thing in of_kind(kind).items()
    if is_dataclass(thing)
    for field in fields(thing)
    if kind_of(type(getattr(thing, field.name))) in inside
]


@pytest.mark.parametrize(("name", "inside"), WRAPPERS)
def test_a_wrapper_forgets_nothing_that_is_in_it(name: str, inside: str) -> None:
    thing = INSTANCES[name]
    assert forgotten(thing, getattr(thing, inside)) == []
    assert all(isinstance(why, str) and why for why in withheld(thing).values())


def test_there_are_wrappers_of_each_kind() -> None:
    assert {name.partition(",")[0] for name, _ in WRAPPERS} >= {
        *("Frozen", "Shadowed", "Predictive", "SpreadControl", "Ensemble", "BMA"),
        *("Remembering", "Informed", "SafeGrid", "Clipped"),
    }


def _sampler(sampler: Any) -> Fold:
    def step(state: Any, t: int, trial: Trial) -> Any:
        return sampler.step(state, t, *(part[trial] for part in PAIRS[t]))

    def show(state: Any, t: int, trial: Trial) -> Any:
        if hasattr(sampler, "sample"):
            scenarios, _ = sampler.sample(state, PAIRS[t][0][trial])
            return scenarios, state.info
        return state.theta, state.log_w, state.score, state.info

    return Fold(lambda trial: sampler.init(SEEDS[trial]), step, show, TRIALS, STAGES)


@pytest.mark.parametrize("name", of_kind("sampler"))
def test_every_sampler_keeps_the_laws(name: str) -> None:
    fold = _sampler(INSTANCES[name])
    assert_trials_are_apart(fold)
    assert_steps_are_pure(fold)
    assert_goes_on_from_its_arrays(fold)


@pytest.mark.parametrize("name", [n for n, s in of_kind("sampler").items() if hasattr(s, "loss")])
def test_the_laws_of_samplers_see_moves(name: str) -> None:
    fold, moves = _sampler(INSTANCES[name]), 0.0
    state = fold.begin(ALL)
    for t in range(STAGES):
        state = fold.step(state, t, ALL)
        moves += state.info.rejuvenated.sum()
    assert moves >= 2


@pytest.mark.parametrize("what", ["x", "xi"])
@pytest.mark.parametrize("name", of_kind("sampler"))
def test_a_sampler_learns_nothing_from_what_is_not_a_number(name: str, what: str) -> None:
    fold, sampler = _sampler(INSTANCES[name]), INSTANCES[name]
    state = fold.step(fold.begin(ALL), 0, ALL)
    before, (x, xi) = copied(state), (part.copy() for part in PAIRS[1])
    may_be_missing = says(sampler, TakesMissing if what == "x" else LearnsParts)
    (x if what == "x" else xi)[1, 1] = np.inf if may_be_missing else np.nan
    with pytest.raises(ValueError, match="must be finite"):
        sampler.step(state, 1, x, xi)
    assert same(state, before)


def _evidence(policy: str) -> list[Any]:
    stages = run(INSTANCES[policy], STREAM, problem=KNAPSACK, seeds=SEEDS, horizon=STAGES)
    return [the.evidence_of(KNAPSACK, stage) for stage in stages]


def _watching(guarantee: Any, evidence: list[Any]) -> Fold:
    def begin(trial: Trial) -> Any:
        return guarantee.init(np.shape(SEEDS[trial]))

    def step(state: Any, t: int, trial: Trial) -> Any:
        arrays = flatten(evidence[t])
        own = {name: array[trial] if array.ndim else array for name, array in arrays.items()}
        with nan_is_no_news():
            return guarantee.step(state, from_parts(evidence[t], own))

    def show(state: Any, t: int, trial: Trial) -> Any:
        found = guarantee.certificate(state)
        ends = found.least, found.value, found.bound, found.slack
        return (*ends, found.vacuous, found.applicable)

    return Fold(begin, step, show, TRIALS, STAGES)


@pytest.fixture(scope="module")
def seen() -> list[list[Any]]:
    """A belief that learns from clipped losses and is never moved, an ensemble, and shadows; and
    some stages of which one trial saw a part.
    """
    loss = the.Clipped(the.DecisionRegret(KNAPSACK, LINEAR), at=30.0)
    prior = INSTANCES["Gaussian"]
    still = the.GibbsPosterior(prior=prior, loss=loss, lam=0.1, size=8, threshold=0.0)
    beliefs = run(the.BMA(KNAPSACK, LINEAR, still), STREAM, seeds=SEEDS, horizon=STAGES)
    learned = [the.evidence_of(KNAPSACK, s) for s in beliefs]
    shadowed = _evidence("Shadowed")
    in_part = [seen_in_part(e, np.arange(TRIALS) == t % 3) for t, e in enumerate(shadowed)]
    return [learned, _evidence("Ensemble"), shadowed, in_part]


def seen_in_part(evidence: Any, unseen: Array) -> Any:
    """The same, where of some trials (trials) only ends are known."""
    e = evidence

    def hidden(value: Array, other: float) -> Array:
        return np.where(unseen, value, other)

    nan, most = np.nan, np.minimum(e.cost + 1.0, e.high)
    shadows = [
        s._replace(least=hidden(s.low, nan), most=hidden(s.cost - e.cost, nan)) for s in e.shadows
    ]
    return e._replace(
        cost=np.where(unseen, nan, e.cost),
        least=hidden(e.low, nan),
        most=hidden(most, nan),
        shadows=tuple(shadows),
        undecided=unseen,
        in_part=unseen,
    )


@pytest.mark.parametrize("name", of_kind("guarantee"))
def test_every_guarantee_says_something_here(name: str, seen: list[list[Any]]) -> None:
    """So that the laws have numbers to compare."""
    some = [part for evidence in seen for part in (evidence[:1], evidence)]
    found = [the.certify(INSTANCES[name], evidence) for evidence in some]
    assert any(np.isfinite(said.bound).any() for said in found)


@pytest.mark.parametrize(
    "name",
    of_kind("guarantee"),
)
def test_a_guarantee_says_the_same_of_a_trial_alone(name: str, seen: list[list[Any]]) -> None:
    for evidence in seen:
        assert_trials_are_apart(_watching(INSTANCES[name], evidence))


@pytest.mark.parametrize("name", of_kind("guarantee"))
def test_watching_is_pure(name: str, seen: list[list[Any]]) -> None:
    for evidence in seen:
        assert_steps_are_pure(_watching(INSTANCES[name], evidence))


@pytest.mark.parametrize(
    "name",
    of_kind("guarantee"),
)
def test_a_guarantee_goes_on_from_its_arrays(name: str, seen: list[list[Any]]) -> None:
    for evidence in seen:
        assert_goes_on_from_its_arrays(_watching(INSTANCES[name], evidence))


@pytest.mark.parametrize("name", of_kind("guarantee"))
def test_a_guarantee_says_no_number_that_rests_on_none(name: str, seen: list[list[Any]]) -> None:
    """A NaN in any part of a stage: the bound is the same without that part, or there is none."""
    guarantee = INSTANCES[name]
    for evidence in seen:
        plain = the.certify(guarantee, evidence[:3])
        arrays = flatten(evidence[1])
        for part, value in arrays.items():
            if value.dtype.kind == "f":
                spoiled = from_parts(evidence[1], {**arrays, part: np.full_like(value, np.nan)})
                found = the.certify(guarantee, [evidence[0], spoiled, evidence[2]])
                assert (np.isnan(found.bound) | (found.bound == plain.bound)).all()


@pytest.mark.parametrize("name", of_kind("stream"))
def test_every_stream_keeps_the_laws(name: str) -> None:
    stream, seeds = INSTANCES[name], SEEDS.copy()
    together = [copied(pair) for pair in islice(stream.stages(seeds), 6)]
    assert same([copied(pair) for pair in islice(stream.stages(seeds), 6)], together)
    assert (seeds == SEEDS).all()
    for i in range(TRIALS):
        for alone, batch in zip(islice(stream.stages(seeds[i]), 6), together, strict=True):
            assert same(alone, [part[i] for part in batch])
    with pytest.raises(ValueError, match="'seeds' parameter of"):
        next(stream.stages(np.array([np.nan])))


def _calls(thing: Any) -> dict[str, dict[str, Array]]:
    """What a predictor, a prior or a loss is asked, by method."""
    owner = predictor_of(thing) if kind_of(type(thing)) == "loss" else thing
    rng = np.random.default_rng(1)
    theta = 0.3 * rng.normal(size=(6, owner.dim))
    noise = rng.normal(size=(6, getattr(thing, "dim_noise", owner.dim)))
    past = {"x": rng.normal(size=(6, 7, 3)), "xi": rng.uniform(0.3, 2.0, (6, 7, 2))}
    stage = {"theta": theta, "x": X, "xi": XI}
    asked: dict[str, dict[str, dict[str, Array]]] = {
        "loss": {"__call__": stage | {"u": noise}},
        "prior": {"sample": {"u": noise}, "log_density": {"theta": theta}, "fit": past},
        "predictor": {
            "sample": {"theta": theta, "x": X, "u": noise},
            "log_density": stage,
            "pullback": {"theta": theta, "x": X, "g": XI},
            "constant": {"xi": XI},
        },
    }
    mine = asked[kind_of(type(thing))]
    return {method: given for method, given in mine.items() if hasattr(thing, method)}


FUNCTIONS = of_kind("predictor") | of_kind("prior") | of_kind("loss")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_predictor_prior_and_loss_keeps_the_laws(name: str) -> None:
    asked = _calls(FUNCTIONS[name])
    assert asked
    for method, given in asked.items():
        assert_pure_and_free_of_leading_axes(getattr(FUNCTIONS[name], method), *given.values())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_not_a_number_never_becomes_one(name: str) -> None:
    """It is refused, or there is a NaN in every answer that rests on it."""
    for method, given in _calls(FUNCTIONS[name]).items():
        function = getattr(FUNCTIONS[name], method)
        plain = function(*given.values())
        for what in given.keys() - {"u"}:  # noise is our own
            spoiled = {n: array.copy() for n, array in given.items()}
            spoiled[what][2] = np.nan
            before = copied(tuple(spoiled.values()))
            found = _answer_or_refusal(function, *spoiled.values())
            read = found is not None and not same(found, plain)
            assert not read or all(np.isnan(answer[2]).any() for answer in visible(found))
            assert same(tuple(spoiled.values()), before)


def _answer_or_refusal(function: Callable[..., Any], *given: Array) -> Any:
    try:
        return function(*given)
    except ValueError as error:
        if "must be" not in str(error):
            raise
    return None


NUMBERS, WEIGHTS = _RNG.normal(size=(6, 4)), _RNG.dirichlet(np.ones(4), 6)


@pytest.mark.parametrize("name", of_kind("risk"))
def test_every_risk_keeps_the_laws(name: str) -> None:
    risk = INSTANCES[name]
    assert_pure_and_free_of_leading_axes(risk.value, NUMBERS, WEIGHTS)
    assert_pure_and_free_of_leading_axes(risk.met, NUMBERS, WEIGHTS)
    assert_the_value_is_what_its_tail_means_say(risk)
    assert_declared_programs_are_best_under(risk)


@pytest.mark.parametrize("name", ["Near", "Nearest"])
def test_every_nearness_keeps_the_laws(name: str) -> None:
    assert_pure_and_free_of_leading_axes(lambda d: INSTANCES[name](d, 3), NUMBERS**2)


@pytest.mark.parametrize("name", ["Plain", "Logarithmic"])
def test_every_scale_keeps_the_laws(name: str) -> None:
    scale = INSTANCES[name]
    rows = np.abs(NUMBERS)
    bend = scale.fit(rows, rows)
    for seen in (scale.context, scale.outcome, scale.inverse, scale.log_abs_det_jacobian):
        assert_pure_and_free_of_leading_axes(partial(seen, bend), rows)


@pytest.mark.parametrize("name", ["Fixed", "AdaHedge"])
def test_every_temperature_keeps_the_laws(name: str) -> None:
    assert_pure_and_free_of_leading_axes(INSTANCES[name], 100 * WEIGHTS[:, 0])


CONFIGURATIONS = [n for n, t in INSTANCES.items() if is_dataclass(t) and n != "Trace"]


def test_every_configuration_has_a_fingerprint_of_its_own() -> None:
    again = instances()
    found: dict[str, Any] = {}
    for name in CONFIGURATIONS:
        digest = fingerprint(INSTANCES[name])
        assert fingerprint(again[name]) == digest
        assert found.setdefault(digest, INSTANCES[name]) == INSTANCES[name]


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_every_configuration_can_be_made_again_of_what_it_says(name: str) -> None:
    thing = INSTANCES[name]
    again = type(thing)(**{f.name: getattr(thing, f.name) for f in fields(thing) if f.init})
    assert fingerprint(again) == fingerprint(thing)
