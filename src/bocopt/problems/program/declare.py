"""`program`: a problem from one function of one instance, in the notation of numpy."""

import inspect
import linecache
from collections.abc import Callable, Iterator, Sequence
from types import FunctionType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bocopt import arguments
from bocopt.core import Dims, Risk, Sense
from bocopt.fingerprint import fingerprint
from bocopt.problems.program import convexity
from bocopt.problems.program.blueprint import Blueprint, build_blueprint, surely_held
from bocopt.problems.program.expression import (
    ConstraintRow,
    DeclarationError,
    Expression,
    Objective,
    Recording,
)
from bocopt.problems.program.problem import Program
from bocopt.problems.program.tape import Depends
from bocopt.problems.program.variables import Variable
from bocopt.problems.risk import require_solvable, with_alpha

__all__ = ["program"]


def program(
    *,
    xi: int,
    x: int | None = None,
    chance: float | None = None,
    risk: Risk | None = None,
    infeasible_objective: float | None = None,
    objective_bounds: tuple[float, float] = (-np.inf, np.inf),
    support: tuple[ArrayLike, ArrayLike] | None = None,
    fallback: Sequence[float] | None = None,
    tolerance: float = 1e-6,
    gap: float = 1e-6,
    node_limit: int = 1000,
    time_limit: float | None = None,
    **variables: Variable,
) -> Callable[[Callable[..., Any]], Program]:
    """Declare a program by a function that returns its objective and its rows.

    The function is written for one instance. It is run once, with symbols for x (of length `x`), xi
    (of length `xi`) and each variable (`real`, `integer`, `binary`, `recourse`); what depends on xi
    is found out. Under scenarios, the problem minimises the `risk` of the cost (`Expectation()`,
    `CVaR(beta)`, `WorstCase()`), and the rows hold in scenarios of weight `chance` or more (all).

    - `infeasible_objective`: what is paid (or earned) in place of the objective where the truth
      violates a row; nothing is added to it: a penalty on top is a part of the objective. Without
      it, the objective is paid as it is
    - `objective_bounds`: two numbers that the objective, or what takes its place, surely lies
      between: certificates of what decisions cost need them where nothing narrower follows from
      `support`
    - `support`: two ends that xi lies between, each a number or one a component: learners draw no
      scenario outside, and the range of what a decision costs is derived from it
    - `fallback`: z where no feasible one is found; without, what is nearest to zero
    - `tolerance`: by which a row of continuous variables may be violated
    - `gap`: relative: what is proved to be so near the optimum is called optimal
    - `node_limit`: of branch and bound; then the best z found, with status LIMIT and its gap
    - `time_limit`: seconds for one decision, by the clock: the answer may then depend on the
      machine

    >>> from bocopt import integer, minimise
    >>> @program(xi=2, chance=0.9, start=integer(2, upper=60))
    ... def staffing(x, xi, start):
    ...     return minimise(start.sum()), start >= xi
    >>> scenarios = np.array([[10.0, 5.0], [12.0, 4.0]])
    >>> staffing.solve(scenarios).z
    array([12.,  5.])
    """
    arguments.integer("program", "xi", xi, "[1, inf)")
    if x is not None:
        arguments.integer("program", "x", x, "[1, inf)")
    tolerance = arguments.number("program", "tolerance", tolerance, "[0, 1]")
    gap = arguments.number("program", "gap", gap, "[0, 1]")
    node_limit = arguments.integer("program", "node_limit", node_limit, "[1, 1000000000]")
    if time_limit is not None:
        time_limit = arguments.number("program", "time_limit", time_limit, "(0, inf)")
    for name, variable in variables.items():
        if not isinstance(variable, Variable):
            known = "real(...), integer(...), binary(...) or recourse(...)"
            raise arguments.wrong("program", name, known, variable)
    ends = None if support is None else arguments.box("program", "support", support, xi)
    asked = _risk(risk, chance)
    ordered = dict(sorted(variables.items(), key=lambda item: item[1].later))
    if not ordered or next(iter(ordered.values())).later:
        raise DeclarationError("A program needs a variable that is decided before xi is known.")

    def declare(function: Callable[..., Any]) -> Program:
        """Return the program that a function declares."""
        name = getattr(function, "__name__", "program")
        try:
            blueprint = _traced(function, x, xi, ordered)
            if fingerprint(_traced(function, x, xi, ordered)) != fingerprint(blueprint):
                raise DeclarationError(
                    "its function is not pure: run twice, it declared two different programs"
                )
            convexity.convex_uses(blueprint)
            _check_payment(blueprint, asked, infeasible_objective)
            return Program(
                name=name,
                blueprint=blueprint,
                dims=Dims(x=x, z=blueprint.size, xi=xi),
                risk=asked,
                infeasible_objective=_payment(infeasible_objective, blueprint.sense),
                objective_bounds=_between(objective_bounds, blueprint.sense),
                support=ends,
                fallback=_fallback(fallback, blueprint),
                tolerance=tolerance,
                gap=gap,
                node_limit=node_limit,
                time_limit=time_limit,
            )
        except DeclarationError as error:
            raise DeclarationError(f"The program {name!r} cannot be declared: {error}.") from error

    return declare


def _traced(
    function: Callable[..., Any], x: int | None, xi: int, variables: dict[str, Variable]
) -> Blueprint:
    """Run the function with symbols."""
    recording = Recording(sum(variable.size for variable in variables.values()))
    symbols: dict[str, Any] = {
        "x": None if x is None else recording.known(recording.tape.input("x", x, Depends.CONTEXT)),
        "xi": recording.known(recording.tape.input("xi", xi, Depends.OUTCOME)),
    }
    first = 0
    for name, variable in variables.items():
        symbols[name] = recording.decision(first, variable.shape)
        first += variable.size
    returned = list(flat(called(function, asked(function, symbols), x is None)))
    return build_blueprint(recording, variables, *_objective_and_rows(returned))


def _objective_and_rows(returned: Sequence[Any]) -> tuple[Objective, list[ConstraintRow]]:
    objectives = [part for part in returned if isinstance(part, Objective)]
    if len(objectives) != 1:
        raise DeclarationError(
            f"its function must return one minimise(...) or maximise(...), not {len(objectives)}"
        )
    rows = []
    for part in returned:
        if isinstance(part, ConstraintRow):
            rows.append(part)
        elif not isinstance(part, Objective):
            raise DeclarationError(
                f"its function must return an objective and rows of decisions, not {_shown(part)}"
            )
    return objectives[0], rows


def asked(function: Callable[..., Any], symbols: dict[str, Any]) -> dict[str, Any]:
    """Return the symbols that the function takes, by name."""
    if not isinstance(function, FunctionType):
        raise DeclarationError(f"it is declared by a function, not by {function!r}")
    taken = inspect.signature(function).parameters
    for name, parameter in taken.items():
        if name not in symbols and parameter.default is parameter.empty:
            raise DeclarationError(
                f"its function asks for {name!r}, which is neither x, xi nor declared: "
                f"there are {', '.join(symbols)}"
            )
    for name in symbols:
        if name not in taken and name != "x":
            raise DeclarationError(f"its function does not take {name!r}, which is declared")
    return {name: symbols[name] for name in taken if name in symbols}


def called(function: Callable[..., Any], given: dict[str, Any], no_context: bool) -> Any:
    """Run the function; an error says in which line."""
    try:
        return function(**given)
    except DeclarationError as error:
        raise DeclarationError(f"{error} ({_line(function, error)})") from error
    except Exception as error:
        hint = ", and x= is not declared" if no_context and "None" in str(error) else ""
        raise DeclarationError(
            f"its function raised {type(error).__name__}: {error} ({_line(function, error)}{hint})"
        ) from error


def _line(function: Any, error: Exception) -> str:
    """Return the line of the function's file in which an error came up."""
    trace, line = error.__traceback__, 0
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == function.__code__.co_filename:
            line = trace.tb_lineno
        trace = trace.tb_next
    text = linecache.getline(function.__code__.co_filename, line).strip()
    return f"line {line}: {text}" if text else f"line {line}"


def flat(returned: Any) -> Iterator[Any]:
    """Yield the parts of what a function returned, out of nested tuples and lists."""
    if isinstance(returned, tuple | list) and not isinstance(returned, Objective | ConstraintRow):
        for part in returned:
            yield from flat(part)
    else:
        yield returned


def _shown(part: Any) -> str:
    if isinstance(part, Expression):
        return "an expression: a row is a comparison that a decision takes part in"
    return repr(part)


def _risk(risk: Risk | None, chance: float | None) -> Risk:
    """The risk with its alpha: rows hold in all scenarios unless something else is said."""
    if chance is not None:
        arguments.number("program", "chance", chance, "(0, 1]")
    if risk is not None:
        require_solvable(risk)
    own = None if risk is None else risk.alpha
    if chance is not None and own is not None:
        raise arguments.wrong("program", "chance", "said once: the risk has an alpha too", chance)
    alpha = chance if own is None else own
    return with_alpha(risk, 1.0 if alpha is None else float(alpha))


def _payment(infeasible_objective: float | None, sense: Sense) -> float | None:
    if infeasible_objective is None:
        return None
    return (
        sense.sign
        * arguments.number(
            "program", "infeasible_objective", infeasible_objective, "[-1e100, 1e100]"
        )
        + 0.0
    )


def _between(objective_bounds: tuple[float, float], sense: Sense) -> tuple[float, float]:
    ends = np.asarray(objective_bounds)
    if ends.shape != (2,) or ends.dtype.kind not in "if" or not ends[0] < ends[1]:
        raise arguments.wrong(
            "program", "objective_bounds", "two numbers, the smaller one first", objective_bounds
        )
    low, high = sorted((sense.sign * ends).tolist())
    return low, high


def _check_payment(blueprint: Blueprint, risk: Risk, infeasible_objective: float | None) -> None:
    """Check that rows that may fail have a price: by recourse, or by `infeasible_objective`."""
    if risk.alpha == 1 or infeasible_objective is not None or not blueprint.recourse:
        return
    if not surely_held(blueprint):
        raise DeclarationError(
            f"its rows need to hold with a chance of {risk.alpha:g} only, and where one does not, "
            "no recourse is feasible and nothing says what is paid: say by "
            "infeasible_objective=... what is paid then in place of the objective, or give each "
            "row that depends on xi a recourse without a bound that makes up for what it lacks"
        )


def _fallback(fallback: Sequence[float] | None, blueprint: Blueprint) -> tuple[float, ...]:
    d = blueprint.size
    if fallback is None:
        return tuple(np.clip(0.0, blueprint.lower[:d], blueprint.upper[:d]).tolist())
    given = arguments.numbers("program", "fallback", fallback, "(-inf, inf)", d)
    if (given < blueprint.lower[:d]).any() or (given > blueprint.upper[:d]).any():
        raise arguments.wrong("program", "fallback", "within the bounds of the variables", fallback)
    return given
