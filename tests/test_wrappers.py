"""Abilities are asked through wrappers, and a law fails for one that forgets some."""

import ast
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gifted import (
    THIRDS,
    Careful,
    CarefulProblem,
    Careless,
    Forgetful,
    GiftedModel,
    GiftedPolicy,
    GiftedProblem,
    PlainProblem,
    Secretive,
)
from registry import INSTANCES, KNAPSACK, STREAM, the

import bocopt
from bocopt import Agent, Ensemble, SampleAverage
from bocopt.abilities import (
    ABILITIES,
    OWN,
    PROMISES,
    BoundedAbove,
    ForProblem,
    HasArms,
    HasLaws,
    HasName,
    HasShadows,
    HasSupport,
    IsRegret,
    KnowsAtOnce,
    Lockstep,
    PricesInfeasibility,
    SamplesAt,
    TakesMissing,
    UnderScenarios,
)
from bocopt.app.service.stream_template import template_of
from bocopt.checks import LawError, check_policy, check_problem
from bocopt.core import Problem, is_ranged
from bocopt.live.fold import watching
from bocopt.policies import Predictive
from bocopt.policies.names import names_of
from bocopt.problems import Knapsack
from bocopt.problems.ranges import support_of
from bocopt.wrappers import (
    find,
    forgotten,
    has,
    members,
    parts_of,
    promises,
    sample_at,
    says,
    scenarios_of,
    shadows_of,
    withheld,
)
from bocopt_studies.paper.variants import Uncapped

SEEDS, X, XI = np.arange(2), np.ones(3), np.array([1.0, 2.0])
GIFTED, MODEL = GiftedPolicy(KNAPSACK), GiftedModel()
PROBLEM = GiftedProblem(value=[12.0, 12.0], capacity=[8.0], salvage=[3.0], upper=50)
AROUND: dict[str, Any] = {
    "Frozen": the.Frozen(GIFTED),
    "Shadowed": the.Shadowed(GIFTED, {"other": the.Constant([1, 1])}),
    "twice": the.Frozen(the.Shadowed(GIFTED, {"other": the.Constant([1, 1])})),
    "yours": Careful(GIFTED),
}
AROUND_MODEL: dict[str, Any] = {
    "Predictive": Predictive(KNAPSACK, MODEL),
    "SpreadControl": the.SpreadControl(KNAPSACK, MODEL),
    "Ensemble": Ensemble(KNAPSACK, MODEL),
    "Ensemble, adaptive": Ensemble(KNAPSACK, MODEL, calibration="adaptive"),
    "Remembering": the.Remembering(MODEL),
    "Ensemble that remembers": Ensemble(KNAPSACK, the.Remembering(MODEL, missing="mean")),
}
ALL = [ability for abilities in ABILITIES.values() for ability in abilities]


def _played(policy: Any, stages: int = 2) -> tuple[Any, Any]:
    """The state after some stages, and the decision after them."""
    state = policy.init(SEEDS)
    for t in range(stages):
        state = policy.learn(state, t, X, policy.decide(state, t, X), XI)
    return state, policy.decide(state, stages, X)


def test_the_gifted_have_every_ability_of_their_kind() -> None:
    for ability in (*ABILITIES["any part"], *ABILITIES["policy"]):
        assert has(GIFTED, ability)
    for ability in (*ABILITIES["any part"], *ABILITIES["model"]):
        assert has(MODEL, ability)
    for ability in ABILITIES["problem"]:
        assert has(PROBLEM, ability)


@pytest.mark.parametrize("ability", ALL, ids=lambda ability: ability.__name__)
def test_an_ability_is_small_and_says_what_it_promises(ability: type) -> None:
    own = [name for name in vars(ability) if name in members(ability)]
    assert 1 <= len(own) <= 3
    promise, _, asked = (ability.__doc__ or "").partition("Asked by `")
    assert promise.strip().endswith(".")
    assert asked


@pytest.mark.parametrize("name", AROUND)
@pytest.mark.parametrize("ability", ABILITIES["policy"], ids=lambda ability: ability.__name__)
def test_a_wrapper_of_a_policy_gives_every_ability_on(ability: type, name: str) -> None:
    found = find(AROUND[name], ability)
    assert found is not None
    shadowed = ability is HasShadows and name in ("Shadowed", "twice")  # it has its own
    assert (found.part is GIFTED) != shadowed
    assert forgotten(AROUND[name], GIFTED) == []


@pytest.mark.parametrize("name", AROUND_MODEL)
@pytest.mark.parametrize("ability", ABILITIES["model"], ids=lambda ability: ability.__name__)
def test_a_wrapper_of_a_model_gives_every_ability_on(ability: type, name: str) -> None:
    assert find(AROUND_MODEL[name], ability) is not None
    assert forgotten(AROUND_MODEL[name], MODEL) == []
    assert says(AROUND_MODEL[name], HasLaws) == ("high", "low")


@pytest.mark.parametrize("name", AROUND)
def test_states_and_memos_are_those_of_the_part_that_is_asked(name: str) -> None:
    state, decision = _played(AROUND[name])
    told = scenarios_of(AROUND[name], state, 2, X)
    assert told is not None
    outcomes = 0 if name in ("Frozen", "twice") else 2
    assert (told[0] == 1.0 + outcomes).all()
    found = find(AROUND[name], HasArms, state, decision.memo)
    assert found is not None
    arms = dict(found.part.arm_decisions(found.memo))
    assert (arms["mine"] == 1.0).all()
    assert (arms["yours"] == 2.0).all()
    assert (found.state.info.arm_weights == 0.5).all()


@pytest.mark.parametrize("name", [n for n in AROUND_MODEL if n != "Remembering"])
def test_a_model_is_asked_at_the_stage_through_all_wrappers(name: str) -> None:
    told = scenarios_of(AROUND_MODEL[name], AROUND_MODEL[name].init(SEEDS), 7, X)
    assert told is not None
    assert (told[0] == 7.0).all()
    assert (told[1] == THIRDS).all()


@pytest.mark.parametrize("promise", sorted(PROMISES, key=str), ids=lambda one: one.__name__)
def test_a_promise_holds_where_all_parts_make_it(promise: type) -> None:
    silent = SampleAverage(KNAPSACK) if promise is TakesMissing else Forgetful(GIFTED)
    assert not promises(silent, promise)
    for name in AROUND:
        assert promises(AROUND[name], promise) == (
            name in ("Frozen", "yours") or promise is Lockstep
        )
    assert promises(the.Shadowed(GIFTED, {"other": GIFTED}), promise)
    assert not promises(the.Shadowed(GIFTED, {"other": silent}), promise)
    assert not promises(the.Shadowed(silent, {"other": GIFTED}), promise)
    assert promises(Ensemble(KNAPSACK, MODEL, [GIFTED]), promise)
    assert not promises(Ensemble(KNAPSACK, MODEL, [GIFTED, silent]), promise)


def test_a_wrapper_that_forgets_is_caught_by_the_law() -> None:
    with pytest.raises(LawError, match="Expected of Forgetful: to give on what its 'policy' has"):
        check_policy(Forgetful(GIFTED), STREAM, problem=KNAPSACK, horizon=2)
    expected = [*ABILITIES["any part"], *ABILITIES["policy"], HasLaws]
    assert set(forgotten(Forgetful(GIFTED), GIFTED)) == {
        name for ability in expected for name in members(ability)
    }


def test_a_wrapper_of_a_problem_that_forgets_is_caught_by_the_law() -> None:
    """What stands beside `cost` and `solve` is never given on: the wrapper may price otherwise."""
    rng = np.random.default_rng(0)
    samples = {"x": rng.normal(size=(4, 3)), "xi": rng.uniform(0.3, 2.0, (4, 2))}
    with pytest.raises(LawError, match="Expected of PlainProblem: to give on what its 'problem'"):
        check_problem(PlainProblem(PROBLEM), **samples)
    expected = {name for ability in ABILITIES["problem"] for name in members(ability)}
    also = {"upper"}  # of losses, but knapsacks have one
    assert set(forgotten(PlainProblem(PROBLEM), PROBLEM)) == expected - set(members(Problem)) | also
    careful = CarefulProblem(PROBLEM)
    check_problem(careful, **samples)
    assert forgotten(careful, PROBLEM) == []
    assert says(careful, HasName) == "gifted"
    assert says(careful, PricesInfeasibility) is True
    assert forgotten(Uncapped(KNAPSACK), KNAPSACK) == []


def test_a_wrapper_that_does_not_say_where_its_state_is_is_caught_by_the_law() -> None:
    with pytest.raises(AttributeError, match="outcomes"):
        check_policy(Careless(GIFTED), STREAM, problem=KNAPSACK, horizon=2)


@pytest.mark.parametrize("careful", [Careful, Secretive])
def test_one_that_declares_what_is_in_it_keeps_the_laws(careful: Any) -> None:
    check_policy(careful(SampleAverage(KNAPSACK)), STREAM, problem=KNAPSACK, horizon=3)
    check_policy(careful(Ensemble(KNAPSACK, prior_weight=0.5)), STREAM, problem=KNAPSACK, horizon=3)


def test_what_is_withheld_is_not_found_further_in() -> None:
    for around in (Secretive(GIFTED), the.Frozen(Secretive(GIFTED))):
        assert find(around, UnderScenarios) is None
        assert not promises(around, TakesMissing)
        assert promises(around, Lockstep)
        assert find(around, HasArms) is not None
    assert forgotten(Secretive(GIFTED), GIFTED) == []
    assert set(withheld(Secretive(GIFTED))) == {UnderScenarios, TakesMissing}
    assert withheld(GIFTED) == {}


class Doubled:
    """A model that is no longer what is in it: it has a `sample` of its own."""

    def __init__(self, model: Any) -> None:
        self.inner = model

    def init(self, seeds: Any) -> Any:
        return self.inner.init(seeds)

    def step(self, state: Any, t: int, x: Any, xi: Any) -> Any:
        return self.inner.step(state, t, x, xi)

    def sample(self, state: Any, x: Any) -> Any:
        scenarios, w = self.inner.sample(state, x)
        return 2.0 * scenarios, w


def test_what_stands_beside_a_method_is_not_given_on() -> None:
    doubled, state = Doubled(MODEL), MODEL.init(SEEDS)._replace(outcomes=np.array([3, 3]))
    assert (sample_at(doubled, state, 7, X)[0] == 6.0).all()  # not 7, by the `sample_at` inside
    assert find(doubled, SamplesAt) is None
    assert forgotten(doubled, MODEL) == ["sample_at"]
    assert says(doubled, KnowsAtOnce) is True
    assert set(OWN) <= set(ALL)


def test_a_value_that_is_none_is_no_ability() -> None:
    assert not has(INSTANCES["Program"], HasSupport)
    assert says(INSTANCES["Program"], HasSupport) is None
    assert support_of(INSTANCES["Program, in a box"]) is not None


def test_a_number_is_no_method_and_a_function_is_no_pair_of_ends() -> None:
    """`ConditionalOptimum.scenarios` says how many, and `FromCallables.support` is asked."""
    assert not has(INSTANCES["ConditionalOptimum"], UnderScenarios)
    bounded = INSTANCES["FromCallables, bounded"]
    assert is_ranged(bounded)
    assert support_of(bounded) is None
    Agent(Ensemble(bounded)).decide(X)


def test_classes_have_no_abilities() -> None:
    assert not has(SampleAverage, UnderScenarios)
    assert has(SampleAverage(KNAPSACK), UnderScenarios)


def test_a_problem_that_is_solved_in_another_way_keeps_what_it_says() -> None:
    class Rounded:
        def __init__(self, problem: Any) -> None:
            self.inner = self.problem = problem

    assert says(Rounded(KNAPSACK), PricesInfeasibility) is True
    assert says(Rounded(KNAPSACK), ForProblem) is KNAPSACK


def test_a_clipped_loss_is_still_regret() -> None:
    clipped = INSTANCES["Clipped"]
    assert says(clipped, IsRegret) is True
    assert says(clipped, BoundedAbove) == 30.0
    assert says(replace(clipped, loss=INSTANCES["LogScore"]), IsRegret) is None


def test_a_policy_of_yours_has_names_in_reports_and_in_the_service() -> None:
    assert names_of(KNAPSACK, GIFTED)["arm_weights"] == ("mine", "yours")
    assert names_of(KNAPSACK, GIFTED)["weights"] == ("high", "low")
    kind = template_of("shop", KNAPSACK, GIFTED)
    assert kind.weighed == {"arms": ("mine", "yours"), "members": ("high", "low")}
    assert kind.shadows == ("other",)
    beside = template_of("shop", KNAPSACK, Careful(Ensemble(KNAPSACK)), shadows={"yours": GIFTED})
    assert beside.shadows == ("yours",)
    assert beside.weighed["arms"] == ("model", "running average")
    assert shadows_of(AROUND["twice"]).keys() == {"other"}
    watched = watching(AROUND["twice"], KNAPSACK).guarantees
    assert "other" in {one.name for one in watched if hasattr(one, "name")}


def test_another_problem_is_found_in_a_wrapper_of_yours() -> None:
    other = Knapsack(value=[1.0, 2.0], capacity=[8.0], salvage=[3.0], upper=9)
    with pytest.raises(ValueError, match="decides for another problem"):
        Agent(Careful(SampleAverage(KNAPSACK)), problem=other)
    assert parts_of(Careful(GIFTED)) == (GIFTED,)
    assert parts_of(GIFTED) == ()


SOURCES = Path(bocopt.__file__).parent
_HOMES = ("core.py", "wrappers.py")  # where functions ask for others


def _names(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _asked_in_functions(tree: ast.AST) -> set[str]:
    return {n for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) for n in _names(f)}


@cache
def _askers() -> Mapping[str, set[str]]:
    """The modules that ask for each ability: by its name, or by a function that does."""
    known = {ability.__name__ for ability in ALL}
    by_function: dict[str, set[str]] = {}
    for home in _HOMES:
        for node in ast.parse((SOURCES / home).read_text()).body:
            if isinstance(node, ast.FunctionDef):
                by_function[node.name] = _names(node) & known
    found: dict[str, set[str]] = {name: set() for name in known}
    for path in sorted(SOURCES.rglob("*.py")):
        place = path.relative_to(SOURCES).as_posix()
        if place in ("abilities.py", *_HOMES):
            continue
        tree = ast.parse(path.read_text())
        fields = [f for c in ast.walk(tree) if isinstance(c, ast.ClassDef) for f in c.body]
        held = [_names(f) for f in fields if isinstance(f, ast.AnnAssign)]
        used = _names(tree) - (set[str]().union(*held) - _asked_in_functions(tree))
        for name in used & (known | by_function.keys()):
            for ability in by_function.get(name, {name}):
                found[ability].add(place)
    return found


def row(kind: str, ability: type) -> str:
    """A row of the table in docs/your-own.md."""
    text = " ".join((ability.__doc__ or "").split())
    promise, asked = text.split(" Asked by ")
    own = [f"`{name}`" for name in vars(ability) if name in members(ability)]
    return f"| {kind} | {', '.join(own)} | {promise} | {asked.rstrip('.').replace(' and', ',')} |"


def test_the_table_of_abilities_is_that_of_the_code() -> None:
    page = (SOURCES.parents[1] / "docs" / "your-own.md").read_text()
    rows = [row(kind, ability) for kind, some in ABILITIES.items() for ability in some]
    table = [
        line for line in page.splitlines() if re.match(r"\| [a-z ]+ \| `\w+`.* \| .* \| `", line)
    ]
    assert table == rows


@pytest.mark.parametrize("ability", ALL, ids=lambda ability: ability.__name__)
def test_who_asks_is_who_is_said_to_ask(ability: type) -> None:
    asked = (ability.__doc__ or "").partition("Asked by ")[2]
    assert set(re.findall(r"`([\w/]+\.py)`", asked)) == _askers()[ability.__name__]
