"""HiGHS behind one small typed module.

Every model is passed anew: an answer then depends on its question alone. A basis is kept only
inside one question, by `Shifting`. Options are lean: the default heuristics of HiGHS take most of
the time of small programs.
"""

import time
from threading import Event, Thread, local
from typing import Any, NamedTuple

import highspy
import numpy as np

from bocopt.core import Array, BoolArray
from bocopt.problems.program.form import Sparse

INF = float(highspy.kHighsInf)
FEASIBLE_WITHIN = 1e-9  # of rows and bounds
_SMALL = 20_000  # coefficients up to which presolving takes longer than it saves
_SHORT = 1_000  # coefficients up to which no run with integers takes long
_SIMPLEX: dict[str, bool | int | float | str] = {
    "output_flag": False,
    "threads": 1,
    "primal_feasibility_tolerance": FEASIBLE_WITHIN,
    "dual_feasibility_tolerance": FEASIBLE_WITHIN,
}
_BRANCHING: dict[str, bool | int | float | str] = {
    "mip_feasibility_tolerance": FEASIBLE_WITHIN,
    "mip_heuristic_run_feasibility_jump": False,
    "mip_heuristic_run_rens": False,
    "mip_heuristic_run_rins": False,
    "mip_heuristic_run_root_reduced_cost": False,
    "mip_heuristic_effort": 0.0,
    "mip_detect_symmetry": False,
    "mip_pscost_minreliable": 2,
}
_KEPT = local()
_GRACE = 0.015  # seconds that a run is given to stop by itself
_STEP = 0.1  # seconds between two looks at the clock and at signals
_KINDS = highspy._core.cb.HighsCallbackType


class LinearProgram(NamedTuple):
    """min cost . v + offset  s.t.  row_lower <= rows v <= row_upper, lower <= v <= upper."""

    cost: Array  # (n)
    lower: Array  # (n)
    upper: Array  # (n)
    rows: Sparse
    row_lower: Array  # (r)
    row_upper: Array  # (r)
    integer: BoolArray | None = None  # (n)
    offset: float = 0.0


class LinearSolution(NamedTuple):
    """Solution found by HiGHS; `point` is None where it found none."""

    point: Array | None  # (n)
    value: float  # of the point; +inf without one
    bound: float  # no point has a lower value; +inf: there is none, -inf: nothing is known
    row_dual: Array  # (r) of a linear program: what a unit more of the limit changes in the value


class SolverError(RuntimeError):
    """HiGHS failed in a way that is not an answer."""


def solve(
    program: LinearProgram,
    *,
    nodes: int | None = None,
    gap: float = 0.0,
    deadline: float | None = None,
    start: Array | None = None,
) -> LinearSolution:
    """The optimum, or the best within the limits.

    `gap` is relative to the value, or to 1 where that is smaller. `start` is a point to begin
    from, NaN where it says nothing.
    """
    if deadline is not None and time.perf_counter() >= deadline:
        return _nothing(program)
    branched = program.integer is not None and bool(program.integer.any())
    size = len(program.rows.value)
    long = size > (_SHORT if branched else _SMALL) or (branched and deadline is not None)
    highs = _new() if long else _kept()
    if long or branched or deadline is not None:
        _limit(highs, size, branched, gap, nodes, deadline)
    _pass(highs, program)
    if start is not None and branched:
        known = np.flatnonzero(~np.isnan(start)).astype(np.int32)
        _checked(highs.setSolution(len(known), known, start[known]))
    if long:
        return _run_watched(highs, program, branched, deadline)
    return _run_at_once(highs, branched, deadline is not None)


def _run_watched(
    highs: Any, program: LinearProgram, branched: bool, deadline: float | None
) -> LinearSolution:
    watched = WatchedRun(highs)
    if watched.run(deadline):
        _checked(watched.status)
        return _found(highs, branched)
    none = _nothing(program)
    return none._replace(point=watched.point, value=watched.value, bound=watched.bound)


def _run_at_once(highs: Any, branched: bool, limited: bool) -> LinearSolution:
    try:
        _checked(highs.run())
        return _found(highs, branched)
    finally:
        if limited:
            highs.setOptionValue("time_limit", INF)  # the next program may have none


def _kept() -> Any:
    """The object of this thread: a new one takes longer than a small program."""
    if not hasattr(_KEPT, "highs"):
        _KEPT.highs = _new()
    return _KEPT.highs


def _limit(
    highs: Any, size: int, branched: bool, gap: float, nodes: int | None, deadline: float | None
) -> None:
    highs.setOptionValue("presolve", "choose" if size > _SMALL else "off")
    left = INF if deadline is None else max(0.0, deadline - time.perf_counter())
    highs.setOptionValue("time_limit", highs.getRunTime() + left)  # its clock is never reset
    if branched:
        highs.setOptionValue("mip_rel_gap", gap)
        highs.setOptionValue("mip_abs_gap", gap)
        highs.setOptionValue("mip_max_nodes", highspy.kHighsIInf if nodes is None else nodes)


def _nothing(program: LinearProgram) -> LinearSolution:
    return LinearSolution(None, np.inf, -np.inf, np.zeros(len(program.row_lower)))


def _new() -> Any:
    highs = highspy._core._Highs()
    for name, value in (_SIMPLEX | _BRANCHING).items():
        _checked(highs.setOptionValue(name, value))
    highs.setOptionValue("presolve", "off")
    return highs


def _pass(highs: Any, program: LinearProgram) -> None:
    n, r = len(program.cost), len(program.row_lower)
    integer = np.zeros(n, np.int32) if program.integer is None else program.integer.astype(np.int32)
    _checked(
        highs.passModel(
            n,
            r,
            len(program.rows.value),
            int(highspy.MatrixFormat.kRowwise),
            int(highspy.ObjSense.kMinimize),
            program.offset,
            program.cost,
            program.lower,
            program.upper,
            program.row_lower,
            program.row_upper,
            program.rows.start,
            program.rows.column,
            program.rows.value,
            integer,
        )
    )


def _found(highs: Any, branched: bool) -> LinearSolution:
    status, kinds = highs.getModelStatus(), highspy.HighsModelStatus
    solution = highs.getSolution()
    row_dual = np.array(solution.row_dual)
    if status == kinds.kOptimal and not branched:  # all there is to ask, and info takes long
        value = float(highs.getObjectiveValue())
        return LinearSolution(np.array(solution.col_value), value, value, row_dual)
    if status == kinds.kInfeasible:
        return LinearSolution(None, np.inf, np.inf, row_dual)
    if status in (kinds.kUnbounded, kinds.kUnboundedOrInfeasible):
        return LinearSolution(None, np.inf, -np.inf, row_dual)
    limits = (kinds.kSolutionLimit, kinds.kTimeLimit, kinds.kIterationLimit, kinds.kInterrupt)
    if status != kinds.kOptimal and status not in limits:
        raise SolverError(f"HiGHS stopped with the status {highs.modelStatusToString(status)!r}.")
    info = highs.getInfo()
    bound = float(info.mip_dual_bound) if branched else -np.inf
    if info.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
        return LinearSolution(None, np.inf, bound, row_dual)
    value = float(info.objective_function_value)
    return LinearSolution(np.array(solution.col_value), value, bound, row_dual)


def _checked(status: Any) -> None:
    if status == highspy.HighsStatus.kError:
        raise SolverError("HiGHS refused a model: are all of its numbers finite and moderate?")


class Shifting:
    """A linear program whose row limits change, each time solved from where it stood."""

    def __init__(self, program: LinearProgram) -> None:
        self._highs = _new()
        self._rows = np.arange(len(program.row_lower), dtype=np.int32)
        self._columns, self._empty = len(program.cost), not len(program.rows.value)
        _pass(self._highs, program)

    def solve(self, row_lower: Array, row_upper: Array) -> LinearSolution:
        """Solve for new limits of the rows (r), from the last basis."""
        many = len(self._rows)
        if many:
            _checked(self._highs.changeRowsBounds(many, self._rows, row_lower, row_upper))
        _checked(self._highs.run())
        return _found(self._highs, branched=False)

    def basis(self) -> tuple[BoolArray, BoolArray]:
        """(n) columns between their bounds, (r) rows at their limits, of the last optimum."""
        basic, tight = np.zeros(self._columns, bool), np.zeros(len(self._rows), bool)
        if self._empty:  # HiGHS has no basis then, and crashes when asked for it
            return basic, tight
        _, variables = self._highs.getBasicVariables()  # columns, or -1 - row
        basic[variables[variables >= 0]] = True
        tight[:] = True
        tight[-1 - variables[variables < 0]] = False
        return basic, tight


def solve_wide(program: LinearProgram) -> LinearSolution:
    """A linear program of few rows and very many columns: scaling takes longer than it saves."""
    highs = _new()
    highs.setOptionValue("simplex_scale_strategy", 0)
    _pass(highs, program)
    _checked(highs.run())
    return _found(highs, branched=False)


class WatchedRun:
    """One long run that ends when it is told to: what it has found so far, and whether it ended.

    HiGHS looks at its time limit only now and then: it overran one of 5 s by 2.4 s. So it runs in a
    thread of its own, and reports its best point and bound by callbacks. Whoever waits stays in
    Python: the deadline is kept by the clock, and Ctrl-C works. A run that does not stop in time is
    left to end by itself and its object is not used again.
    """

    def __init__(self, highs: Any) -> None:
        self.point: Array | None = None
        self.value = np.inf
        self.bound = -np.inf
        self.status: Any = None
        self._stop, self._ended = Event(), Event()
        self._highs = highs
        highs.setCallback(self._called, None)
        for event in (
            _KINDS.kCallbackMipImprovingSolution,
            _KINDS.kCallbackMipInterrupt,
            _KINDS.kCallbackSimplexInterrupt,
            _KINDS.kCallbackIpmInterrupt,
        ):
            highs.startCallback(event)

    def run(self, deadline: float | None) -> bool:
        """Run until the end or the deadline: -> whether it ended."""
        Thread(target=self._run, name="highs").start()
        try:
            while not self._ended.wait(_left(deadline)):
                if deadline is not None and time.perf_counter() >= deadline:
                    self._stop.set()
                    return self._ended.wait(_GRACE)
        except BaseException:
            self._stop.set()
            raise
        return True

    def _run(self) -> None:
        try:
            self.status = self._highs.run()
        finally:
            del self._highs  # it holds our callback: together they would never be freed
            self._ended.set()

    def _called(self, event: Any, _message: str, out: Any, into: Any, _data: object) -> None:
        self.bound = max(self.bound, float(out.mip_dual_bound))
        if int(event) == int(_KINDS.kCallbackMipImprovingSolution):
            self.point = np.array(out.mip_solution, float)
            self.value = float(out.objective_function_value)
        elif self._stop.is_set():
            into.user_interrupt = True


def _left(deadline: float | None) -> float:
    return _STEP if deadline is None else min(_STEP, max(0.0, deadline - time.perf_counter()))
