"""Arguments are real numbers of a known kind, or a clear error: nothing is quietly converted."""

import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from bocopt import Decision, Ensemble, Replay, Solution, arguments, run
from bocopt.core import Array, IntArray
from bocopt.loop import play
from bocopt.policies import Constant
from bocopt.policies.baselines import Seeded
from bocopt.problems import Knapsack
from bocopt.streams import from_csv

PROBLEM = Knapsack(value=[12.0, 12.0], capacity=[8.0], salvage=[3.0])
X, XI = np.zeros(3), np.ones(2)


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        (np.array([True, False]), "bool"),
        ([True, False], "bool"),
        (np.array(["2020", "2021"], "M8[ns]"), "datetime64[ns]"),
        (np.array([1, 2], "m8[s]"), "timedelta64[s]"),
        (np.array([1.0, 2.0 + 0j]), "complex128"),
        (np.array(["1.5", "2"]), "<U3"),
        (["1.5", "2"], "<U3"),
        (np.array([1.0, 2.0], object), "object"),
        ([1.0, None], "object"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_real_number_is_refused(values: Any, dtype: str) -> None:
    message = f"The 'x' parameter of f must be an array of numbers. Got {values!r} of dtype {dtype}"
    with pytest.raises(ValueError, match=re.escape(message)):
        arguments.array("f", "x", values, (2,))


def test_a_gap_is_no_number() -> None:
    gap = np.ma.array([1.0, 2.0], mask=[False, True])
    with pytest.raises(ValueError, match="'x' parameter of f must be an array without masked"):
        arguments.array("f", "x", gap, (2,))
    with pytest.raises(ValueError, match="'x' parameter of f must be an array without masked"):
        arguments.numbers("f", "x", gap, "(-inf, inf)")
    whole = arguments.array("f", "x", np.ma.array([1.0, 2.0]), (2,))
    assert type(whole) is np.ndarray
    assert whole.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    "values",
    [[1, 2], (1.0, 2), [np.float32(1), 2], np.array([1, 2], np.uint8), np.array([1, 2], ">f8")],
    ids=repr,
)
def test_real_numbers_of_any_size_are_taken(values: Any) -> None:
    found = arguments.array("f", "x", values, (2,))
    assert found.dtype == np.float64
    assert found.tolist() == [1.0, 2.0]


def test_an_array_is_not_copied() -> None:
    given = np.ones(2)
    assert arguments.array("f", "x", given, (2,)) is given


def test_numbers_too_large_for_float64_are_infinite() -> None:
    with pytest.raises(ValueError, match="'x' parameter of f must be finite"):
        arguments.array("f", "x", np.full(2, np.finfo(np.longdouble).max), (2,))


@pytest.mark.parametrize("value", [np.float32(0.5), np.float16(0.5), np.longdouble(0.5)], ids=repr)
def test_a_number_of_any_size_is_taken(value: Any) -> None:
    assert arguments.number("f", "x", value, "(0, inf)") == 0.5


@pytest.mark.parametrize("value", [np.float32("inf"), np.float16("inf"), np.float32("nan")])
def test_an_infinite_number_of_any_size_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="'x' parameter of f must be a number in"):
        arguments.number("f", "x", value, "(0, inf)")


def test_the_least_small_integer_is_a_number() -> None:
    assert arguments.integer("f", "x", np.int8(-128), "(-inf, inf)") == -128


@pytest.mark.parametrize(
    "values",
    [
        np.array([1, 2], "m8[ns]"),
        np.array([True, False]),
        [True, 1.0],
        b"ab",
        {1.0: "a", 2.0: "b"},
        {1.0, 2.0},
    ],
    ids=repr,
)
def test_a_sequence_of_other_things_is_refused(values: Any) -> None:
    with pytest.raises(ValueError, match="'z' parameter of Constant must be"):
        Constant(values)


@pytest.mark.parametrize("seeds", [2**63, 2**64, [[1], [1, 2]], np.ma.array([1], mask=[True])])
def test_seeds_that_do_not_fit_are_refused(seeds: Any) -> None:
    with pytest.raises(ValueError, match="'seeds' parameter of run must be one or more integers"):
        arguments.seeds_of("run", seeds)


class Mine:
    """A user's policy that decides whatever it was given."""

    def __init__(self, z: Any) -> None:
        self.z = z

    def init(self, seeds: IntArray) -> Seeded:
        return Seeded(np.asarray(seeds))

    def decide(self, state: Seeded, t: int, x: Array) -> Decision:
        nothing = np.array(0.0)
        return Decision(Solution(self.z, nothing, np.array(3), nothing))

    def learn(self, state: Seeded, t: int, x: Array, decision: Decision, xi: Array) -> Seeded:
        assert decision.solution.z.dtype == np.float64
        return state


@pytest.mark.parametrize(
    ("z", "expected"),
    [
        (np.array([1.0, np.nan]), "finite. Got nan at [1]"),
        (np.array([1.0, -np.inf]), "finite. Got -inf at [1]"),
        (np.ones(3), "an array of shape (..., 2). Got (3,)"),
        (np.array([True, False]), "an array of numbers. Got array([ True, False]) of dtype bool"),
        (None, "an array of numbers. Got None of dtype object"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_a_policy_decides_is_checked(z: Any, expected: str) -> None:
    message = f"The 'z' that Mine.decide returned must be {expected} instead."
    with pytest.raises(ValueError, match=re.escape(message)):
        play(Mine(z), PROBLEM, Seeded(np.array(0)), 0, X, XI)
    with pytest.raises(ValueError, match=re.escape(message)):
        list(run(Mine(z), Replay([X], [XI]), problem=PROBLEM))


def test_a_decision_of_integers_is_taken() -> None:
    stage, _ = play(Mine([1, 2]), PROBLEM, Seeded(np.array(0)), 0, X, XI)
    assert stage.decision.solution.z.tolist() == [1.0, 2.0]


def test_something_else_than_a_decision_is_refused() -> None:
    class Bare(Mine):
        def decide(self, state: Seeded, t: int, x: Array) -> Any:
            return np.ones(2)

    message = "The 'decision' that Bare.decide returned must be a Decision. Got array([1., 1.])"
    with pytest.raises(ValueError, match=re.escape(message)):
        play(Bare(None), PROBLEM, Seeded(np.array(0)), 0, X, XI)


@pytest.mark.parametrize("path", [True, None, b"a.csv", 1.5], ids=repr)
def test_a_file_is_named_by_its_path(path: Any) -> None:
    with pytest.raises(ValueError, match="'path' parameter of from_csv must be a path"):
        from_csv(path, context=["x"], outcome=["y"])


def test_a_descriptor_is_left_open(tmp_path: Path) -> None:
    with open(tmp_path / "a.csv", "w+") as file:
        wrong: Any = file.fileno()
        with pytest.raises(ValueError, match="'path' parameter of from_csv must be a path"):
            from_csv(wrong, context=["x"], outcome=["y"])
        assert file.read() == ""


class Pair(NamedTuple):
    left: int
    right: int


def test_an_instance_of_a_class_or_of_a_protocol() -> None:
    arguments.kind("f", "x", Pair(1, 2), Pair)
    with pytest.raises(ValueError, match="'x' parameter of f must be a Pair"):
        arguments.kind("f", "x", 3, Pair)
    with pytest.raises(ValueError, match="'x' parameter of f must be a Pair"):
        arguments.kind("f", "x", Pair, Pair)
    with pytest.raises(ValueError, match="'x' parameter of f must be an Ensemble"):
        arguments.kind("f", "x", 3, Ensemble)


def test_weights_of_no_instance_are_no_error() -> None:
    assert arguments.weights("f", np.zeros((0, 3)), 3).shape == (0, 3)
