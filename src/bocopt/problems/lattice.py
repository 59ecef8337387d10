"""Exact search over the integer points of a box, and which of our searches takes which instance.

- one scenario, no negative weight: `certain`, microseconds;
- many scenarios, no negative weight: `chance`;
- otherwise (a negative weight, or an alpha of nothing): `reference`, the readable search, which
  both are tested against.

All three give the same answer, ties included: the lexicographically smallest of the best z, judged
in float64 in item, then scenario order. At the node limit they give the best z found and a gap.
"""

import numpy as np

from bocopt.compiled import gufunc
from bocopt.core import Array, IntArray, Status
from bocopt.problems.certain import solve_certain
from bocopt.problems.chance import solve_chance
from bocopt.problems.judge import WEIGHT_TOLERANCE, Program
from bocopt.problems.reference import solve_readably

OPTIMAL, INFEASIBLE, LIMIT = int(Status.OPTIMAL), int(Status.INFEASIBLE), int(Status.LIMIT)


@gufunc(
    "void(f8[:,:,:], f8[:], f8[:], f8[:], f8[:], f8[:], f8[:], f8, f8, i8, b1,"
    " f8[:], f8[:], i8[:], f8[:])",
    "(s,r,d),(s),(d),(r),(r),(d),(d),(),(),(),()->(d),(),(),()",
)
def solve(
    weights: Array,
    w: Array,
    value: Array,
    capacity: Array,
    salvage: Array,
    lower: Array,
    upper: Array,
    alpha: float,
    payment: float,
    limit: int,
    readably: bool,
    z: Array,
    cost: Array,
    status: IntArray,
    gap: Array,
) -> None:
    """The optimum under the scenarios; `readably` forces the readable search."""
    program = Program(
        weights=weights.copy(),
        w=w.copy(),
        value=value.copy(),
        capacity=capacity.copy(),
        salvage=salvage.copy(),
        lower=lower.copy(),
        upper=upper.copy(),
        need=alpha * w.sum() - WEIGHT_TOLERANCE,
        payment=payment,
    )
    best_z = np.empty(len(z))
    if readably or weights.min() < 0.0 or program.need <= 0.0:
        answer = solve_readably(program, limit, best_z)
    elif len(w) == 1:
        answer = solve_certain(program, limit, best_z)
    else:
        answer = solve_chance(program, limit, best_z)
    z[:] = best_z
    cost[0] = 0.0 - answer.best
    gap[0] = 0.0 if answer.finished else answer.at_most - answer.best
    found = OPTIMAL if answer.best > -np.inf else INFEASIBLE
    status[0] = found if answer.finished else LIMIT
