"""Local search from a decision: single steps, and steps of one item for another."""

from typing import NamedTuple

import numpy as np

from bocopt.core import Array
from bocopt.numeric.compiled import compiled, reordered
from bocopt.problems.program.strategies.kernels.node import SearchInstance

SIZES = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 2.0], [2.0, 1.0]])  # up, down
SWEEPS = 30  # at most


class ClimbPoint(NamedTuple):
    """A decision under all scenarios."""

    steps: Array  # (d)
    slack: Array  # (r, s)
    excess: Array  # (s)
    room: Array  # (m)


class Swap(NamedTuple):
    """Some steps up with one item, some down with another."""

    riser: int
    up: float
    faller: int
    down: float


@reordered
def cost_after(p: SearchInstance, at: ClimbPoint, m: Swap, least: Array) -> float:
    """Return the excess cost of the scenarios met after a move; inf where too few are met."""
    least[:] = np.inf
    for r in range(len(p.slack)):
        slack, rising, falling = at.slack[r], p.load[m.riser, r], p.load[m.faller, r]
        for i in range(len(p.w)):
            least[i] = min(least[i], slack[i] - m.up * rising[i] + m.down * falling[i])
    weight = cost = 0.0
    for i in range(len(p.w)):
        weight += p.w[i] if least[i] >= 0.0 else 0.0
    if weight < p.need:
        return np.inf
    if p.pays:
        rising, falling = p.cost[m.riser], p.cost[m.faller]
        for i in range(len(p.w)):
            excess = at.excess[i] + m.up * rising[i] - m.down * falling[i]
            cost += p.w[i] * excess if least[i] >= 0.0 else 0.0
    return cost


@compiled
def allowed(p: SearchInstance, at: ClimbPoint, m: Swap) -> bool:
    """Return whether the box and the certain rows allow a move."""
    if at.steps[m.riser] + m.up > p.reach[m.riser] or at.steps[m.faller] < m.down:
        return False
    for row in range(len(p.room)):
        used = m.up * p.certain[m.riser, row] - m.down * p.certain[m.faller, row]
        if used > at.room[row]:
            return False
    return True


@compiled
def make(p: SearchInstance, at: ClimbPoint, m: Swap) -> None:
    """Make a move: update the point in place."""
    at.steps[m.riser] += m.up
    at.steps[m.faller] -= m.down
    for r in range(len(p.slack)):
        for i in range(len(p.w)):
            at.slack[r, i] += m.down * p.load[m.faller, r, i] - m.up * p.load[m.riser, r, i]
    for i in range(len(at.excess)):
        at.excess[i] += m.up * p.cost[m.riser, i] - m.down * p.cost[m.faller, i]
    for row in range(len(at.room)):
        at.room[row] += m.down * p.certain[m.faller, row] - m.up * p.certain[m.riser, row]


@compiled
def climb(p: SearchInstance, steps: Array) -> None:
    """Move while a move pays; `p` has limits with their margins inside."""
    items = len(p.reach)
    at = ClimbPoint(steps, p.slack.copy(), p.excess.copy(), p.room.copy())
    none = Swap(0, 0.0, 0, 0.0)
    for item in range(items):
        taken = steps[item]
        steps[item] = 0.0
        make(p, at, Swap(item, taken, item, 0.0))
    least = np.empty(len(p.w))
    cost = cost_after(p, at, none, least)
    for _ in range(SWEEPS):
        improved = False
        for size in range(len(SIZES)):
            up, down = SIZES[size, 0], SIZES[size, 1]
            for riser in range(items if up > 0.0 else 1):
                for faller in range(items if down > 0.0 else 1):
                    m = Swap(riser, up, faller, down)
                    steady = up * p.steady[riser] - down * p.steady[faller]
                    if (riser == faller and up * down > 0.0) or not allowed(p, at, m):
                        continue
                    if not p.pays and steady >= 0.0:
                        continue
                    after = cost_after(p, at, m, least)
                    if after + steady < cost - 1e-9 * abs(cost):
                        make(p, at, m)
                        cost, improved = after, True
        if not improved:
            break
