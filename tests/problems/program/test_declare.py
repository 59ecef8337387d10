"""Declarations: what is refused and how, and that what is accepted is plain data."""

import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bocopt import (
    Chance,
    CVaR,
    Expectation,
    Sense,
    WorstCase,
    absolute,
    binary,
    integer,
    maximise,
    minimise,
    pos,
    program,
    real,
    recourse,
)
from bocopt.fingerprint import fingerprint
from bocopt.problems.program import Program
from bocopt.problems.program.expression import DeclarationError

RNG = np.random.default_rng(0)
NONE = np.zeros(0)
WRONG: Any = 3

BAD: dict[str, tuple[Callable[..., Any], str]] = {
    "z*z": (lambda xi, z: minimise((z * z).sum()), "the product of two decisions is not linear"),
    "z@z": (lambda xi, z: minimise(z @ z), "the product of two decisions is not linear"),
    "z**2": (lambda xi, z: minimise((z**2).sum()), "np.power of a decision is not linear"),
    "exp": (lambda xi, z: minimise(np.exp(z).sum()), "np.exp of a decision is not linear"),
    "math": (lambda xi, z: minimise(math.exp(z[0])), "raised TypeError: must be real number"),
    "1/z": (lambda xi, z: minimise((1 / z).sum()), "divided by a decision is not linear"),
    "chained": (lambda xi, z: (minimise(z.sum()), 0 <= z <= 1), "a chained comparison as two rows"),
    "if": (lambda xi, z: minimise(z[1] if z[0] <= 1 else z[0]), "neither true nor false"),
    "if of xi": (lambda xi, z: minimise(z[1] if xi[0] <= 1 else z[0]), "use np.where"),
    "and": (lambda xi, z: (minimise(z[0]), z[0] <= 1 and z[1] <= 1), "neither true nor false"),
    "min": (lambda xi, z: minimise(min(z)), "the builtin min and max"),
    "max": (lambda xi, z: minimise(max(z)), "the builtin min and max"),
    "strict": (lambda xi, z: (minimise(z.sum()), z < 1), "rows are <=, >= or =="),
    "-pos": (lambda xi, z: minimise(-pos(xi - z).sum()), "which is not convex"),
    "max pos": (lambda xi, z: maximise(pos(xi - z).sum()), "which is not convex"),
    "-abs": (lambda xi, z: minimise(-absolute(z).sum()), "which is not convex"),
    "minimum": (lambda xi, z: minimise(np.minimum(z, xi).sum()), "which is not convex"),
    "pos >=": (lambda xi, z: (minimise(z.sum()), pos(z - xi) >= 1), "which is not convex"),
    "pos ==": (lambda xi, z: (minimise(z.sum()), pos(z - xi) == 1), "in a row with =="),
    "-pos inside": (lambda xi, z: minimise(pos(1 - pos(z)).sum()), "which is not convex"),
    "length": (lambda xi, z: minimise(np.ones(3) @ z), r"shapes \(3,\) and \(2,\)"),
    "shape": (lambda xi, z: minimise((np.ones(3) * z).sum()), "shape mismatch"),
    "index": (lambda xi, z: minimise(z[5]), "raised IndexError: index 5 is out of bounds"),
    "array": (lambda xi, z: minimise(np.array([z[0], z[1]]).sum()), "use np.stack"),
    "norm": (lambda xi, z: minimise(np.linalg.norm(z)), "np.norm is not supported"),
    "no objective": (lambda xi, z: z <= 1, "must return one minimise"),
    "nothing": (lambda xi, z: None, "must return one minimise"),
    "two": (lambda xi, z: (minimise(z[0]), minimise(z[1])), "must return one .* not 2"),
    "vector": (lambda xi, z: minimise(z), "did you mean its sum"),
    "number": (lambda xi, z: minimise(3), "takes an expression of the decisions, not 3"),
    "row of xi": (lambda xi, z: (minimise(z[0]), xi <= 1), "a decision takes part in"),
    "truth": (lambda xi, z: (minimise(z[0]), True), "must return an objective and rows"),
    "unknown": (lambda xi, y: minimise(y), "asks for 'y', which is neither x, xi nor declared"),
    "unused": (lambda xi: minimise(xi), "does not take 'z', which is declared"),
    "nan": (lambda xi, z: minimise((z * [1, np.nan]).sum()), "a coefficient is not finite"),
    "nan limit": (lambda xi, z: (minimise(z[0]), z <= np.nan), "a coefficient is not finite"),
    "x": (lambda x, xi, z: minimise((z + x).sum()), "is x= declared"),
    "x[0]": (lambda x, xi, z: minimise(z[0] * x[0]), "x= is not declared"),
    "raises": (lambda xi, z: 1 / 0, "raised ZeroDivisionError: division by zero"),
    "impure": (lambda xi, z: minimise(RNG.random(2) @ z), "is not pure"),
    "word": (lambda xi, z: minimise(z @ "ab"), "numbers or decisions were expected, not 'ab'"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_declaration_says_what_is_wrong(name: str) -> None:
    function, message = BAD[name]
    with pytest.raises(ValueError, match=message) as caught:
        program(xi=2, z=real(2))(function)
    assert str(caught.value).startswith("The program '<lambda>' cannot be declared: ")


def test_an_error_names_its_line() -> None:
    with pytest.raises(ValueError, match=r"line \d+: return minimise\(z @ z\)"):

        @program(xi=1, z=real(2))
        def squares(xi: Any, z: Any) -> Any:
            return minimise(z @ z)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: integer(3, upper=np.inf), "finite for integers"),
        (lambda: integer(3, lower=-np.inf, upper=2), "finite for integers"),
        (lambda: integer(3, lower=0.2, upper=0.8), "an integer lies between"),
        (lambda: real(3, lower=2, upper=1), "at least lower = 2.0. Got 1.0"),
        (lambda: real(3, upper=np.nan), "numbers, not NaN"),
        (lambda: real(3, upper=[1, 2]), r"numbers of shape \(3,\)"),
        (lambda: real(0), "'shape' parameter of real"),
        (lambda: real((1000, 1000)), "at most 100000 numbers"),
        (lambda: recourse(2, integer=WRONG), "True or False"),
        (lambda: program(xi=2, z=WRONG), "'z' parameter of program"),
        (lambda: program(xi=2), "needs a variable"),
        (lambda: program(xi=2, y=recourse(2)), "needs a variable that is decided before"),
        (lambda: program(xi=0, z=real(2)), "'xi' parameter of program"),
        (lambda: program(xi=2, x=0, z=real(2)), "'x' parameter of program"),
        (lambda: program(xi=2, z=real(2), chance=1.5), "'chance' parameter of program"),
        (lambda: program(xi=2, z=real(2), chance=0.9, risk=Chance(0.8)), "said once"),
        (lambda: program(xi=2, z=real(2), risk=WRONG), "'risk' parameter of program"),
        (lambda: program(xi=2, z=real(2), gap=-1), "'gap' parameter of program"),
        (lambda: program(xi=2, z=real(2), node_limit=0), "'node_limit' parameter of program"),
        (lambda: program(xi=2, z=real(2), time_limit=0), "'time_limit' parameter of program"),
        (lambda: program(xi=2, z=real(2), tolerance=np.nan), "'tolerance' parameter of program"),
        (lambda: program(xi=2, z=real(2), fallback=[-1, 0])(_plain), "within the bounds"),
        (lambda: program(xi=2, z=real(2), fallback=[1])(_plain), "'fallback' parameter"),
        (
            lambda: program(xi=2, z=real(2), infeasible_objective=np.inf)(_plain),
            "'infeasible_objective' parameter",
        ),
        (
            lambda: program(xi=2, z=real(2), objective_bounds=(1, 0))(_plain),
            "the smaller one first",
        ),
        (lambda: program(xi=2, z=real(2))(max), "declared by a function"),
    ],
)
def test_bad_arguments_are_named(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_a_row_may_have_only_zeros() -> None:
    @program(xi=1, z=real(2, upper=9))
    def free(xi: Any, z: Any) -> Any:
        return minimise(z.sum()), np.zeros(2) @ z <= xi[0], np.zeros((2, 2)) @ z == 0

    assert free.solve(np.array([[1.0], [0.0]]), np.full(2, 0.5), NONE).z.tolist() == [0.0, 0.0]
    assert free.violation(NONE, np.ones(2), np.array([-1.0])) > 0


def test_a_function_may_have_defaults_of_its_own() -> None:
    @program(xi=1, z=real(1, upper=9))
    def priced(xi: Any, z: Any, price: float = 3.0) -> Any:
        return minimise(price * z[0])

    assert priced.cost(NONE, np.ones(1), np.ones(1)) == 3.0


def _plain(xi: Any, z: Any) -> Any:
    return minimise(z.sum())


def test_signs_that_depend_on_xi_are_checked_when_xi_is_known() -> None:
    @program(xi=2, z=real(2, upper=9))
    def priced(xi: Any, z: Any) -> Any:
        return minimise(xi @ pos(z - 1) - z.sum())

    assert priced.cost(NONE, np.ones(2), np.ones(2)) == -2
    for call in (
        lambda xi: priced.cost(NONE, np.ones(2), xi),
        lambda xi: priced.form(NONE, xi[None]),
    ):
        with pytest.raises(ValueError, match="not convex"):
            call(np.array([1.0, -1.0]))


def test_coefficients_that_are_not_finite_for_an_xi_are_refused() -> None:
    @program(xi=1, z=real(2, upper=9))
    def shared(xi: Any, z: Any) -> Any:
        return minimise(z.sum() / xi[0])

    with np.errstate(divide="ignore"), pytest.raises(ValueError, match="'shared' is not finite"):
        shared.solve(np.zeros((1, 1)), np.ones(1), NONE)


def made(price: float = 2.0, upper: float = 9.0, **options: Any) -> Program:
    @program(xi=2, order=real(2, upper=upper), units=integer((2, 2), upper=3), **options)
    def shop(xi: Any, order: Any, units: Any) -> Any:
        sold = np.minimum(order, xi).sum()
        return maximise(price * sold - order.sum() - units.sum()), order <= units.sum(axis=1)

    return shop


def test_a_program_is_data() -> None:
    one, again = made(), pickle.loads(pickle.dumps(made()))
    assert fingerprint(one) == fingerprint(again) == fingerprint(made())
    xi = np.array([[1.0, 2.0], [3.0, 0.5]])
    assert (
        one.solve(xi, np.full(2, 0.5), NONE).z == again.solve(xi, np.full(2, 0.5), NONE).z
    ).all()


def test_a_fingerprint_is_of_what_a_program_says() -> None:
    def another(xi: Any, order: Any, units: Any) -> Any:  # other words for the same
        return (
            maximise(2.0 * np.minimum(order, xi).sum() - order.sum() - units.sum()),
            order <= units.sum(axis=1),
        )

    same = program(xi=2, order=real(2, upper=9), units=integer((2, 2), upper=3))(another)
    assert fingerprint(same) == fingerprint(made())
    others = [
        made(),
        made(price=3.0),
        made(upper=8.0),
        made(chance=0.9),
        made(risk=CVaR(0.9)),
        made(infeasible_objective=0.0),
        made(fallback=[1, 1, 0, 0, 0, 0]),
        made(gap=0.01),
        made(objective_bounds=(-9, 99)),
    ]
    assert len({fingerprint(other) for other in others}) == len(others)


def test_parts_of_a_decision_have_names_and_shapes() -> None:
    z = np.arange(12.0).reshape(2, 6)
    parts = made().named(z)
    assert {name: part.shape for name, part in parts.items()} == {
        "order": (2, 2),
        "units": (2, 2, 2),
    }
    assert parts["units"][1].tolist() == [[8, 9], [10, 11]]


def test_a_number_alone_is_a_part_too() -> None:
    @program(xi=1, staff=real(upper=9), spare=real(upper=9))
    def desk(xi: Any, staff: Any, spare: Any) -> Any:
        return minimise(staff + spare), staff + spare >= xi[0]

    parts = desk.named(np.array([3.0, 4.0]))
    assert {name: (part.shape, float(part)) for name, part in parts.items()} == {
        "staff": ((), 3.0),
        "spare": ((), 4.0),
    }


def _desk(extra: Any, otherwise: float | None = None, equal: bool = False, **risk: Any) -> Program:
    @program(xi=2, start=integer(2, upper=9), extra=extra, infeasible_objective=otherwise, **risk)
    def desk(xi: Any, start: Any, extra: Any) -> Any:
        covered = start + extra
        return minimise(start.sum() + 3 * extra.sum()), covered == xi if equal else covered >= xi

    return desk


@pytest.mark.parametrize("risk", [{"chance": 0.9}, {"risk": CVaR(0.5, 0.9)}])
@pytest.mark.parametrize(
    ("extra", "equal"),
    [(recourse(2, upper=4), False), (recourse(2, upper=[4, np.inf]), False), (recourse(2), True)],
)
def test_a_chance_whose_recourse_may_fail_needs_a_payment(
    risk: Any, extra: Any, equal: bool
) -> None:
    with pytest.raises(
        DeclarationError, match=r"'desk' cannot .* chance of 0.9 .* infeasible_objective=\.\.\."
    ):
        _desk(extra, equal=equal, **risk)
    assert _desk(extra, 40.0, equal, **risk).cost(NONE, np.zeros(2), np.full(2, 50.0)) in (40, 300)


def test_a_recourse_that_is_always_possible_needs_no_payment() -> None:
    _desk(recourse(2), chance=0.9)
    _desk(recourse(2, lower=-np.inf), equal=True, chance=0.9)
    _desk(recourse(2, upper=4))  # all rows hold in all scenarios


def test_risks_and_senses_are_what_was_declared() -> None:
    assert made().risk == Chance(1.0)
    assert made(risk=Expectation()).risk == Chance(1.0)
    assert made(chance=0.8).risk == Chance(0.8)
    assert made(risk=CVaR(0.9), chance=0.8).risk == CVaR(0.9, alpha=0.8)
    assert made(risk=WorstCase()).risk == WorstCase(alpha=1.0)
    assert made().sense is Sense.MAXIMISE
    assert made().fallback == (0.0,) * 6
    assert program(xi=2, z=binary())(_plain).dims.z == 1
