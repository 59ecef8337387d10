"""A rule whose margin is learned: the best so far, by hand, and as a policy like any other."""

from typing import Any

import numpy as np
import pytest

from bocopt import Replay, minimise, program, real, run
from bocopt.app import BestMargin
from bocopt.app.margin import TunedRule
from bocopt.checks import check_policy
from bocopt.problems import Newsvendor

MARGINS = (0.5, 1.0, 1.5, 2.0)
RNG = np.random.default_rng(3)
X = RNG.uniform(1.0, 3.0, (60, 2))
XI = X[:, :1] * RNG.uniform(0.8, 1.8, (60, 1))


def ordered(x: dict[str, float], margin: float = 1.25) -> list[float]:
    return [margin * x["last"]]


@program(xi=1, chance=0.9, staff=real(upper=50))
def desk(xi: Any, staff: Any) -> Any:
    return minimise(staff), staff >= xi[0]


SHOP = Newsvendor(unit_cost=[1.0], price=[2.0])


def policy(problem: Any) -> TunedRule:
    return BestMargin(ordered, MARGINS).policy(problem, ("last", "other"))


def decided(problem: Any) -> Any:
    return [
        stage.decision.solution.z[0] for stage in run(policy(problem), Replay(X, XI), horizon=60)
    ]


def test_the_first_decision_is_that_of_the_rule_alone() -> None:
    assert decided(SHOP)[0] == 1.25 * X[0, 0]


def test_every_margin_is_the_cheapest_so_far() -> None:
    costs = np.array([SHOP.cost(X, m * X[:, :1], XI) for m in MARGINS])
    for t, z in list(enumerate(decided(SHOP)))[1:]:
        assert z == MARGINS[int(costs[:, :t].sum(axis=1).argmin())] * X[t, 0]


def test_a_target_comes_before_the_cost() -> None:
    """The smallest margin that met it is cheapest; where none did, the nearest is taken."""
    met = np.array([[m * x[0] >= xi[0] for x, xi in zip(X, XI, strict=True)] for m in MARGINS])
    chosen = [round(z / x, 9) for z, x in zip(decided(desk), X[:, 0], strict=True)]
    assert set(chosen[20:]) == {2.0}
    for t in range(1, 60):
        shares = met[:, :t].mean(axis=1)
        assert chosen[t] == MARGINS[int((shares >= 0.9).argmax())]
    low = BestMargin(ordered, [0.5, 1.1, 1.2]).policy(desk, ("last", "other"))
    last = [
        stage.decision.solution.z[0] for stage in run(low, Replay(X, XI), problem=desk, horizon=60)
    ][-1]
    assert last == 1.2 * X[-1, 0]


def test_stages_at_which_no_margin_matters_are_held_against_none() -> None:
    """A rule that reads last week decides 0 in its first, whatever the margin."""
    late = np.concatenate([np.zeros((30, 2)), X])
    stages = run(policy(desk), Replay(late, np.concatenate([XI[:30], XI])), horizon=90)
    assert [stage.decision.solution.z[0] for stage in stages][30:] == decided(desk)


@pytest.mark.parametrize("problem", [SHOP, desk])
def test_it_keeps_the_laws_of_policies(problem: Any) -> None:
    check_policy(policy(problem), Replay(X, XI), horizon=8)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"rule": 3}, "The 'rule' parameter of BestMargin must be a function"),
        ({"rule": ordered, "margins": []}, "The 'margins' parameter of BestMargin must be"),
        ({"rule": ordered, "margins": ["a"]}, "The 'margins' parameter of BestMargin must be"),
    ],
)
def test_what_is_no_rule_and_no_margin_is_named(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        BestMargin(**given)


def test_a_rule_that_gives_no_decision_is_named() -> None:
    odd = BestMargin(lambda x, margin=1.0: 3.0).policy(SHOP, ("last", "other"))
    with pytest.raises(ValueError, match="one decision"):
        odd.decide(odd.init(np.array(0)), 0, X[0])
