"""The fast search for one certain scenario with non-negative weights.

It answers exactly what the readable search answers, ties included. What makes it fast:

- an item that earns less than its resources are worth (v = c - q'A < 0) stays at its lower end;
- for any prices p >= 0, with items j.. free, room b - A z left and u_k how far item k can go,

      objective <= earned + p'room + sum_{k>=j} (v_k - p'A_k)^+ u_k.                            (U)

  A tiny simplex finds the best prices for the items j.., for each j. (U) is linear in the next
  item, so the values worth trying are computed rather than scanned;
- the last item is not searched: the objective is linear in it, so it goes as high as it can.

All of this is in search order and only prunes, with a margin for rounding; a z that is kept has
been judged in item order.
"""

from typing import NamedTuple

import numpy as np

from bocopt.core import Array, IntArray
from bocopt.numeric.compiled import compiled, inlined
from bocopt.problems.knapsack.bounds import narrowed
from bocopt.problems.knapsack.judge import KnapsackInstance, SearchResult, comes_before, dot

MARGIN = 1e-9  # relative safety of pruning: rounding, and a weight that is 1 +- 1e-9
SIMPLEX_TOLERANCE = 1e-9


class SearchPlan(NamedTuple):
    """The items that are searched, in search order: views of a `Desk`."""

    item: IntArray  # (n) which they are
    profit: Array  # (n) v
    reach: Array  # (n) u
    use: Array  # (n, r) A
    price: Array  # (n + 1, r) p with items j.. free
    leftover: Array  # (n + 1) the sum of (U)


class Desk(NamedTuple):
    """Room to work for instances of one size: many small ones would spend their time on memory."""

    plan: SearchPlan  # with room for all items
    table: Array  # (r + 1, d + r + 1) of the simplex method
    profit: Array  # (d) by item
    reach: Array  # (d)
    use: Array  # (d, r)
    start: Array  # (r) room before the first item
    z: Array  # (d)
    room: Array  # (d, r) before item j in search order
    earned: Array  # (d)
    untried: Array  # (d, 2)


@compiled
def desk_for(items: int, resources: int) -> Desk:
    """Return empty working arrays for instances of so many items (d) and resources (r)."""
    return Desk(
        plan=SearchPlan(
            item=np.empty(items, np.int64),
            profit=np.empty(items),
            reach=np.empty(items),
            use=np.empty((items, resources)),
            price=np.empty((items + 1, resources)),
            leftover=np.empty(items + 1),
        ),
        table=np.empty((resources + 1, items + resources + 1)),
        profit=np.empty(items),
        reach=np.empty(items),
        use=np.empty((items, resources)),
        start=np.empty(resources),
        z=np.empty(items),
        room=np.empty((items, resources)),
        earned=np.empty(items),
        untried=np.empty((items, 2)),
    )


@inlined
def reach_of(use: Array, room: Array, most: float) -> float:
    """Return how many units of an item, `use` (r) each, fit the room (r), at most `most`."""
    for r in range(len(room)):
        if use[r] * most > room[r]:
            most = np.floor(room[r] / use[r])
    return most


@inlined
def set_table(p: SearchPlan, first: int, room: Array, table: Array) -> None:
    """(A, 1, room) over (-v, 0, 0), for the items first.. ."""
    resources, items = p.use.shape[1], len(p.item) - first
    last = items + resources
    for r in range(resources + 1):
        for k in range(last + 1):
            table[r, k] = 1.0 if k == items + r else 0.0
        for k in range(items):
            table[r, k] = p.use[first + k, r] if r < resources else -p.profit[first + k]
        if r < resources:
            table[r, last] = room[r]


@inlined
def set_prices(p: SearchPlan, first: int, room: Array, table: Array) -> None:
    """Prices for the items first..: the dual of max v'y subject to A y <= room, y >= 0.

    The simplex method on a table of (A, 1, room) over (-v, 0, 0). Any non-negative answer makes (U)
    true, an optimal one makes it tight: so no care is taken of unbounded or degenerate cases.
    """
    resources, items = p.use.shape[1], len(p.item) - first
    last = items + resources
    set_table(p, first, room, table)
    for _ in range(2 * last):
        enter, leave = 0, -1
        for k in range(1, last):
            if table[resources, k] < table[resources, enter]:
                enter = k
        if table[resources, enter] > -SIMPLEX_TOLERANCE:
            break
        least = np.inf
        for r in range(resources):
            if table[r, enter] > SIMPLEX_TOLERANCE and table[r, last] < least * table[r, enter]:
                leave, least = r, table[r, last] / table[r, enter]
        if leave < 0:
            break
        pivot(table, leave, enter, last)
    for r in range(resources):
        p.price[first, r] = max(table[resources, items + r], 0.0)


@inlined
def pivot(table: Array, leave: int, enter: int, last: int) -> None:
    """Pivot the simplex table in place, on row `leave` and column `enter`."""
    inverse = 1.0 / table[leave, enter]
    for k in range(last + 1):
        table[leave, k] *= inverse
    for r in range(len(table)):
        factor = table[r, enter]
        if r != leave and factor != 0.0:
            for k in range(last + 1):
                table[r, k] -= factor * table[leave, k]


@inlined
def interval(p: SearchPlan, j: int, earned: float, room: Array, goal: float) -> tuple[float, float]:
    """The values of item j that fit and for which (U) with items j + 1.. free reaches the goal."""
    gain = p.profit[j] - dot(p.price[j + 1], p.use[j])
    missing = goal - earned - dot(p.price[j + 1], room) - p.leftover[j + 1]
    return narrowed(0.0, reach_of(p.use[j], room, p.reach[j]), gain, missing)


@inlined
def feasible(a: KnapsackInstance, z: Array) -> bool:
    """Return whether z (d) keeps all capacities."""
    for r in range(len(a.capacity)):
        if dot(a.weights[0, r], z) - a.capacity[r] > 0.0:
            return False
    return True


@inlined
def objective_of(a: KnapsackInstance, z: Array) -> float:
    """Return the weighted reward of a feasible z (d)."""
    total = dot(a.value, z)
    for r in range(len(a.capacity)):
        total += a.salvage[r] * (a.capacity[r] - dot(a.weights[0, r], z))
    return float(a.w[0] * total)


@inlined
def highest_feasible(a: KnapsackInstance, z: Array, item: int, guess: float, most: float) -> float:
    """The highest step of an item above z that the judge accepts (-1: none), near the guess."""
    start = z[item]
    low, high = -1.0, most + 1.0  # the judge accepts low (or there is none) and refuses high
    near = guess + 1.0  # a good guess is accepted, and refused one above; otherwise bisect
    while high - low > 1.0:
        guess = min(max(guess, low + 1.0), high - 1.0)
        z[item] = start + guess
        if feasible(a, z):
            low = guess
        else:
            high = guess
        guess = near if low < near < high else np.floor((low + high) / 2.0)
        near = -1.0
    z[item] = start
    return low


@inlined
def close_last(
    a: KnapsackInstance,
    p: SearchPlan,
    z: Array,
    room: Array,
    margin: float,
    best: float,
    best_z: Array,
) -> float:
    """Try the last item as high as the judge lets it, or at all values if it earns nothing."""
    j = len(p.item) - 1
    item, start = p.item[j], z[p.item[j]]
    step = highest_feasible(a, z, item, reach_of(p.use[j], room, p.reach[j]), p.reach[j])
    while step >= 0.0:
        z[item] = start + step
        objective = objective_of(a, z)
        if objective > best or (objective == best and comes_before(z, best_z)):
            best = objective
            best_z[:] = z
        step = -1.0 if p.profit[j] > margin else step - 1.0
    z[item] = start
    return best


@inlined
def search(
    a: KnapsackInstance,
    p: SearchPlan,
    desk: Desk,
    earned_at_start: float,
    margin: float,
    limit: int,
    best_z: Array,
) -> tuple[float, bool, int]:
    """Depth-first; `best_z` is the lower end at first. The best, if it surely is, and nodes."""
    last = len(p.item) - 1
    z, room, earned, untried = desk.z, desk.room, desk.earned, desk.untried
    z[:] = a.lower
    room[0], earned[0] = desk.start, earned_at_start
    untried[0, 0], untried[0, 1] = interval(p, 0, earned[0], room[0], earned[0] - margin)
    best, nodes, j = earned[0], 0, 0
    while j >= 0:
        low, value = untried[j, 0], untried[j, 1]
        if j == last or low > value:
            if j == last and earned[j] + p.profit[j] * value >= best - margin:
                if p.profit[j] <= margin:  # all its values will be tried
                    nodes += int(max(value, 0.0))
                if nodes > limit:
                    return best, False, nodes
                best = close_last(a, p, z, room[j], margin, best, best_z)
            z[p.item[j]] = a.lower[p.item[j]]
            j -= 1
            continue
        if nodes >= limit:
            return best, False, nodes
        nodes += 1
        untried[j, 1] = value - 1.0
        z[p.item[j]] = a.lower[p.item[j]] + value
        earned[j + 1] = earned[j] + p.profit[j] * value
        for r in range(len(desk.start)):
            room[j + 1, r] = room[j, r] - p.use[j, r] * value
        if earned[j + 1] + dot(p.price[j + 1], room[j + 1]) + p.leftover[j + 1] >= best - margin:
            j += 1
            untried[j, 0], untried[j, 1] = interval(p, j, earned[j], room[j], best - margin)
    return best, True, nodes


@inlined
def order_items(p: SearchPlan) -> None:
    """Sort the items by |reduced profit| at the root's prices, smallest first, by insertion."""
    for k in range(1, len(p.item)):
        while k > 0 and clarity(p, k) < clarity(p, k - 1):
            p.item[k], p.item[k - 1] = p.item[k - 1], p.item[k]
            p.profit[k], p.profit[k - 1] = p.profit[k - 1], p.profit[k]
            p.reach[k], p.reach[k - 1] = p.reach[k - 1], p.reach[k]
            for r in range(p.use.shape[1]):
                p.use[k, r], p.use[k - 1, r] = p.use[k - 1, r], p.use[k, r]
            k -= 1


@inlined
def clarity(p: SearchPlan, k: int) -> float:
    """Return the |reduced profit| of item k at the root's prices."""
    return float(abs(p.profit[k] - dot(p.price[0], p.use[k])))


@inlined
def plan_of(desk: Desk, margin: float) -> SearchPlan:
    """The items worth searching, with their prices."""
    items, resources = desk.use.shape
    all_, n = desk.plan, 0
    for j in range(items):
        if desk.profit[j] >= -margin and desk.reach[j] > 0.0:
            all_.item[n], all_.profit[n], all_.reach[n] = j, desk.profit[j], desk.reach[j]
            for r in range(resources):
                all_.use[n, r] = desk.use[j, r]
            n += 1
    p = SearchPlan(
        item=all_.item[:n],
        profit=all_.profit[:n],
        reach=all_.reach[:n],
        use=all_.use[:n],
        price=all_.price[: n + 1],
        leftover=all_.leftover[: n + 1],
    )
    p.price[n], p.leftover[:] = 0.0, 0.0
    for j in range(n):
        set_prices(p, j, desk.start, desk.table)
        if j == 0:
            order_items(p)
        for k in range(j, n):
            p.leftover[j] += max(p.profit[k] - dot(p.price[j], p.use[k]), 0.0) * p.reach[k]
    return p


@compiled
def solve_certain(a: KnapsackInstance, desk: Desk, limit: int, best_z: Array) -> SearchResult:
    """Solve an instance of one scenario without negative weights; z (d) is written to `best_z`."""
    _, resources, items = a.weights.shape
    best_z[:] = a.lower
    if not feasible(a, a.lower):
        return SearchResult(-np.inf, -np.inf, True, 1)
    room, margin = desk.start, 0.0
    for r in range(resources):
        room[r] = a.capacity[r] * (1.0 + MARGIN) - dot(a.weights[0, r], a.lower)
        margin += MARGIN * a.salvage[r] * a.capacity[r]
    for j in range(items):
        for r in range(resources):
            desk.use[j, r] = a.weights[0, r, j]
        desk.profit[j] = a.value[j] - dot(a.salvage, desk.use[j])
        desk.reach[j] = reach_of(desk.use[j], room, a.upper[j] - a.lower[j])
        margin += MARGIN * a.value[j] * (a.lower[j] + desk.reach[j])
    p = plan_of(desk, margin)
    earned = objective_of(a, a.lower)
    if len(p.item) == 0:
        return SearchResult(earned, earned, True, 1)
    best, finished, nodes = search(a, p, desk, earned, margin, limit, best_z)
    at_most = earned + dot(p.price[0], room) + p.leftover[0] + margin
    return SearchResult(best, at_most, finished, nodes)
