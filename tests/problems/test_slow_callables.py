"""A slow black box says what a decision costs, and what to type; a budget is a number of calls."""

import warnings
from itertools import count
from typing import Any

import numpy as np
import pytest

from bocopt import from_callables
from bocopt.core import Array, Dims
from bocopt.fingerprint import fingerprint
from bocopt.problems.callables import pace

SCENARIOS = np.abs(np.random.default_rng(0).normal(3.0, 1.0, (1024, 3)))
W = np.full(1024, 1.0 / 1024)


class Counted:
    """The distance from what is asked for, and how often it was asked."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, x: Array, z: Array, xi: Array) -> Any:
        self.calls += 1
        return np.abs(z - xi).sum(axis=-1)


def black_box(cost: Any, **options: Any) -> Any:
    return from_callables(
        solve=lambda x, xi: xi,
        cost=cost,
        dims=Dims(None, 3, 3),
        fallback=[0.0, 0.0, 0.0],
        alpha=None,
        **options,
    )


@pytest.mark.parametrize(
    ("options", "most"),
    [
        ({}, 11520),
        ({"scenarios": 64}, 26 * 64),
        ({"scenarios": 64, "candidates": 13}, 13 * 64),
        ({"scenarios": 64, "candidates": 13, "box": (0, 9), "moves": 25}, (13 + 25) * 64),
    ],
)
def test_a_budget_is_a_number_of_calls(options: Any, most: int) -> None:
    cost = Counted()
    solution = black_box(cost, **options).solve(SCENARIOS, W, np.zeros(0))
    assert 0.5 * most < cost.calls <= most
    again = black_box(Counted(), **options).solve(SCENARIOS, W, np.zeros(0))
    assert (again.z == solution.z).all()
    assert again.value == solution.value


def test_fewer_scenarios_are_another_configuration_and_nearly_as_good() -> None:
    whole, few = black_box(Counted()), black_box(Counted(), scenarios=64)
    assert fingerprint(whole) != fingerprint(few)
    z, fewer = (one.solve(SCENARIOS, W, np.zeros(0)).z for one in (whole, few))
    paid = [np.abs(each - SCENARIOS).sum(axis=-1).mean() for each in (z, fewer)]
    assert paid[0] < paid[1] < 1.05 * paid[0]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, r"takes up to 11520 of them, about 58 s\..*\(\.\.\., scenarios=32, candidates=13\)"),
        (
            {"box": (0, 9)},
            "takes up to 216320 of them, about 18 minutes.* scenarios=16, candidates=8, moves=5",
        ),
    ],
)
def test_a_slow_one_says_at_once_what_it_takes_and_what_to_type(
    options: Any, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a clock that says 5 ms a call; the calls that come after the warning are not made."""
    clock, cost = count(0.0, 0.005), Counted()
    monkeypatch.setattr(pace, "perf_counter", lambda: next(clock))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match=f"user's cost takes 5 ms: .*{said}"):
            black_box(cost, **options).solve(SCENARIOS, W, np.zeros(0))
    assert cost.calls == 32


def test_it_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, problem = count(0.0, 0.005), black_box(Counted())
    monkeypatch.setattr(pace, "perf_counter", lambda: next(clock))
    with pytest.warns(UserWarning, match="takes 5 ms") as told:
        first, again = (problem.solve(SCENARIOS, W, np.zeros(0)) for _ in range(2))
    assert len(told) == 1
    monkeypatch.undo()
    assert (first.z == again.z).all()
    assert (first.z == black_box(Counted()).solve(SCENARIOS, W, np.zeros(0)).z).all()


@pytest.mark.parametrize("vectorised", [False, True])
def test_a_quick_one_says_nothing(vectorised: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        black_box(Counted(), vectorised=vectorised).solve(SCENARIOS, W, np.zeros(0))
