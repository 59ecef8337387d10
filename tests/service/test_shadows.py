"""Policies that are changed, shadowed and promoted, on one log."""

import json
from typing import Any

import numpy as np
import pytest
import shop as here
from shop import (
    assert_is_its_log,
    cache,
    engine,
    one,
    play,
    shop,
    small,
)

from bocopt import SampleAverage
from bocopt.app.service.commands import Create, Query, RefusedError
from bocopt.app.service.engine import Engine
from bocopt.app.service.stores import Store
from bocopt.app.service.stream_template import template_of
from bocopt.live.events import from_bytes
from bocopt.live.fold import Decided, Observed


def test_a_changed_policy_is_refused_until_its_version_is_raised(file: Store) -> None:
    play(engine(file), 5)
    with pytest.raises(RefusedError, match=r"another problem or policy than \[cases.shop\]"):
        engine(file, shop(policy=here.better))
    raised = shop(policy=here.better, version="2")
    ours = engine(file, raised)
    assert cache(ours).state("shop").live.learned == 5
    play(ours, 3)
    assert_is_its_log(ours, file)
    assert [each.version for each in file.streams()] == ["2"]
    with pytest.raises(RefusedError, match="another problem or policy"):
        engine(file, shop(version="2"))


def test_a_policy_that_cannot_take_the_log_is_told_by_its_event(file: Store) -> None:
    class Choosy(SampleAverage):
        def learn(self, state: Any, t: int, x: Any, decision: Any, xi: Any) -> Any:
            if t == 3:
                raise KeyError("of the policy")
            return super().learn(state, t, x, decision, xi)

    play(engine(file), 5)
    ours = engine(file, shop(policy=Choosy(here.problem), version="2"))
    with pytest.raises(RefusedError, match=r"Event 7 of stream 'shop': KeyError: 'of the policy'"):
        one(ours, Query("shop", "summary"))


def test_a_shadow_is_declared_promoted_and_compared_only_from_then_on(file: Store) -> None:
    play(engine(file, small(snapshot=3)), 6)
    shadowed = shop(shadows={"latest": here.latest})
    ours = engine(file, shadowed)
    assert "comparison with latest" not in certificates(ours)
    play(ours, 4, seed=1)
    learned = certificates(ours)["comparison with latest"]["value"]
    assert learned == pytest.approx(np.mean([apart(file, n) for n in range(6, 10)]))
    assert any(apart(file, n) for n in range(6, 10))
    assert_is_its_log(ours, file)
    promoted = shop(shadows={"latest": here.latest}, promote="latest")
    ours = engine(file, promoted)
    state = cache(ours).state("shop").live.state
    assert int(state.own.outcomes.dropped) == 9
    play(ours, 2, seed=2)
    assert_is_its_log(ours, file)
    assert "comparison with before" in certificates(ours)


def certificates(ours: Engine) -> dict[str, Any]:
    found = one(ours, Query("shop", "certificates")).body["certificates"]
    return {each["name"]: each for each in found}


def apart(store: Store, number: int) -> float:
    """What the only shadow would have paid more for a decision, by the log."""
    decided, observed = (from_bytes(row.body, here.problem) for row in store.about("shop", number))
    assert isinstance(decided, Decided)
    assert isinstance(observed, Observed)
    x, decision, *_ = decided.waiting
    _, [(solution, _)] = decision.memo
    costs = [here.problem.cost(x, z, observed.seen.low) for z in (solution[0], decision.solution.z)]
    return float(costs[0] - costs[1])


@pytest.mark.parametrize(("before", "now"), [(160.0, 80.0), (None, 80.0), (160.0, None)])
def test_a_scale_is_the_one_that_was_declared_before_the_outcomes(
    file: Store, before: float | None, now: float | None
) -> None:
    """Or the headline would be made of bets that are chosen after them."""
    ours = engine(file, shop(scale=before))
    play(ours, 5)
    said = certificates(ours)
    for version in ("1", "2"):
        with pytest.raises(RefusedError, match=r"A scale counts only where it was declared before"):
            engine(file, shop(scale=now, version=version))
    assert certificates(engine(file, shop(scale=before))) == said
    other = template_of("other", here.problem, here.policy, scale=now)
    assert one(engine(file, shop(scale=before), other), Create("other")).status == 200


def test_each_configuration_is_logged_with_the_first_decision_that_it_takes(file: Store) -> None:
    plain, shadowed = shop(), shop(shadows={"latest": here.latest})
    for kind, stages in [(plain, 3), (plain, 0), (shadowed, 2), (plain, 1)]:
        play(engine(file, kind), stages)
    found = file.configurations("shop")
    assert [(each.n, each.by == plain.fold.by, each.decision) for each in found] == [
        (1, True, 0),
        (2, False, 3),
        (3, True, 5),
    ]
    assert [list(json.loads(each.about)["shadows"]) for each in found] == [[], ["latest"], []]
    north = one(engine(file, shadowed), Create("north", "shop"))
    assert north.status == 201
    [only] = file.configurations("north")
    assert (only.n, only.by, only.decision) == (1, shadowed.fold.by, 0)
