"""Exact search over the integer points of a box, and which of our searches takes which instance.

- one scenario, no negative weight: `certain`, microseconds;
- many scenarios, no negative weight: `chance`;
- otherwise (a negative weight, or an alpha of nothing): `reference`, the readable search, which
  both are tested against.

All three give the same answer, ties included: the lexicographically smallest of the best z, judged
in float64 in item, then scenario order. At the node limit they give the best z found and a gap.

Machine code cannot be interrupted, so none runs for long: a decision stops at its limit, by default
after about a second, and a batch comes back to Python every second or so.
"""

import numpy as np

from bocopt.core import Array, IntArray, Status
from bocopt.numeric.compiled import compiled
from bocopt.problems.knapsack.certain import desk_for, solve_certain
from bocopt.problems.knapsack.chance import solve_chance
from bocopt.problems.knapsack.judge import KnapsackInstance
from bocopt.problems.knapsack.reference import solve_readably
from bocopt.problems.knapsack.worst import worst_reward
from bocopt.problems.risk import WEIGHT_TOLERANCE

OPTIMAL, INFEASIBLE, LIMIT = int(Status.OPTIMAL), int(Status.INFEASIBLE), int(Status.LIMIT)
ONE_SECOND = 5e8  # of work, in looks at one resource of one scenario
READABLY = 6.0  # how much longer the readable search takes


def nodes_in_a_second(scenarios: int, resources: int, items: int, readably: bool) -> int:
    """About as many: a node looks at all scenarios and, where there are many, at all items."""
    looks = (resources + 1.0) * (scenarios + 4.0 * (items if scenarios > 1 else 1))
    return int(ONE_SECOND / looks / (READABLY if readably else 1.0))


@compiled
def solve_each(
    weights: Array,
    w: Array,
    value: Array,
    capacity: Array,
    salvage: Array,
    lower: Array,
    upper: Array,
    alpha: float,
    payment: float,
    worst: bool,
    limit: int,
    readably: bool,
    z: Array,
    cost: Array,
    status: IntArray,
    gap: Array,
    first: int,
    most: float,
) -> int:
    """Instances along the first axis of weights (n, s, r, d) and w (n, s), written to the rest.

    From the `first` on, until `most` nodes were looked at; returns the first that is left.
    """
    desk, nodes = desk_for(len(value), len(capacity)), 0.0
    for i in range(first, len(weights)):
        need = alpha * w[i].sum() - WEIGHT_TOLERANCE
        payments = np.full(w.shape[1], payment)
        if worst and (w.shape[1] > 1 or need <= 0.0):  # else it must be met, and pays nothing
            for k in range(w.shape[1]):
                payments[k] = worst_reward(
                    weights[i, k], value, capacity, salvage, lower, upper, payment, desk
                )
        program = KnapsackInstance(
            weights=weights[i],
            w=w[i],
            value=value,
            capacity=capacity,
            salvage=salvage,
            lower=lower,
            upper=upper,
            need=need,
            payments=payments,
            pays=worst,
        )
        if readably or weights[i].min() < 0.0 or program.need <= 0.0:
            answer = solve_readably(program, limit, z[i])
        elif w.shape[1] == 1:
            answer = solve_certain(program, desk, limit, z[i])
        else:
            answer = solve_chance(program, limit, z[i])
        cost[i] = 0.0 - answer.best
        gap[i] = 0.0 if answer.finished else answer.at_most - answer.best
        found = OPTIMAL if answer.best > -np.inf else INFEASIBLE
        status[i] = found if answer.finished else LIMIT
        nodes += answer.nodes
        if nodes > most:
            return i + 1
    return len(weights)


def solve(
    weights: Array,
    w: Array,
    constants: tuple[Array, Array, Array, Array, Array],
    alpha: float,
    payment: float,
    limit: int | None,
    readably: bool,
    worst: bool = False,
) -> tuple[Array, Array, IntArray, Array]:
    """(s, r, d), (s) -> z (d), cost (), status () and gap (): the optimum under the scenarios.

    `constants` are value, capacity, salvage, lower and upper; `readably` forces the readable
    search. With `worst`, scenarios that are not met pay what the worst of their feasible decisions
    does, and `payment` where there is none.
    """
    core, (scenarios, resources, items) = weights.shape[-3:], weights.shape[-3:]
    slow = readably or bool(weights.min() < 0.0)
    a_second = nodes_in_a_second(scenarios, resources, items, slow)
    lead = np.broadcast_shapes(weights.shape[:-3], w.shape[:-1])
    weights = np.broadcast_to(weights, (*lead, *core)).reshape(-1, *core)
    w = np.broadcast_to(w, (*lead, core[0])).reshape(-1, core[0])
    z, cost, gap = np.empty((len(w), items)), np.empty(len(w)), np.empty(len(w))
    status = np.empty(len(w), np.int64)
    weights, w = (np.require(a, requirements=("C", "W")) for a in (weights, w))
    done = 0
    while done < len(w):  # an interrupt is noticed here
        done = solve_each(
            weights,
            w,
            *constants,
            alpha,
            payment,
            worst,
            a_second if limit is None else limit,
            readably,
            z,
            cost,
            status,
            gap,
            done,
            float(a_second),
        )
    return z.reshape(*lead, items), cost.reshape(lead), status.reshape(lead), gap.reshape(lead)
