"""`from_cvxpy`: a problem from one function of one instance, in the notation of cvxpy."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from bocopt import arguments
from bocopt.core import Dims, Risk
from bocopt.problems.conic.notation import Declaration, Instance, cvxpy, leaf, plainly
from bocopt.problems.conic.problem import CLARABEL, Conic
from bocopt.problems.program.declare import asked
from bocopt.problems.program.expression import DeclarationError
from bocopt.problems.risk import tail_means_of, with_alpha

__all__ = ["from_cvxpy"]


def from_cvxpy(
    *,
    xi: Any,
    x: Any = None,
    chance: float | None = None,
    risk: Risk | None = None,
    infeasible_objective: float | None = None,
    fallback: Sequence[float] | None = None,
    tolerance: float = 1e-6,
    gap: float = 1e-6,
    solver: str | None = None,
    options: Mapping[str, Any] | None = None,
    **variables: Any,
) -> Callable[[Callable[..., Any]], Conic]:
    """Declare a convex program by a function that returns its objective and its constraints.

    The function is written for one instance, with cvxpy: x and xi are a `cvxpy.Parameter`, each
    variable is a `cvxpy.Variable`. A length stands for a vector of any numbers; where signs, bounds
    or shapes matter, give a `cvxpy.Parameter(...)` or `cvxpy.Variable(...)` that shows them.
    Variables that the function makes itself are decided once xi is known: each scenario has its
    own. Under scenarios, the problem minimises the `risk` of the cost (`Expectation()`,
    `CVaR(beta)`, `WorstCase()`), and the constraints hold in all of them.

    - `infeasible_objective`: what is paid (or earned) in place of the objective where the truth
      violates a constraint; nothing is added to it. Without it, the objective is paid as it is
    - `fallback`: z where no feasible one is found; without, what is nearest to zero
    - `tolerance`: by which a constraint may be violated: larger where its numbers are large
    - `gap`: relative: what is so near the solver's bound is called optimal
    - `solver`: one of `cvxpy.installed_solvers()`; without, Clarabel, or HiGHS for integers
    - `options`: of the solver, by its own names

    >>> import cvxpy as cp
    >>> @from_cvxpy(xi=2, hold=cp.Variable(2, nonneg=True))
    ... def nearest(xi, hold):
    ...     return cp.Minimize(cp.sum_squares(hold - xi)), cp.sum(hold) == 1
    >>> scenarios = np.array([[1.0, 0.0], [0.0, 0.5]])
    >>> nearest.solve(scenarios).z.round(5)
    array([0.625, 0.375])
    """
    cvxpy()
    context = None if x is None else leaf("x", x, "Parameter")
    outcome = leaf("xi", xi, "Parameter")
    tolerance = arguments.number("from_cvxpy", "tolerance", tolerance, "(0, 1]")
    gap = arguments.number("from_cvxpy", "gap", gap, "[0, 1]")
    decided = {name: leaf(name, given, "Variable") for name, given in variables.items()}
    if not decided:
        raise DeclarationError("A program needs a variable that is decided before xi is known.")
    risk = _risk(risk, chance)
    used = _solver(solver, decided)

    def declare(function: Callable[..., Any]) -> Conic:
        """Return the convex problem that a function declares."""
        name = getattr(function, "__name__", "program")
        declared = Declaration(function, context, outcome, decided)
        try:
            asked(function, {"x": None, "xi": None, **decided})
            one = declared.instance()
            _check(one, declared.instance(), used)
        except DeclarationError as error:
            raise DeclarationError(f"The program {name!r} cannot be declared: {error}.") from error
        return Conic(
            name=name,
            declared=declared,
            dims=Dims(
                x=None if context is None else context.size, z=declared.size, xi=outcome.size
            ),
            sense=one.sense,
            risk=risk,
            infeasible_objective=_payment(infeasible_objective, one),
            fallback=_fallback(fallback, declared),
            tolerance=tolerance,
            gap=gap,
            solver=used,
            options=dict(options or {}),
        )

    return declare


def _check(one: Instance, other: Instance, solver: str) -> None:
    """Check that cvxpy and the solver accept the program, and that all symbols are its own."""
    cp, problem = cvxpy(), one.problem()
    own = {parameter.id for parameter in one.parameters}
    for parameter in problem.parameters():
        if parameter.id not in own:
            raise DeclarationError(
                f"it uses the parameter {parameter.name()!r}, which is neither x nor xi: "
                "write a number instead"
            )
    shared = {variable.id for variable in one.later} & {variable.id for variable in other.later}
    for variable in one.later:
        if variable.id in shared:
            raise DeclarationError(
                f"it uses the variable {variable.name()!r} from outside: name it in from_cvxpy if "
                "it is decided before xi is known, or make it inside the function"
            )
    try:
        problem.get_problem_data(solver, ignore_dpp=True)
    except cp.error.ParameterError:  # the parameters have no values yet: all else was checked
        pass
    except cp.error.DCPError as error:
        raise DeclarationError(
            f"cvxpy does not see that it is convex. {plainly(error)} (where a sign decides, say "
            "so: xi=cvxpy.Parameter(2, nonneg=True))"
        ) from error
    except cp.error.SolverError as error:
        raise DeclarationError(f"{solver} cannot solve it. {plainly(error)}") from error


def _solver(solver: str | None, variables: Mapping[str, Any]) -> str:
    if solver is None:
        return "HIGHS" if any(one.integer for one in variables.values()) else CLARABEL
    installed = cvxpy().installed_solvers()
    if not isinstance(solver, str) or solver.upper() not in installed:
        raise arguments.wrong("from_cvxpy", "solver", f"one of {', '.join(installed)}", solver)
    return solver.upper()


def _risk(risk: Risk | None, chance: float | None) -> Risk:
    """The risk with alpha 1: what holds in some scenarios only is no convex program."""
    if risk is not None:
        tail_means_of(risk, "from_cvxpy")
    alpha = None if risk is None else risk.alpha
    for name, share in (("chance", chance), ("risk.alpha", alpha)):
        if share not in (None, 1):
            raise ValueError(
                f"The '{name}' parameter of from_cvxpy must be 1: constraints that hold in a share "
                f"of the scenarios only are not convex. Got {share!r} instead. Where they are "
                "linear, use program(chance=...), else from_callables(alpha=...)."
            )
    return with_alpha(risk, 1.0, "from_cvxpy")


def _payment(infeasible_objective: float | None, one: Instance) -> float | None:
    if infeasible_objective is None:
        return None
    paid = arguments.number(
        "from_cvxpy", "infeasible_objective", infeasible_objective, "[-1e100, 1e100]"
    )
    return one.sense.sign * paid + 0.0


def _fallback(fallback: Sequence[float] | None, declared: Declaration) -> tuple[float, ...]:
    if fallback is None:
        return tuple(declared.fitted(np.zeros(declared.size)).tolist())
    return arguments.numbers("from_cvxpy", "fallback", fallback, "(-inf, inf)", declared.size)
