"""The C-bound: what a margin is, and how often a vote is wrong."""

from collections.abc import Callable

import numpy as np
import pytest

from bocopt.core import Array
from bocopt.guarantees.vote import c_bound, vote_margin


def test_a_vote_with_a_margin_is_right() -> None:
    """Against the rule of `Vote`: the decision with the most weight, the smallest of equal ones."""
    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(300):
        decisions = rng.integers(0, 3, (6, 2)).astype(float)
        w, good = rng.dirichlet(np.ones(6)), rng.random((3, 3)) < 0.4
        right = good[decisions[:, 0].astype(int), decisions[:, 1].astype(int)]
        margin = vote_margin(decisions, w, right)
        candidates, which = np.unique(decisions, axis=0, return_inverse=True)
        taken = candidates[np.bincount(which.ravel(), weights=w).argmax()].astype(int)
        assert bool(good[tuple(taken)]) == (margin > 0)
        wrong += int(margin <= 0)
    assert 50 < wrong < 250


def test_right_decisions_do_not_add_up() -> None:
    """Two right ones of .3 each do not beat a wrong one of .4."""
    decisions, w = np.array([[0.0], [1.0], [2.0]]), np.array([0.3, 0.3, 0.4])
    assert vote_margin(decisions, w, np.array([True, True, False])) == pytest.approx(-0.1)


def test_leading_axes_are_free() -> None:
    rng = np.random.default_rng(1)
    decisions, w = rng.integers(0, 2, (4, 5, 1)).astype(float), rng.dirichlet(np.ones(5), 4)
    right = rng.random((4, 5)) < 0.5
    together = vote_margin(decisions, w, right)
    alone = [float(vote_margin(*one)) for one in zip(decisions, w, right, strict=True)]
    assert together.tolist() == alone
    margins = rng.uniform(-0.2, 1.0, (3, 400))
    bounds = [float(c_bound(row).bound) for row in margins]
    assert c_bound(margins).bound.tolist() == bounds


LAWS: dict[str, Callable[[np.random.Generator, int], Array]] = {
    "steady": lambda rng, t: rng.uniform(0.0, 0.6, t),
    "two points": lambda rng, t: np.where(rng.random(t) < 0.2, -0.3, 0.5),  # (C) is nearly attained
    "drifting": lambda rng, t: np.clip(rng.normal(np.linspace(0.9, -0.1, t), 0.3), -1, 1),
    "by turns": lambda rng, t: np.where(np.arange(t) % 4 == 0, -0.1, rng.uniform(0.2, 0.4, t)),
}


@pytest.mark.parametrize("law", LAWS)
def test_the_bound_covers_how_often_votes_are_wrong(law: str) -> None:
    """The true average, by simulation of the same law, also where it changes over the stages."""
    rng = np.random.default_rng(2)
    true = float((np.stack([LAWS[law](rng, 400) for _ in range(4000)]) <= 0).mean())
    bounds = np.array([float(c_bound(LAWS[law](rng, 400)).bound) for _ in range(500)])
    assert (bounds >= true).mean() >= 0.95
    assert bounds.mean() < 1.0


def _without_slack(margins: Array) -> float:
    return float(c_bound(margins).value)


def test_two_points_attain_it() -> None:
    """At 0 and at a second value (C) is an equality; below 0 it is not."""
    margins = np.where(np.arange(1000) < 200, 0.0, 0.5)
    assert _without_slack(margins) == pytest.approx(0.2)
    assert _without_slack(margins - 0.1) > 0.2


def test_votes_that_are_wrong_on_average_have_no_bound() -> None:
    found = c_bound(np.full(100, -0.2))
    assert found.bound == 1.0
    assert found.vacuous
    assert "mean margin" in found.note


def test_what_is_no_margin_has_no_certificate() -> None:
    assert not c_bound(np.array([0.5, 1.5])).applicable
    with pytest.raises(ValueError, match="'right' parameter of vote_margin must be 2 truth values"):
        vote_margin(np.zeros((2, 1)), np.full(2, 0.5), np.ones(3, bool))
