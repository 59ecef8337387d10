"""A problem whose parts are functions of the user's."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.core import Array, BoolArray, Dims, Risk, Sense, Solution, Status
from bocopt.fingerprint import CHANGES_NO_RESULT
from bocopt.problems.callables.calls import (
    Bounds,
    ByRows,
    Differences,
    Measure,
    MeasureOfOne,
    Support,
    called,
    decision,
    differences,
    never_violated,
    ranges,
    truths,
)
from bocopt.problems.callables.moves import DecisionBox, improved
from bocopt.problems.callables.pace import CallBudget, Pace
from bocopt.problems.callables.pool import CandidateJudge, PooledDecision, Question, ask, best_of
from bocopt.problems.callables.workers import Solve, Solver, SolverReply, solver_of
from bocopt.problems.defaults import filled_in
from bocopt.problems.ranges import decisions, narrowed

SolveMany = Callable[[Array, Array, Array], Any]
OWNER = "from_callables"  # who errors are about: nobody else makes one
_Measured = Callable[[Array, Array, Array], Array]
_MADE_UP = (
    "It was asked for a made-up scenario, xi = {xi}. Give 'support' to tell which are possible, or "
    "synthetic=False to have none."
)


class _Parts(NamedTuple):
    """Objects that are built from the configuration, once."""

    solver: Solver
    cost: _Measured
    violation: _Measured
    box: DecisionBox | None
    paces: tuple[Pace, ...]


#: How far from the best of all an answer may be.
_GAP = {Status.OPTIMAL: 0.0, Status.INFEASIBLE: 0.0, Status.POOL: np.inf, Status.FALLBACK: np.inf}


class _Answer(NamedTuple):
    z: Array
    value: float
    status: int
    gap: float


@dataclass(frozen=True, kw_only=True)
class FromCallables:
    """A problem made of functions of one instance; see `from_callables`."""

    solver: Solve
    payment: Measure
    excess: Measure | None
    dims: Dims
    fallback: Sequence[float]
    risk: Risk
    sense: Sense
    candidates: int
    synthetic: bool = True
    solve_many: SolveMany | None = None
    vectorised: bool = False
    box: tuple[Any, Any] | None = None
    integer: bool | Sequence[bool] = False
    moves: int = 200
    scenarios: int | None = None
    workers: int | None = field(default=None, metadata=CHANGES_NO_RESULT)
    timeout: float | None = None
    bounds: Bounds | None = None
    bounds_of_difference: Differences | None = None
    support: Support | None = None
    prices_infeasibility: bool = False
    _parts: _Parts = field(init=False, repr=False, compare=False, metadata=CHANGES_NO_RESULT)

    def __post_init__(self) -> None:
        self._check()
        fallback = arguments.numbers(OWNER, "fallback", self.fallback, "(-inf, inf)", self.dims.z)
        object.__setattr__(self, "fallback", fallback)
        parts = self._made()
        object.__setattr__(self, "_parts", parts)
        if parts.box is not None:
            object.__setattr__(self, "box", (parts.box.lower, parts.box.upper))
            object.__setattr__(self, "integer", parts.box.integer)

    def _made(self) -> _Parts:
        measured = ByRows if self.vectorised else MeasureOfOne
        paces = Pace("cost"), Pace("violation")
        if self.box is None and self.integer is not False:
            raise arguments.wrong(OWNER, "integer", "False without a box", self.integer)
        return _Parts(
            solver_of(OWNER, self.solver, self.workers, self.timeout),
            measured("cost", self.payment, paces[0]),
            never_violated if self.excess is None else measured("violation", self.excess, paces[1]),
            None if self.box is None else DecisionBox.of(self.box, self.integer, self.dims.z),
            paces,
        )

    def _check(self) -> None:
        needed = {"solve": self.solver, "cost": self.payment}
        options = {
            "violation": self.excess,
            "solve_many": self.solve_many,
            "bounds": self.bounds,
            "bounds_of_difference": self.bounds_of_difference,
            "support": self.support,
        }
        given = {name: option for name, option in options.items() if option is not None}
        for name, function in (needed | given).items():
            if not callable(function):
                raise arguments.wrong(OWNER, name, "a function", function)
        if not isinstance(self.dims, Dims) or not isinstance(self.sense, Sense):
            raise arguments.wrong(OWNER, "dims or sense", "a Dims and a Sense", self.dims)
        arguments.kind(OWNER, "risk", self.risk, Risk)
        arguments.kind(OWNER, "synthetic", self.synthetic, bool)
        arguments.kind(OWNER, "vectorised", self.vectorised, bool)
        arguments.kind(OWNER, "prices_infeasibility", self.prices_infeasibility, bool)
        arguments.integer(OWNER, "candidates", self.candidates, "[1, inf)")
        arguments.integer(OWNER, "moves", self.moves, "[0, inf)")
        if self.scenarios is not None:
            arguments.integer(OWNER, "scenarios", self.scenarios, "[1, inf)")
        arguments.integer(OWNER, "dims.z", self.dims.z, "[1, inf)")
        arguments.integer(OWNER, "dims.xi", self.dims.xi, "[1, inf)")

    def solve(self, scenarios: Array, w: Array | None = None, x: Array | None = None) -> Solution:
        """(s, m), (s), (k) -> the best of a pool of decisions under all scenarios."""
        scenarios, w, x = filled_in("solve", self.dims, scenarios, w, x)
        x = self._checked("solve", "x", x)
        lead = arguments.lead(
            "solve", x=x.shape[:-1], scenarios=scenarios.shape[:-2], w=w.shape[:-1]
        )
        x, w = (np.broadcast_to(part, (*lead, part.shape[-1])) for part in (x, w))
        scenarios = np.broadcast_to(scenarios, (*lead, *scenarios.shape[-2:]))
        questions = [self._question(x[i], scenarios[i], w[i]) for i in np.ndindex(lead)]
        answers = self._parts.solver.answers([(q.x, xi) for q in questions for xi in q.asked])
        decided = [self._decided(q, [next(answers) for _ in q.asked]) for q in questions]
        return Solution(
            np.array([one.z for one in decided]).reshape(*lead, self.dims.z),
            np.array([one.value for one in decided]).reshape(lead),
            np.array([one.status for one in decided], np.int64).reshape(lead),
            np.array([one.gap for one in decided]).reshape(lead),
        )

    def cost(self, x: Array, z: Array, xi: Array) -> Array:
        """(k), (d), (m) -> () as the user's function says."""
        return self._parts.cost(*self._instance("cost", x, z, xi))

    def violation(self, x: Array, z: Array, xi: Array) -> Array:
        """(k), (d), (m) -> () as the user's function says."""
        return self._parts.violation(*self._instance("violation", x, z, xi))

    def judge(self, x: Array, z: Array, xi: Array) -> tuple[Array, Array]:
        """(k), (d), (m) -> (), () as the user's functions say: each is asked once."""
        x, z, xi = self._instance("judge", x, z, xi)
        return self._parts.cost(x, z, xi), self._parts.violation(x, z, xi)

    def range(self, x: Array, z: Array) -> tuple[Array, Array]:
        """(k), (d) -> (), () as the user's function says; without one, infinite."""
        x, z = self._checked("range", "x", x), arguments.array("range", "z", z, (self.dims.z,))
        return ranges(self.bounds or _unbounded, x, z)

    def range_of_difference(self, x: Array, z: Array, other: Array) -> tuple[Array, Array]:
        """(k), (d), (d) -> (), () as the user's function says, and as the ranges of both do."""
        owner = "range_of_difference"
        x = self._checked(owner, "x", x)
        z, other = decisions(owner, self.dims, x, z, other)
        found = differences(self.bounds_of_difference or _unbounded, x, z, other)
        return narrowed(found, z, other, self.range(x, z), self.range(x, other))

    @property
    def why_unranged(self) -> str:
        """Advice where no range of the cost is known."""
        return f"give bounds=... and support=... to {OWNER}(...)"

    def possible(self, x: Array, xi: Array) -> BoolArray:
        """(k), (m) -> () as the user's function says; without one, always."""
        x = self._checked("support", "x", x)
        xi = arguments.array("support", "xi", xi, (self.dims.xi,))
        return truths(self.support or _anything, x, xi)

    def _question(self, x: Array, scenarios: Array, w: Array) -> Question:
        return ask(
            x,
            scenarios,
            w,
            most=self.scenarios,
            candidates=self.candidates,
            made_up=self.candidates // 2 if self.synthetic else 0,
            possible=partial(truths, self.support or _anything, x),
        )

    def _decided(self, question: Question, answers: Sequence[SolverReply]) -> _Answer:
        x, alone = question.x, question.alone
        pool = list(self._pool(question, answers))
        judge = CandidateJudge(
            partial(self._parts.cost, x),
            partial(self._parts.violation, x),
            self.risk,
            question.scenarios,
            question.w,
        )
        if alone:
            best, status = best_of(judge, pool), Status.OPTIMAL
            failure = Status.FALLBACK if answers[0].late else Status.INFEASIBLE
        else:
            self._plan(question)
            best, status = self._best(judge, pool, x), Status.POOL
            failure = Status.FALLBACK
        if best is not None and best.missed == 0:
            return _Answer(best.z, best.worth, status, _GAP[status])
        return _Answer(np.array(self.fallback), np.inf, failure, _GAP[failure])

    def _plan(self, question: Question) -> None:
        moves = 0 if self._parts.box is None else self.moves
        for pace in self._parts.paces:
            pace.planned = CallBudget(len(question.w), self.candidates, moves)

    def _pool(self, question: Question, answers: Sequence[SolverReply]) -> Iterator[Array]:
        """The decisions that the user's solve found; an error says what was asked."""
        for i, answer in enumerate(answers):
            try:
                if answer.error is not None:
                    raise answer.error
                if answer.given is not None:
                    yield self._decision(question.x, question.asked[i], answer.given)
            except ValueError as error:
                if i < question.own:
                    raise
                hint = _MADE_UP.format(xi=question.asked[i].tolist())
                raise ValueError(f"{error} {hint}") from error

    def _best(
        self, judge: CandidateJudge, pool: Sequence[Array], x: Array
    ) -> PooledDecision | None:
        """The best of the pool and of the user's own solver for many, improved in the box."""
        seeded = []
        if self.solve_many is not None:
            given = called("solve_many", self.solve_many, x, judge.scenarios, judge.w)
            if given is not None:
                seeded = [self._boxed("solve_many", given)]
        best = best_of(judge, pool, seeded)
        box = self._parts.box
        if box is None or self.moves == 0:
            return best
        start = judge(box.inside(np.array(self.fallback))) if best is None else best
        step = box.first_steps([*pool, *seeded], start.z)
        return improved(judge, box, start, step, self.moves)

    def _decision(self, x: Array, xi: Array, given: Any) -> Array:
        """The user's decision for one scenario, judged."""
        z = self._boxed("solve", given)
        excess = float(self.violation(x, z, xi))
        if excess > 0:
            raise ValueError(
                f"The user's solve returned z = {z.tolist()}, which violates its own scenario by "
                f"{excess}. Return None where nothing is feasible."
            )
        return z

    def _boxed(self, name: str, given: Any) -> Array:
        z = decision(name, given, self.dims.z)
        return z if self._parts.box is None else self._parts.box.checked(name, z)

    def _instance(self, name: str, x: Array, z: Array, xi: Array) -> tuple[Array, Array, Array]:
        x = self._checked(name, "x", x)
        z = arguments.inner(name, "z", z, self.dims.z)
        return x, z, arguments.inner(name, "xi", xi, self.dims.xi)

    def _checked(self, owner: str, name: str, x: Array) -> Array:
        unread = self.dims.x is None
        return arguments.array(owner, name, x, (... if unread else self.dims.x,), gaps=unread)


def _unbounded(*_: Array) -> tuple[float, float]:
    return -np.inf, np.inf


def _anything(x: Array, xi: Array) -> bool:
    return True
