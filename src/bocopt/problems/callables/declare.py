"""Any Python solver or simulator as a problem."""

from collections.abc import Sequence
from typing import Any

from bocopt import arguments
from bocopt.core import Dims, Risk, Sense
from bocopt.problems.callables.calls import Bounds, Differences, Measure, Support
from bocopt.problems.callables.problem import OWNER, FromCallables, SolveMany
from bocopt.problems.callables.workers import Solve
from bocopt.problems.risk import Chance, Expectation

_ALPHA = 0.9


def from_callables(
    solve: Solve,
    cost: Measure,
    violation: Measure | None = None,
    *,
    dims: Dims,
    fallback: Sequence[float],
    alpha: float | None = _ALPHA,
    risk: Risk | None = None,
    sense: Sense = Sense.MINIMISE,
    candidates: int = 26,
    synthetic: bool = True,
    solve_many: SolveMany | None = None,
    vectorised: bool = False,
    box: tuple[Any, Any] | None = None,
    integer: bool | Sequence[bool] = False,
    moves: int = 200,
    scenarios: int | None = None,
    workers: int | None = None,
    timeout: float | None = None,
    bounds: Bounds | None = None,
    bounds_of_difference: Differences | None = None,
    support: Support | None = None,
    prices_infeasibility: bool = False,
) -> FromCallables:
    """Make a problem from `solve(x, xi) -> z`, `cost(x, z, xi)` and `violation(x, z, xi)`.

    Each is called with one instance at a time and need know nothing of scenarios. Under many
    scenarios, a pool of decisions is evaluated, the best few against all scenarios, and the
    cheapest that meets alpha wins (status POOL: a better decision may exist outside the pool).
    `solve` returns None where nothing is feasible; then, and where no candidate meets alpha,
    `fallback` is decided. With alpha None nothing is promised: the cheapest wins. `risk` is any
    other risk, in place of alpha.

    The pool holds the answers of `solve` to `candidates` scenarios. Half of them are made up: the
    mean, quantiles of each component, safety factors (`synthetic=False`: none). The answer of
    `solve_many(x, scenarios, w) -> z or None` joins them. With `box=(lower, upper)`, `moves`
    decisions next to the best one are tried too, integer ones where `integer` says so.

    With `scenarios=n`, n of the scenarios, all over, stand for all of them: a program then takes at
    most (candidates + moves) n calls of `cost`, and as many of `violation`. What slow functions
    take is said once, with settings that take about two seconds.

    With `vectorised=True`, `cost` and `violation` take xi (s, m) and return (s). With `workers`, so
    many processes run `solve`; what takes longer than `timeout` seconds is left out.

    Where `cost` counts what an infeasible decision costs, say `prices_infeasibility=True`: an
    `Ensemble` then weighs its arms by costs alone, and does not charge them for misses as well.

    For certificates: `bounds(x, z) -> (low, high)` says before the outcome what a decision can
    cost, for outcomes with `support(x, xi)`. `bounds_of_difference(x, z, other)` says so of what z
    costs more than another decision, where that is narrower than what both bounds say.

    >>> import numpy as np
    >>> newsvendor = from_callables(
    ...     solve=lambda x, xi: xi,  # order what will be asked for
    ...     cost=lambda x, z, xi: (z - 2 * min(z, xi)).item(),
    ...     dims=Dims(x=None, z=1, xi=1),
    ...     fallback=[0],
    ... )
    >>> newsvendor.solve(np.array([[1.0], [2.0], [9.0]])).z
    array([2.])
    """
    return FromCallables(
        solver=solve,
        payment=cost,
        excess=violation,
        dims=dims,
        fallback=fallback,
        risk=_risk(alpha, risk),
        sense=sense,
        candidates=candidates,
        synthetic=synthetic,
        solve_many=solve_many,
        vectorised=vectorised,
        box=box,
        integer=integer,
        moves=moves,
        scenarios=scenarios,
        workers=workers,
        timeout=timeout,
        bounds=bounds,
        bounds_of_difference=bounds_of_difference,
        support=support,
        prices_infeasibility=prices_infeasibility,
    )


def _risk(alpha: float | None, risk: Risk | None) -> Risk:
    if risk is not None:
        if alpha != _ALPHA:
            raise arguments.wrong(OWNER, "alpha", "left out where 'risk' is given", alpha)
        return risk
    if alpha is None:
        return Expectation()
    return Chance(arguments.number(OWNER, "alpha", alpha, "(0, 1]"))
