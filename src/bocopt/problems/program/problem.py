"""A declared program as a problem: compiled, solved by the way that fits, and judged."""

import time
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np

from bocopt import arguments
from bocopt.core import Array, BoolArray, Bounds, Dims, IntArray, Risk, Sense, Solution, Status
from bocopt.fingerprint import CHANGES_NO_RESULT
from bocopt.numeric.recent import Recent
from bocopt.problems import ranges
from bocopt.problems.defaults import filled_in
from bocopt.problems.instances import solve_each
from bocopt.problems.program import convexity
from bocopt.problems.program.blueprint import Blueprint
from bocopt.problems.program.compile import Template, instantiate, template_of
from bocopt.problems.program.form import (
    BestFound,
    EndlessError,
    Form,
    Judged,
    SolveLimits,
    SolveTask,
)
from bocopt.problems.program.judge import ProgramJudge
from bocopt.problems.program.ranges import ObjectiveHinges, Ranges
from bocopt.problems.program.tape import TapeStep, play
from bocopt.problems.risk import require_solvable
from bocopt.problems.scenarios import merged

_RECENT = Recent(64)  # second stages: who learned from a decision, and who reviews it, ask the same


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Program:
    """A problem that was declared by a function; see `program`."""

    name: str = field(metadata=CHANGES_NO_RESULT)
    blueprint: Blueprint
    dims: Dims
    risk: Risk
    infeasible_objective: float | None  # a cost, whatever the sense
    objective_bounds: tuple[float, float]  # of the cost
    support: arguments.Ends | None  # of xi
    fallback: tuple[float, ...]
    tolerance: float
    gap: float
    node_limit: int
    time_limit: float | None

    def __post_init__(self) -> None:
        require_solvable(self.risk)

    def __repr__(self) -> str:
        """Return the name, the sizes, the sense and the risk; all numbers are in the blueprint."""
        reads = "" if self.dims.x is None else f", x ({self.dims.x})"
        return (
            f"<Program {self.name!r}: z ({self.dims.z}), xi ({self.dims.xi}){reads}, "
            f"{self.sense.name.lower()}, {self.risk!r}>"
        )

    @property
    def sense(self) -> Sense:
        """The sense of the objective."""
        return self.blueprint.sense

    @property
    def prices_infeasibility(self) -> bool:
        """True where `infeasible_objective` is paid if a row is violated."""
        return self.infeasible_objective is not None

    def solve(self, scenarios: Array, w: Array | None = None, x: Array | None = None) -> Solution:
        """(s, m), (s), (k) -> the best z under the scenarios, by the way that fits."""
        owner = f"{self.name}.solve"
        scenarios, w, x = filled_in(owner, self.dims, scenarios, w, x)
        x = self._context(owner, x)
        return solve_each(self._solved, owner, self.dims.z, scenarios, w, x)

    def cost(self, x: Array, z: Array, xi: Array) -> Array:
        """(k), (d), (m) -> () the objective, or `infeasible_objective` where z violates a row."""
        return self._priced(f"{self.name}.cost", x, z, xi)[0]

    def violation(self, x: Array, z: Array, xi: Array) -> Array:
        """(k), (d), (m) -> () the largest violation of a row or a bound.

        Exact where all of a row's columns are integer, less the tolerance elsewhere.
        """
        return self._judged(f"{self.name}.violation", x, z, xi)[1]

    def judge(self, x: Array, z: Array, xi: Array) -> tuple[Array, Array]:
        """(k), (d), (m) -> (), () cost and violation, by one look at the rows."""
        return self._priced(f"{self.name}.judge", x, z, xi)

    def range(self, x: Array, z: Array) -> tuple[Array, Array]:
        """Return bounds () on the cost of (d) by `support`, within those declared; else infinite.

        Exact where the objective is affine in xi, or piecewise linear in each component alone.
        """
        owner = f"{self.name}.range"
        x, z = self._context(owner, x), arguments.array(owner, "z", z, (self.dims.z,))
        arguments.lead(owner, x=x.shape[:-1], z=z.shape[:-1])
        return self._ranges.range(x, z)

    def range_of_difference(self, x: Array, z: Array, other: Array) -> tuple[Array, Array]:
        """(k), (d), (d) -> (), () the same of what z costs more than the other."""
        owner = f"{self.name}.range_of_difference"
        x = self._context(owner, x)
        return self._ranges.range_of_difference(x, *ranges.decisions(owner, self.dims, x, z, other))

    def within(self, bounds: Bounds) -> Ranges:
        """Return the same for outcomes of the support within bounds (m)."""
        box = ranges.possible_within(f"{self.name}.within", bounds, self._support)
        return self._ranges.within(box)

    def possible(self, x: Array, xi: Array) -> BoolArray:
        """Return True () if an outcome (m) is in the support; any is where none was declared."""
        xi = arguments.array(f"{self.name}.possible", "xi", xi, (self.dims.xi,))
        lead = arguments.lead(self.name, x=np.shape(x)[:-1], xi=xi.shape[:-1])
        low, high = self._support
        inside = ((xi >= low) & (xi <= high)).all(axis=-1)
        return np.broadcast_to(inside, lead)

    @property
    def why_unranged(self) -> str:
        """Advice where the cost has no known range."""
        between = "give objective_bounds=(low, high) to program(...)"
        if reason := self._ranges.missing():
            return f"{between}: {reason}"
        return "give support=(low, high), with finite ends, to program(...)"

    def named(self, z: Array) -> dict[str, Array]:
        """(d) -> the parts of a decision by the names of the declaration, in their shapes."""
        z = arguments.array(f"{self.name}.named", "z", z, (self.dims.z,))
        parts, first = {}, 0
        for name, variable in zip(self.blueprint.names, self.blueprint.variables, strict=True):
            if not variable.later:
                part = z[..., first : first + variable.size]
                parts[name] = part.reshape((*z.shape[:-1], *variable.shape))
                first += variable.size
        return parts

    def form(self, x: Array, scenarios: Array) -> Form:
        """(k), (s, m) -> the arrays of the program, for a solver of your own."""
        owner = f"{self.name}.form"
        x = self._context(owner, x)
        scenarios = arguments.array(owner, "scenarios", scenarios, (None, self.dims.xi))
        if x.ndim != 1 or scenarios.ndim != 2:
            raise arguments.wrong(owner, "scenarios", "of one instance", scenarios.shape)
        return instantiate(self.blueprint, self._template, self._played(x[None], scenarios, axes=1))

    def _solved(self, x: Array, scenarios: Array, w: Array) -> tuple[Array, float, int, float]:
        from bocopt.problems.program import strategies

        scenarios, w = merged(scenarios, w)
        task = self._task(x, scenarios, w)
        try:
            answer = strategies.solve(task)
        except EndlessError as error:
            column = self.blueprint.name_of(error.column)
            raise ValueError(f"In the program {self.name!r}: {error.about(column)}") from None
        if answer.z is None:
            return self._unsolved(answer)
        verdict = task.judge(answer.z)
        if not verdict.met:
            return self._unsolved(BestFound(None, answer.bound))
        gap = max(0.0, verdict.value - answer.bound)
        near = gap <= self.gap * max(1.0, abs(verdict.value))
        return answer.z, verdict.value, Status.OPTIMAL if near else Status.LIMIT, gap

    def _unsolved(self, answer: BestFound) -> tuple[Array, float, int, float]:
        if answer.bound == -np.inf and self.time_limit is None:
            raise ValueError(
                f"The program {self.name!r} is unbounded for this x and xi: no cost is the "
                "smallest. Give its variables bounds, or check the signs of its objective."
            )
        proved = answer.bound == np.inf
        status = Status.INFEASIBLE if proved else Status.FALLBACK
        return np.array(self.fallback), np.inf, status, 0.0 if proved else np.inf

    def _task(self, x: Array, scenarios: Array, w: Array) -> SolveTask:
        values = self._played(x[None], scenarios, axes=1)
        form = instantiate(self.blueprint, self._template, values)

        def judge(z: Array) -> Judged:
            """Return the verdict on z (d) under all scenarios; the last one is kept."""
            question = z.tobytes()
            if question not in kept:
                kept.clear()
                kept[question] = self._verdict(*measured(z), w)
            return kept[question]

        def measured(z: Array) -> tuple[Array, Array]:
            """Return the cost and the violation of z (d) in each scenario."""
            if len(w) > 1 or not self.blueprint.recourse:
                return self._measured(values, z[None], form)
            one = x, z, scenarios[0]  # hindsight is judged again
            cost, violation = _RECENT.answer(self, one, lambda: self._alone(values, z, form))
            return np.array([cost]), np.array([violation])

        kept: dict[bytes, Judged] = {}  # the last question: a way asks what it answers with

        left = None if self.time_limit is None else time.perf_counter() + self.time_limit
        limits = SolveLimits(self.gap, self.node_limit, left)
        return SolveTask(form, w, self.risk, self.infeasible_objective, judge, limits)

    def _verdict(self, cost: Array, violation: Array, w: Array) -> Judged:
        if self.infeasible_objective is not None:
            cost = np.where(violation > 0, self.infeasible_objective, cost)
        if cost.shape != w.shape or violation.shape != w.shape:
            cost, violation = (np.broadcast_to(a, w.shape) for a in (cost, violation))
        if len(w) == 1:  # whatever the risk
            return Judged(cost, violation, float(cost[0]), bool(violation[0] <= 0))
        value = float(self.risk.value(cost, w))
        return Judged(cost, violation, value, bool(self.risk.met(violation, w)))

    def _priced(self, owner: str, x: Array, z: Array, xi: Array) -> tuple[Array, Array]:
        cost, violation = self._judged(owner, x, z, xi)
        if self.infeasible_objective is not None:
            return np.where(violation > 0, self.infeasible_objective, cost), violation
        if np.isinf(cost).any() and self._allowed(z):
            raise ValueError(
                f"The program {self.name!r} has no feasible recourse for this outcome: declare "
                "what is paid then in place of the objective by infeasible_objective=..., or a "
                "recourse that "
                "is always possible."
            )
        return cost, violation

    def _judged(self, owner: str, x: Array, z: Array, xi: Array) -> tuple[Array, Array]:
        x = self._context(owner, x)
        z = arguments.inner(owner, "z", z, self.dims.z)
        xi = arguments.inner(owner, "xi", xi, self.dims.xi)
        lead = arguments.lead(owner, x=x.shape[:-1], z=z.shape[:-1], xi=xi.shape[:-1])
        x, z, xi = (a.reshape((1,) * (len(lead) + 1 - a.ndim) + a.shape) for a in (x, z, xi))
        if self.blueprint.recourse:
            return self._judged_each(lead, x, z, xi)
        cost, violation = self._measured(self._played(x, xi, len(lead)), z, None)
        return np.broadcast_to(cost, lead), np.broadcast_to(violation, lead)

    def _judged_each(
        self, lead: tuple[int, ...], x: Array, z: Array, xi: Array
    ) -> tuple[Array, Array]:
        """One by one: the second stage is a program of its own."""
        x, z, xi = (np.broadcast_to(a, (*lead, a.shape[-1])) for a in (x, z, xi))
        cost, violation = np.empty(lead), np.empty(lead)
        for i in np.ndindex(lead):
            one = x[i], z[i], xi[i]
            cost[i], violation[i] = _RECENT.answer(self, one, partial(self._judged_one, *one))
        return cost, violation

    def _judged_one(self, x: Array, z: Array, xi: Array) -> tuple[float, float]:
        values = self._played(x[None], xi[None], axes=1)
        return self._alone(values, z, instantiate(self.blueprint, self._template, values))

    def _alone(self, values: list[Array], z: Array, form: Form) -> tuple[float, float]:
        """Cost and violation in the form's only scenario."""
        cost, violation = self._measured(values, z[None], form)
        return float(cost[0]), float(violation[0])

    def _measured(self, values: list[Array], z: Array, form: Form | None) -> tuple[Array, Array]:
        """Cost and violation for values of the tape; with recourse, by the form's second stage."""
        judge = self._judge
        columns = judge.columns(values, z)
        if form is None or not self.blueprint.recourse:
            return judge.cost(values, columns), judge.excess(values, columns)
        from bocopt.problems.program.second_stage import best

        found = best(form, columns[..., : form.shared], within=self.tolerance)
        excess = np.maximum(judge.excess(values, columns), found.lack - self.tolerance)
        return found.cost, excess

    def _allowed(self, z: Array) -> bool:
        """Return whether all z (d) keep their bounds."""
        return bool((self._judge.outside(z) <= 0).all())

    def _played(self, x: Array, xi: Array, axes: int) -> list[Array]:
        inputs = {"xi": xi} if self.dims.x is None else {"x": x, "xi": xi}
        values = play(self.blueprint.steps, inputs, axes)
        for step in self._read:
            if not np.isfinite(values[step]).all():
                raise ValueError(
                    f"A coefficient of the program {self.name!r} is not finite for this x or xi."
                )
        for step, entries in self._pressed:
            convexity.check(values[step][..., entries])
        return values

    def _context(self, owner: str, x: Array) -> Array:
        unread = self.dims.x is None
        if unread and isinstance(x, np.ndarray) and x.ndim and not x.size:
            return x
        return arguments.array(owner, "x", x, (... if unread else self.dims.x,), gaps=unread)

    @cached_property
    def _template(self) -> Template:
        return template_of(self.blueprint)

    @cached_property
    def _judge(self) -> ProgramJudge:
        return ProgramJudge(self.blueprint, self.tolerance)

    @cached_property
    def _support(self) -> tuple[Array, Array]:
        low, high = self.support or ((-np.inf,) * self.dims.xi, (np.inf,) * self.dims.xi)
        return np.array(low), np.array(high)

    @cached_property
    def _ranges(self) -> Ranges:
        hinges = ObjectiveHinges(self.blueprint, self.dims.xi)
        support = Bounds(*self._support)
        bounds = self.objective_bounds
        return Ranges(self._judge, hinges, support, self.infeasible_objective, bounds)

    @cached_property
    def _read(self) -> list[int]:
        """The steps whose numbers are coefficients, and are computed."""
        inner = [positives.plane for positives in self.blueprint.positives]
        planes = (self.blueprint.objective, *self.blueprint.rows, *inner)
        steps = {step for plane in planes for step in (plane.value, plane.offset)}
        return [step for step in sorted(steps) if not self._given(self.blueprint.steps[step])]

    def _given(self, step: TapeStep) -> bool:
        """Return whether a step's numbers are constant, or some of x or xi, which were checked."""
        while step.op in ("take", "cut"):
            step = self.blueprint.steps[step.inputs[0]]
        return step.op in ("constant", "input")

    @cached_property
    def _pressed(self) -> tuple[tuple[int, IntArray], ...]:
        return convexity.convex_uses(self.blueprint)
