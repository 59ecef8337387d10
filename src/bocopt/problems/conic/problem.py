"""A convex program in cvxpy's notation as a problem: compiled once, solved, and judged."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from importlib import import_module
from typing import Any

import numpy as np

from bocopt import arguments
from bocopt.core import Array, Dims, Risk, Sense, Solution, Status
from bocopt.fingerprint import CHANGES_NO_RESULT
from bocopt.numeric.recent import Recent
from bocopt.problems.conic import extensive, stack
from bocopt.problems.conic.clarabel import ConeSolution, SolverStatus
from bocopt.problems.conic.cones import compiled
from bocopt.problems.conic.judge import ConicJudge, ConicVerdict
from bocopt.problems.conic.notation import Declaration, Leaf, cvxpy, parted
from bocopt.problems.defaults import filled_in
from bocopt.problems.instances import solve_each
from bocopt.problems.risk import tail_means_of
from bocopt.problems.scenarios import merged

CLARABEL = "CLARABEL"
_RECENT = Recent(64)  # who learned from a decision, and who reviews it, ask the same


@dataclass(frozen=True, eq=False, kw_only=True)
class Conic:
    """A problem that was declared in cvxpy; see `from_cvxpy`."""

    name: str = field(metadata=CHANGES_NO_RESULT)
    declared: Declaration
    dims: Dims
    sense: Sense
    risk: Risk  # its alpha is 1
    infeasible_objective: float | None  # a cost, whatever the sense
    fallback: tuple[float, ...]
    tolerance: float
    gap: float
    solver: str
    options: Mapping[str, Any]

    def __post_init__(self) -> None:
        tail_means_of(self.risk, "from_cvxpy")

    @property
    def prices_infeasibility(self) -> bool:
        """True where `infeasible_objective` is paid if a constraint is violated."""
        return self.infeasible_objective is not None

    @property
    def why_unranged(self) -> str:
        """Advice for certificates of what its decisions cost: it knows no range."""
        return "write range(x, z) and possible(x, xi) in a class around it: from_cvxpy knows none"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by name where it has one: a decorated function is not found under its own name."""
        where, what = self.declared.function.__module__, self.declared.function.__qualname__
        if getattr(sys.modules.get(where), what, None) is self:
            return _by_name, (where, what)
        return _rebuilt, ({part.name: getattr(self, part.name) for part in fields(self)},)

    def solve(self, scenarios: Array, w: Array | None = None, x: Array | None = None) -> Solution:
        """(s, m), (s), (k) -> the best z under the scenarios."""
        owner = f"{self.name}.solve"
        scenarios, w, x = filled_in(owner, self.dims, scenarios, w, x)
        self._allowed(owner, "scenarios", scenarios, self.declared.xi)
        x = self._context(owner, x)
        return solve_each(self._solved, owner, self.dims.z, scenarios, w, x)

    def cost(self, x: Array, z: Array, xi: Array) -> Array:
        """(k), (d), (m) -> () the objective, or `infeasible_objective` where z is infeasible."""
        return self._each(f"{self.name}.cost", x, z, xi, self._paid)[0]

    def violation(self, x: Array, z: Array, xi: Array) -> Array:
        """(k), (d), (m) -> () the largest violation of a constraint, less the tolerance."""
        return self._each(f"{self.name}.violation", x, z, xi, _violation)[0]

    def judge(self, x: Array, z: Array, xi: Array) -> tuple[Array, Array]:
        """(k), (d), (m) -> (), () cost and violation, by one look at each scenario."""
        cost, violation = self._each(f"{self.name}.judge", x, z, xi, self._paid, _violation)
        return cost, violation

    def named(self, z: Array) -> dict[str, Array]:
        """(d) -> the parts of a decision by the names of the declaration, in their shapes."""
        z = arguments.array(f"{self.name}.named", "z", z, (self.dims.z,))
        parts, first = {}, 0
        for name, leaf in self.declared.variables.items():
            part = z[..., first : first + leaf.size]
            parts[name] = part.reshape(*z.shape[:-1], *leaf.shape)
            first += leaf.size
        return parts

    def _solved(self, x: Array, scenarios: Array, w: Array) -> tuple[Array, float, int, float]:
        scenarios, w = merged(scenarios, w)
        found = self._found(x, scenarios, w)
        if found.verdict is SolverStatus.UNBOUNDED:
            raise ValueError(
                f"The program {self.name!r} is unbounded for this x and xi: no cost is the "
                "smallest. Give its variables bounds, or check the signs of its objective."
            )
        proved = found.verdict is SolverStatus.INFEASIBLE
        for z in self._candidates(found):
            judged = [self._judge(x, z, xi) for xi in scenarios]
            if self.risk.met(np.array([one.violation for one in judged]), w):
                value = float(self.risk.value(np.array([self._paid(one) for one in judged]), w))
                gap = max(0.0, value - found.bound)
                near = gap <= self.gap * max(1.0, abs(value))
                return z, value, Status.OPTIMAL if near else Status.LIMIT, gap
        status = Status.INFEASIBLE if proved else Status.FALLBACK
        return np.array(self.fallback), np.inf, status, 0.0 if proved else np.inf

    def _found(self, x: Array, scenarios: Array, w: Array) -> ConeSolution:
        if self._compiled is None:
            how = (self.risk, self.solver, self.options)
            return extensive.under(self.declared, x, scenarios, w, *how)
        known = [scenarios]
        if self.dims.x is not None:
            known = [np.broadcast_to(x, (len(w), len(x))), scenarios]
        parameters = np.concatenate(known, axis=1)
        return stack.under(self._compiled, parameters, w, self.risk, self.options)

    def _candidates(self, found: ConeSolution) -> list[Array]:
        """The solver's z; then without traces, for domains that end at zero."""
        if found.point is None:
            return []
        z = self.declared.fitted(found.point)
        return [z, np.where(np.abs(z) <= self.tolerance, 0.0, z)]

    def _paid(self, judged: ConicVerdict) -> float:
        if self.infeasible_objective is not None and judged.violation > 0:
            return self.infeasible_objective
        if judged.cost == np.inf and judged.outside <= 0:
            raise ValueError(
                f"The program {self.name!r} has no finite cost for this z and outcome: declare "
                "what is paid then by infeasible_objective=..., or a recourse that is always "
                "possible."
            )
        return judged.cost

    def _each(
        self, owner: str, x: Array, z: Array, xi: Array, *parts: Callable[[ConicVerdict], float]
    ) -> list[Array]:
        x = self._context(owner, x)
        z = arguments.inner(owner, "z", z, self.dims.z)
        xi = arguments.inner(owner, "xi", xi, self.dims.xi)
        self._allowed(owner, "xi", xi, self.declared.xi)
        lead = arguments.lead(owner, x=x.shape[:-1], z=z.shape[:-1], xi=xi.shape[:-1])
        x, z, xi = (np.broadcast_to(a, (*lead, a.shape[-1])) for a in (x, z, xi))
        results = [np.empty(lead) for _ in parts]
        for i in np.ndindex(lead):
            one = x[i], z[i], xi[i]
            judged = _RECENT.answer(self, one, partial(self._judge, *one))
            for result, part in zip(results, parts, strict=True):
                result[i] = part(judged)
        return results

    def _context(self, owner: str, x: Array) -> Array:
        unread = self.dims.x is None
        x = arguments.array(owner, "x", x, (... if unread else self.dims.x,), gaps=unread)
        if self.declared.x is not None:
            self._allowed(owner, "x", x, self.declared.x)
        return x

    def _allowed(self, owner: str, name: str, values: Array, leaf: Leaf) -> None:
        """A value that its cvxpy.Parameter would refuse is refused here."""
        if leaf.attributes:
            for value in values.reshape(-1, leaf.size):
                if np.abs(leaf.fitted(value) - value).max() > self.tolerance:
                    raise arguments.wrong(owner, name, " and ".join(leaf.attributes), value)

    @cached_property
    def _judge(self) -> ConicJudge:
        later = None if self._compiled is None else self._compiled.later
        return ConicJudge(self.declared, later, self.tolerance, self.solver, self.options)

    @cached_property
    def _compiled(self) -> stack.Compiled | None:
        """The cone programs of the declaration; None where only cvxpy itself can solve it."""
        whole = self.declared.instance().problem()
        if self.solver != CLARABEL or whole.is_mixed_integer() or not whole.is_dpp():
            return None
        return _cone_programs(self.declared, self.risk)


def _cone_programs(declared: Declaration, risk: Risk) -> stack.Compiled | None:
    leaves = declared.variables.values()
    bare, full = [leaf.bare() for leaf in leaves], declared.new_variables()
    every = [b == f for b, f in zip(bare, full, strict=True)]
    links = [link for link, leaf in zip(every, leaves, strict=True) if leaf.attributes]
    one, linked = declared.instance(bare), list[Any]()
    if not one.problem().is_dpp():  # it needs to know the signs of its variables
        one, linked = declared.instance(full), every
    certain, rest = parted(one.constraints, one.certain)
    _, recourse = parted(rest, one.decided)
    fixed = compiled(cvxpy().Constant(0.0), certain + (linked or links), one, bare)
    each = compiled(one.cost, rest + linked, one, bare, epigraph=stack.needs_epigraph(risk))
    later = compiled(one.cost, recourse + linked, one, bare) if one.later else None
    if fixed is None or each is None or (one.later and later is None):
        return None
    return stack.Compiled(declared.size, fixed, each, later)


def _violation(judged: ConicVerdict) -> float:
    return judged.violation


def _by_name(module: str, name: str) -> Any:
    return getattr(import_module(module), name)


def _rebuilt(parts: dict[str, Any]) -> Conic:
    return Conic(**parts)
