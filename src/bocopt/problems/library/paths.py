"""Shortest paths with uncertain edge costs.

The kernels are imported at first use: numba takes a while to load, and seconds to compile once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from bocopt import arguments
from bocopt.core import Array, BoolArray, Bounds, Dims, IntArray, Sense, Solution, Status
from bocopt.problems import ranges
from bocopt.problems.library import questions
from bocopt.problems.program import Program, minimise, program, real
from bocopt.problems.risk import Chance


@dataclass(frozen=True, kw_only=True)
class ShortestPath:
    """Choose a path in a directed graph whose edge costs xi are uncertain.

        min xi'z   for z in {0, 1}: one unit flows from source to target

    Edges are pairs (tail, head) of vertices 0, 1, ... The expected cost is linear, so `solve` finds
    the shortest path for the mean costs: by one sweep where the graph has no cycle, by Bellman and
    Ford's method otherwise. Where the means have a cycle of negative cost, its answer takes them
    for zero and has status LIMIT and a true gap. `largest_cost`, of an edge, is for certificates.

    >>> problem = ShortestPath(edges=[(0, 1), (1, 2), (0, 2)], source=0, target=2)
    >>> solution = problem.solve(np.array([[1.0, 1.0, 3.0]]))
    >>> solution.z.tolist(), float(solution.value)
    ([1.0, 1.0, 0.0], 2.0)

    Reference: Bellman, On a routing problem, 1958.
    """

    edges: Sequence[tuple[int, int]]
    source: int
    target: int
    largest_cost: float | None = None

    def __post_init__(self) -> None:
        edges = _checked_edges(self.edges)
        vertices = f"[0, {max(map(max, edges))}]"
        source = arguments.integer("ShortestPath", "source", self.source, vertices)
        target = arguments.integer("ShortestPath", "target", self.target, vertices)
        if target == source:
            raise arguments.wrong("ShortestPath", "target", "another vertex than source", target)
        if target not in _reached(edges, source):
            expected = f"a vertex that can be reached from source = {source}"
            raise arguments.wrong("ShortestPath", "target", expected, target)
        if self.largest_cost is not None:
            largest = arguments.number(
                "ShortestPath", "largest_cost", self.largest_cost, "[0, 1e100]"
            )
            object.__setattr__(self, "largest_cost", largest)
        for name, value in (("edges", edges), ("source", source), ("target", target)):
            object.__setattr__(self, name, value)

    sense: ClassVar[Sense] = Sense.MINIMISE
    risk: ClassVar[Chance] = Chance(1.0)  # what limits z is certain

    @property
    def dims(self) -> Dims:
        """The sizes of z and xi, one number an edge; x is not read."""
        return Dims(x=None, z=len(self.edges), xi=len(self.edges))

    def solve(self, scenarios: Array, w: Array | None = None, x: Array | None = None) -> Solution:
        """(s, m), (s), (k) -> the path that is shortest on average."""
        owner = "ShortestPath.solve"
        scenarios, w, lead = questions.program(owner, self.dims, scenarios, w, x)
        mean = _mean(scenarios, w)
        z, proved = self._paths(mean)
        value = self.risk.value(self._paid(z[..., None, :], scenarios), w)
        gap = np.zeros(value.shape) if proved.all() else self._gap(z, mean, proved)
        status = np.where(proved, int(Status.OPTIMAL), int(Status.LIMIT))
        return Solution(
            np.broadcast_to(z, (*lead, self.dims.z)),
            np.broadcast_to(value, lead),
            np.broadcast_to(status, lead),
            np.broadcast_to(gap, lead),
        )

    def cost(self, x: Array, z: Array, xi: Array) -> Array:
        """(k), (d), (m) -> ()."""
        z, xi, lead = questions.outcome("ShortestPath.cost", self.dims, x, z, xi)
        return np.broadcast_to(self._paid(z, xi), lead)

    def violation(self, x: Array, z: Array, xi: Array) -> Array:
        """Return how far () a decision (d) is from 0 and 1, or from a flow of one unit.

        Feasible means <= 0, and nothing is tolerated.
        """
        z, xi, lead = questions.outcome("ShortestPath.violation", self.dims, x, z, xi)
        return np.broadcast_to(self._violated(z), lead)

    def judge(self, x: Array, z: Array, xi: Array) -> tuple[Array, Array]:
        """(k), (d), (m) -> (), () cost and violation."""
        z, xi, lead = questions.outcome("ShortestPath.judge", self.dims, x, z, xi)
        return np.broadcast_to(self._paid(z, xi), lead), np.broadcast_to(self._violated(z), lead)

    def range(self, x: Array, z: Array) -> tuple[Array, Array]:
        """Return bounds () on the cost of a decision (d) for any possible costs."""
        z = arguments.array("ShortestPath.range", "z", z, (self.dims.z,))
        gained, paid = (np.maximum(side * z, 0.0).sum(axis=-1) for side in (-1.0, 1.0))
        low, high = (np.where(edges > 0, self._most, 0.0) * edges for edges in (gained, paid))
        return -low, high

    def range_of_difference(self, x: Array, z: Array, other: Array) -> tuple[Array, Array]:
        """Return bounds () on the difference in cost of two decisions (d), by edges not shared."""
        owner = "ShortestPath.range_of_difference"
        z, other = ranges.decisions(owner, self.dims, x, z, other)
        return self.range(x, z - other)

    def within(self, bounds: Bounds) -> "CostsWithin":
        """Return exact ends for edge costs within bounds (m), as those of the edges that were
        taken.
        """
        support = np.zeros(self.dims.xi), np.full(self.dims.xi, self._most)
        costs = ranges.possible_within("ShortestPath.within", bounds, support)
        return CostsWithin(self, costs)

    @property
    def why_unranged(self) -> str:
        """Advice where the cost has no upper bound."""
        return "give largest_cost=... to ShortestPath(...)"

    def possible(self, x: Array, xi: Array) -> BoolArray:
        """(k), (m) -> (): costs from 0 to the largest."""
        xi = arguments.array("ShortestPath.possible", "xi", xi, (self.dims.xi,))
        return np.asarray(((xi >= 0) & (xi <= self._most)).all(axis=-1))

    def declared(self) -> Program:
        """The same as a declared program: a beginning for one of your own.

        It is solved for any risk; flows of 0 and 1 come out by themselves where costs are positive.
        """
        tail, head = np.array(self.edges).T
        vertices = np.arange(max(tail.max(), head.max()) + 1)
        leaves, arrives = (np.equal.outer(vertices, end) * 1.0 for end in (tail, head))
        supply = np.zeros(len(vertices))
        supply[self.source], supply[self.target] = 1.0, -1.0

        @program(xi=self.dims.xi, take=real(self.dims.z, upper=1))
        def path(xi: Any, take: Any) -> Any:
            """Return the objective and the rows of one instance, from its symbols."""
            return minimise(xi @ take), (leaves - arrives) @ take == supply

        return path

    def _paths(self, mean: Array) -> tuple[Array, BoolArray]:
        """Return a path (d) for mean costs (m), and whether () it is the shortest."""
        from bocopt.problems.library.kernels import paths

        order, ends, vertices = self._graph
        costs = np.ascontiguousarray(mean.reshape(-1, self.dims.xi))
        z, proved = np.empty_like(costs), np.empty(len(costs), bool)
        paths.solve_each(
            costs, order, ends, self.source, self.target, vertices, self.acyclic, z, proved
        )
        return z.reshape(mean.shape), proved.reshape(mean.shape[:-1])

    def _gap(self, z: Array, mean: Array, proved: BoolArray) -> Array:
        """(d), (m), () -> (): where z is only shortest without negative costs, all that they win.

        None is cheaper without them than z, and no more than all of them can be won.
        """
        unused = (1.0 - z) * np.minimum(mean, 0.0)
        return np.where(proved, 0.0, -unused.sum(axis=-1))

    def _paid(self, z: Array, xi: Array) -> Array:
        from bocopt.problems.library.kernels import paths

        paid: Array = np.asarray(paths.cost(z, xi))
        return paid

    def _violated(self, z: Array) -> Array:
        from bocopt.problems.library.kernels import paths

        _, ends, vertices = self._graph
        found = paths.violation(z, ends, self.source, self.target, np.zeros(vertices))
        return np.asarray(found)

    @property
    def _most(self) -> float:
        return np.inf if self.largest_cost is None else self.largest_cost

    @property
    def acyclic(self) -> bool:
        """True where the graph has no cycle: then costs of either sign are no difficulty."""
        return self._topological is not None

    @cached_property
    def _topological(self) -> dict[int, int] | None:
        return _topological(self.edges)

    @cached_property
    def _graph(self) -> tuple[IntArray, IntArray, int]:
        """The order in which edges are taken (e), their ends (e, 2), and how many vertices."""
        ends = np.array(self.edges, np.int64)
        place = self._topological or _reached(self.edges, self.source)
        last = len(place)
        order = np.argsort([place.get(tail, last) for tail, _ in self.edges], kind="stable")
        return order, ends, int(ends.max()) + 1


@dataclass(frozen=True)
class CostsWithin:
    """Costs of paths for edge costs within bounds (m)."""

    problem: ShortestPath
    costs: Bounds

    def range(self, x: Array, z: Array) -> tuple[Array, Array]:
        """(k), (d) -> (), (): edge by edge, and nothing for those that are not taken."""
        with np.errstate(invalid="ignore"):  # 0 times infinity
            ends = [np.where(z == 0, 0.0, z * end) for end in self.costs]
        return np.minimum(*ends).sum(axis=-1), np.maximum(*ends).sum(axis=-1)

    def range_of_difference(self, x: Array, z: Array, other: Array) -> tuple[Array, Array]:
        """(k), (d), (d) -> (), (): likewise, of the edges that are not shared."""
        return self.range(x, z - other)

    def verdicts(self, x: Array, z: Array) -> tuple[BoolArray, BoolArray]:
        """(k), (d) -> (), (): whether z may be feasible, and whether infeasible."""
        fits = self.problem.violation(x, z, np.zeros(z.shape[-1:])) <= 0  # whatever they are
        possible = ranges.is_possible(self.costs)
        return fits & possible, ~fits & possible


def grid(rows: int, columns: int, *, largest_cost: float | None = None) -> ShortestPath:
    """Return the path problem of a grid, corner to opposite corner, by steps to the right and down.

    Edges stand row by row, first those to the right, then those down.

    >>> problem = grid(5, 5)
    >>> problem.dims.z, problem.target
    (40, 24)
    """
    rows = arguments.integer("grid", "rows", rows, "[1, 10000]")
    columns = arguments.integer("grid", "columns", columns, "[1, 10000]")
    edges: list[tuple[int, int]] = []
    for row in range(rows):
        first = row * columns
        edges += [(first + j, first + j + 1) for j in range(columns - 1)]
        if row < rows - 1:
            edges += [(first + j, first + columns + j) for j in range(columns)]
    return ShortestPath(edges=edges, source=0, target=rows * columns - 1, largest_cost=largest_cost)


def _checked_edges(edges: object) -> tuple[tuple[int, int], ...]:
    expected = "a sequence of pairs (tail, head) of integers >= 0"
    try:
        given = np.array(edges)
    except (TypeError, ValueError):
        given = np.empty(0)
    if given.ndim != 2 or given.shape[-1] != 2 or given.dtype.kind not in "iu" or given.min() < 0:
        raise arguments.wrong("ShortestPath", "edges", expected, edges)
    return tuple((int(tail), int(head)) for tail, head in given)


def _followers(edges: Sequence[tuple[int, int]]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for tail, head in edges:
        found.setdefault(tail, []).append(head)
    return found


def _reached(edges: Sequence[tuple[int, int]], source: int) -> dict[int, int]:
    """The vertices that can be reached, and in which order: the nearest first."""
    after, place, queue = _followers(edges), {source: 0}, [source]
    for vertex in queue:
        for head in after.get(vertex, []):
            if head not in place:
                place[head] = len(place)
                queue.append(head)
    return place


def _topological(edges: Sequence[tuple[int, int]]) -> dict[int, int] | None:
    """A place for each vertex such that edges only lead on; None if there is a cycle."""
    after, entering = _followers(edges), dict.fromkeys(range(max(map(max, edges)) + 1), 0)
    for _, head in edges:
        entering[head] += 1
    queue = [vertex for vertex, many in entering.items() if many == 0]
    for vertex in queue:
        for head in after.get(vertex, []):
            entering[head] -= 1
            if entering[head] == 0:
                queue.append(head)
    return {v: i for i, v in enumerate(queue)} if len(queue) == len(entering) else None


def _mean(scenarios: Array, w: Array) -> Array:
    """(s, m), (s) -> (m): summed in the order of the scenarios."""
    if scenarios.shape[-2] == 1:
        return np.asarray(w * scenarios[..., 0, :])
    mean: Array = np.cumsum(w[..., None] * scenarios, axis=-2)[..., -1, :]
    return mean
