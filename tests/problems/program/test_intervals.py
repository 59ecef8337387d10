"""A tape played for a box: the ends hold all that it gives for a point, and no more."""

import numpy as np
import pytest
from lengths import long

from bocopt.problems.program.intervals import Interval, enclosed
from bocopt.problems.program.tape import Depends, ParamExpr, Tape, play

RNG = np.random.default_rng(7)
FUNCTIONS = (
    *("negative", "absolute", "fabs", "square", "exp", "exp2", "expm1", "log", "log1p", "log2"),
    *("log10", "sqrt", "cbrt", "tanh", "sinh", "arctan", "arcsinh", "floor", "ceil", "rint"),
    *("trunc", "sign", "positive"),
)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_of_an_interval_holds_all_its_values_and_no_more(name: str) -> None:
    function = getattr(np, name)
    for low, high in np.sort(RNG.uniform(-3, 3, (40, 2)), axis=1):
        inside = np.append(RNG.uniform(low, high, 400), [low, high, np.clip(0.0, low, high)])
        tape = Tape()
        known = tape.ufunc(name, tape.input("xi", 1, Depends.OUTCOME))
        steps, _ = tape.needed([known])
        found = enclosed(steps, {"xi": Interval(np.array([low]), np.array([high]))}, 0)[-1]
        least, largest = found.low[0], found.high[0]
        with np.errstate(all="ignore"):
            values = function(inside)
        if np.isfinite(values).all():
            assert least <= values.min() <= least + 1e-12
            assert largest - 1e-12 <= values.max() <= largest
        else:
            assert (least, largest) == (-np.inf, np.inf)


UNARY = ("negative", "absolute", "square", "tanh", "sqrt", "floor", "sign", "logical_not")
BINARY = (
    *("add", "subtract", "multiply", "divide", "maximum", "minimum", "greater", "greater_equal"),
    *("less", "less_equal", "logical_and", "logical_or"),
)


def expression(tape: Tape, xi: ParamExpr, rng: np.random.Generator, depth: int) -> ParamExpr:
    """Some function of xi, with numbers and truth values in all places."""
    if depth == 0:
        return xi if rng.random() < 0.8 else tape.constant(rng.integers(-2, 3, 2))
    kind = rng.choice(["unary", "binary", "where", "power"], p=[0.25, 0.55, 0.1, 0.1])
    parts = [expression(tape, xi, rng, depth - 1) for _ in range(3)]
    if kind == "power":
        return tape.ufunc("power", parts[0], tape.constant(float(rng.integers(-2, 4))))
    if kind == "where":
        return tape.ufunc("where", *parts)
    if kind == "unary":
        return tape.ufunc(str(rng.choice(UNARY)), parts[0])
    return tape.ufunc(str(rng.choice(BINARY)), *parts[:2])


@pytest.mark.parametrize("many", [150, long(10_000)])
def test_intervals_hold_what_random_expressions_give(many: int) -> None:
    tested = 0
    for seed in range(many):
        rng, tape = np.random.default_rng(seed), Tape()
        with np.errstate(all="ignore"):
            known = expression(tape, tape.input("xi", 2, Depends.OUTCOME), rng, 3)
        steps, _ = tape.needed([known])
        low, high = np.sort(rng.choice([-2.0, -0.5, 0.0, 1.0, 2.5], (2, 2)), axis=0)
        inside = np.concatenate([rng.uniform(low, high, (200, 2)), [low, high]])
        try:
            with np.errstate(all="ignore"):
                played = play(steps, {"xi": inside}, 1)
        except TypeError:  # numpy subtracts no truth values
            continue
        if any(array.dtype == np.float16 for array in played):  # a function of truth values
            continue
        values = played[-1]
        ends = enclosed(steps, {"xi": Interval(low[None], high[None])}, 1)[-1]
        fine = np.isfinite(values)
        assert ((ends.low <= values) & (values <= ends.high))[fine].all(), seed
        tested += int(fine.any())
    assert tested > 0.8 * many
