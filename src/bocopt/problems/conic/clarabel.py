"""The one way to Clarabel: a cone program in, a verdict out."""

from collections.abc import Mapping
from enum import Enum
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from bocopt.core import Array
from bocopt.problems.conic.cones import Cone


class SolverStatus(Enum):
    """Status in which a solver ended."""

    SOLVED = "solved"
    INACCURATE = "inaccurate"  # a point, and nothing is proved of it
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    FAILED = "failed"


_VERDICTS = {
    "Solved": SolverStatus.SOLVED,
    "AlmostSolved": SolverStatus.INACCURATE,
    "PrimalInfeasible": SolverStatus.INFEASIBLE,
    "DualInfeasible": SolverStatus.UNBOUNDED,
}


class ConeSolution(NamedTuple):
    """Solution of a cone program; a point only where it is solved or inaccurate."""

    verdict: SolverStatus
    point: Array | None = None
    value: float = np.inf
    bound: float = -np.inf  # that no cost falls below, as far as the solver's tolerances go


class ConeProgram(NamedTuple):
    """min 1/2 v'Pv + c'v + offset  s.t.  b - A v in the cones."""

    p: Any  # (n, n) sparse, the upper triangle
    c: Array  # (n)
    a: Any  # (r, n) sparse, both by columns
    b: Array  # (r)
    cones: list[Cone]
    offset: float


def solve(program: ConeProgram, options: Mapping[str, Any]) -> ConeSolution:
    """Solve from scratch, on one thread: the same question has the same answer."""
    library = import_module("clarabel")
    settings = library.DefaultSettings()
    settings.verbose = False
    if hasattr(settings, "max_threads"):
        settings.max_threads = 1
    for name, value in options.items():
        setattr(settings, name, value)
    cones = [_made(library, cone) for cone in program.cones]
    solver = library.DefaultSolver(program.p, program.c, program.a, program.b, cones, settings)
    ended = solver.solve()
    verdict = _VERDICTS.get(str(ended.status), SolverStatus.FAILED)
    if verdict not in (SolverStatus.SOLVED, SolverStatus.INACCURATE):
        return ConeSolution(verdict)
    value, bound = ended.obj_val + program.offset, ended.obj_val_dual + program.offset
    return ConeSolution(
        verdict, np.array(ended.x), value, bound if verdict is SolverStatus.SOLVED else -np.inf
    )


def _made(library: Any, cone: Cone) -> Any:
    cone_type, size = cone
    if cone_type == "zero":
        return library.ZeroConeT(size)
    if cone_type == "nonneg":
        return library.NonnegativeConeT(size)
    if cone_type == "soc":
        return library.SecondOrderConeT(size)
    if cone_type == "psd":
        return library.PSDTriangleConeT(size)
    if cone_type == "exp":
        return library.ExponentialConeT()
    if cone_type == "p3d":
        return library.PowerConeT(size)
    return library.GenPowerConeT(list(size), 1)
