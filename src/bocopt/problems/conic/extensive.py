"""All scenarios as one program in cvxpy itself: any solver, integers, parameters used in any way.

cvxpy compiles it anew for each question, so this is the slow way; see `stack` for the other one.
"""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from bocopt.core import Array, Risk
from bocopt.problems.conic.clarabel import ConeSolution, SolverStatus
from bocopt.problems.conic.notation import Declaration, assign, cvxpy, parted
from bocopt.problems.risk import tail_means_of

_VERDICTS = {
    "optimal": SolverStatus.SOLVED,
    "optimal_inaccurate": SolverStatus.INACCURATE,
    "user_limit": SolverStatus.INACCURATE,
    "infeasible": SolverStatus.INFEASIBLE,
    "unbounded": SolverStatus.UNBOUNDED,
}


def under(
    declared: Declaration,
    x: Array,
    scenarios: Array,
    w: Array,
    risk: Risk,
    solver: str,
    options: Mapping[str, Any],
) -> ConeSolution:
    """(k), (s, m), (s) -> the best z under the scenarios."""
    cp = cvxpy()
    variables = declared.new_variables()
    context = None
    if declared.x is not None:
        context = declared.x.parameter()
        assign(context, x)
    costs, constraints = [], []
    for i, outcome in enumerate(scenarios):
        one = declared.instance(variables, context)
        assign(one.xi, outcome)
        costs.append(one.cost)
        constraints += parted(one.constraints, one.certain)[1] if i else one.constraints
    problem = cp.Problem(cp.Minimize(_value(costs, w, risk)), constraints)
    verdict, value = solved(problem, solver, options)
    if any(variable.value is None for variable in variables):
        failed = verdict in (SolverStatus.SOLVED, SolverStatus.INACCURATE)
        return ConeSolution(SolverStatus.FAILED if failed else verdict)
    point = np.concatenate([np.ravel(variable.value) for variable in variables])
    return ConeSolution(verdict, point, value, value if verdict is SolverStatus.SOLVED else -np.inf)


def solved(problem: Any, solver: str, options: Mapping[str, Any]) -> tuple[SolverStatus, float]:
    """Solve a problem of cvxpy whose parameters have values."""
    cp = cvxpy()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # an inaccurate solution has a verdict of its own
        try:
            problem.solve(solver=solver, ignore_dpp=True, warm_start=False, **options)
        except cp.error.SolverError:
            return SolverStatus.FAILED, np.inf
    verdict = _VERDICTS.get(problem.status, SolverStatus.FAILED)
    return verdict, np.inf if problem.value is None else float(problem.value)


def _value(costs: list[Any], w: Array, risk: Risk) -> Any:
    if len(costs) == 1:
        tail_means_of(risk, "from_cvxpy")
        return costs[0]
    shares = (w / w.sum()).tolist()
    parts = tail_means_of(risk, "from_cvxpy")
    if len(parts) == 1:
        return _tail_mean(costs, shares, parts[0].share)
    return sum(part.weight * _tail_mean(costs, shares, part.share) for part in parts)


def _tail_mean(costs: list[Any], shares: list[float], worst: float) -> Any:
    """The mean cost of the worst scenarios, of so large a share."""
    cp = cvxpy()
    if not worst:
        return cp.maximum(*costs)
    if worst < 1.0:
        level = cp.Variable()
        over = [share * cp.pos(cost - level) for share, cost in zip(shares, costs, strict=True)]
        return level + sum(over) / worst
    return sum(share * cost for share, cost in zip(shares, costs, strict=True))
