"""The judge of one decision in one scenario: the declaration, run with numbers."""

from collections.abc import Mapping
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from bocopt.core import Array
from bocopt.problems.conic import extensive, stack
from bocopt.problems.conic.clarabel import SolverStatus
from bocopt.problems.conic.cones import Cones
from bocopt.problems.conic.notation import Declaration, assign, cvxpy, parted

_HAS_POINT = (SolverStatus.SOLVED, SolverStatus.INACCURATE)
_ROOM = 1e-7  # beyond what constraints lack, so that a solver finds its way in


class ConicVerdict(NamedTuple):
    """One decision in one scenario."""

    cost: float  # +inf where there is none
    violation: float  # <= 0 is feasible
    outside: float  # the violation of what holds in any scenario


class ConicJudge:
    """Cost and violation of z, by the values of the expressions of one instance.

    Where the function made variables of its own, the cost includes the best of them, and the
    violation is by how much their constraints fail at best. cvxpy keeps values in its symbols,
    hence the lock.
    """

    def __init__(
        self,
        declared: Declaration,
        later: Cones | None,
        tolerance: float,
        solver: str,
        options: Mapping[str, Any],
    ) -> None:
        self._declared, self._tolerance = declared, tolerance
        self._solver, self._options, self._cones = solver, options, later
        self._lock = Lock()
        self._one = one = declared.instance()
        decided, _ = parted(one.constraints, one.decided)
        self._certain, self._uncertain = parted(decided, one.certain)
        self._later = SecondStage(declared) if one.later else None

    def __call__(self, x: Array, z: Array, xi: Array) -> ConicVerdict:
        """(k), (d), (m) -> the verdict."""
        with self._lock, np.errstate(all="ignore"):
            for parameter, value in zip(self._one.parameters, self._known(x, xi), strict=True):
                assign(parameter, value)
            for variable, value in zip(self._one.variables, self._declared.split(z), strict=True):
                assign(variable, value)
            outside = max(self._misfit(z), self._excess(self._certain))
            violation = max(outside, self._excess(self._uncertain))
            if self._later is None:
                cost, lack = float(np.real(self._one.cost.value)), 0.0
            else:
                cost, lack = self._best(self._later, x, self._declared.fitted(z), xi)
        violation = max(violation, lack - self._tolerance)
        if np.isfinite(cost):
            return ConicVerdict(cost, violation, outside)
        return ConicVerdict(np.inf, violation if violation > 0 else np.inf, outside)

    def _known(self, x: Array, xi: Array) -> list[Array]:
        return [xi] if self._declared.x is None else [x, xi]

    def _excess(self, constraints: list[Any]) -> float:
        """The largest violation of a constraint, less the tolerance."""
        worst = max((np.max(row.residual, initial=0.0) for row in constraints), default=0.0)
        return np.inf if np.isnan(worst) else float(worst) - self._tolerance

    def _misfit(self, z: Array) -> float:
        """Return the distance of z (d) from its attributes, less the tolerance if not integer."""
        worst, first = -self._tolerance, 0
        for leaf in self._declared.variables.values():
            part = z[first : first + leaf.size]
            first += leaf.size
            if leaf.attributes:
                far = float(np.abs(leaf.fitted(part) - part).max())
                worst = max(worst, far if leaf.integer else far - self._tolerance)
        return worst

    def _best(self, later: "SecondStage", x: Array, z: Array, xi: Array) -> tuple[float, float]:
        """Return the cost of the best second stage, and by how much its constraints fail."""
        if self._cones is None:
            verdict, cost = later.exact(x, z, xi, self._solver, self._options)
        else:
            known = np.concatenate(self._known(x, xi))
            found = stack.second_stage(self._cones, known, z, self._options)
            verdict, cost = found.verdict, found.value
        if verdict in _HAS_POINT:
            return cost, 0.0
        if verdict is SolverStatus.UNBOUNDED:
            return -np.inf, 0.0
        lack = later.lack(x, z, xi, self._solver, self._options)
        if lack > self._tolerance:
            return np.inf, lack
        return later.within(lack + _ROOM, x, z, xi, self._solver, self._options), lack


class SecondStage:
    """Problems of cvxpy for what is left to decide once z and xi are known."""

    def __init__(self, declared: Declaration) -> None:
        cp = cvxpy()
        self._one = one = declared.instance()
        self._z = [cp.Parameter(variable.shape) for variable in one.variables]
        self._split = declared.split
        fixed = [v == z for v, z in zip(one.variables, self._z, strict=True)]
        open_ = [row for row in one.constraints if not one.decided(row)]
        self._give, self._room = cp.Variable(nonneg=True), cp.Parameter(nonneg=True)
        cost = cp.Minimize(one.cost)
        self._exact = cp.Problem(cost, fixed + open_)
        self._elastic = cp.Problem(
            cp.Minimize(self._give), fixed + [_loosened(row, self._give) for row in open_]
        )
        self._wide = cp.Problem(cost, fixed + [_loosened(row, self._room) for row in open_])

    def exact(self, x: Array, z: Array, xi: Array, *how: Any) -> tuple[SolverStatus, float]:
        """Return the solver's status and the least cost for x (k), z (d) and xi (m)."""
        self._set(x, z, xi)
        return extensive.solved(self._exact, *how)

    def lack(self, x: Array, z: Array, xi: Array, *how: Any) -> float:
        """The least by which all constraints must give way."""
        self._set(x, z, xi)
        verdict, value = extensive.solved(self._elastic, *how)
        return value if verdict in _HAS_POINT else np.inf

    def within(self, room: float, x: Array, z: Array, xi: Array, *how: Any) -> float:
        """The best cost where constraints may fail by so much."""
        self._set(x, z, xi)
        assign(self._room, np.array(room))
        verdict, value = extensive.solved(self._wide, *how)
        return value if verdict in _HAS_POINT else np.inf

    def _set(self, x: Array, z: Array, xi: Array) -> None:
        assign(self._one.xi, xi)
        if self._one.x is not None:
            assign(self._one.x, x)
        for parameter, part in zip(self._z, self._split(z), strict=True):
            assign(parameter, part)


def _loosened(row: Any, give: Any) -> Any:
    """A constraint that may fail by `give`; of cones without a natural measure, none may."""
    cp = cvxpy()
    if isinstance(row, cp.constraints.Inequality):
        return row.expr <= give
    if isinstance(row, cp.constraints.Equality):
        return cp.abs(row.expr) <= give
    if isinstance(row, cp.constraints.PSD):
        return row.args[0] + give * np.eye(row.args[0].shape[0]) >> 0
    if isinstance(row, cp.constraints.SOC):
        return cp.SOC(row.args[0] + give, row.args[1], axis=row.axis)
    return row
