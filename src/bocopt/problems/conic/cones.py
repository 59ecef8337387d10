"""One scenario as a cone program whose numbers are affine in p = (x, xi).

    min  1/2 v'Pv + c'v + offset   s.t.  b - A v  in a product of cones

cvxpy compiles a declaration once; where it keeps the rules of disciplined parametrised programming
(DPP), every number of the cone program is affine in the parameters. So the numbers at p = 0 and at
each unit vector give them at any p, for all scenarios at once, without asking cvxpy again.

Reference: Agrawal et al., Differentiable convex optimization layers, 2019.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from bocopt.core import Array, IntArray
from bocopt.problems.conic.notation import Instance, assign, cvxpy

_ROUNDING = 1e-9  # relative, of numbers that are affine in the parameters
Cone = tuple[str, Any]  # its kind, and its size or its power


class VaryingEntries(NamedTuple):
    """The entries of a matrix that are not always zero."""

    row: IntArray
    column: IntArray
    place: slice  # of their values among all numbers


class Cones(NamedTuple):
    """A cone program of one scenario, for any x and xi."""

    rows: int
    columns: int
    cones: tuple[Cone, ...]
    shared: IntArray  # (d) the columns of z
    epigraph: int | None  # the column that is at least the cost, where there is one
    a: VaryingEntries
    p: VaryingEntries  # both triangles
    b: slice
    c: slice
    base: Array  # (n) all numbers where x and xi are zero; the last one is the offset
    slopes: Any  # (k + m, n) sparse

    def numbers(self, parameters: Array) -> Array:
        """(s, k + m) -> (s, n)."""
        at: Array = self.base + parameters @ self.slopes
        return at


class ConeSizes(NamedTuple):
    """The sizes of what cvxpy gave to the solver, which no parameter changes."""

    rows: int
    columns: int
    cones: tuple[Cone, ...]

    def row(self, data: dict[str, Any], offset: float) -> Any:
        """All numbers as one sparse row: A, P, b, c, offset."""
        from scipy import sparse

        r, n = self.rows, self.columns
        matrices = [sparse.coo_array(data["A"]).reshape((1, r * n))]
        quadratic = data.get("P")
        if quadratic is None:
            quadratic = sparse.coo_array((n, n))
        matrices.append(sparse.coo_array(quadratic).reshape((1, n * n)))
        dense = np.concatenate([data["b"], data["c"], [offset]])
        return sparse.hstack([*matrices, sparse.coo_array(dense[None])], format="csr")


def compiled(
    cost: Any,
    constraints: list[Any],
    instance: Instance,
    shared: list[Any],
    *,
    epigraph: bool = False,
) -> Cones | None:
    """The cone program of a cost and constraints; None where it is not affine in x and xi.

    `shared` are the variables that make up z. With an epigraph, the cost is one column more.
    """
    cp = cvxpy()
    marked = list(shared)
    if epigraph:
        marked.append(cp.Variable())
        constraints, cost = [*constraints, cost <= marked[-1]], marked[-1]
    marks = [cp.Parameter(variable.shape) for variable in marked]
    shown = [cp.sum(cp.multiply(mark, v)) for mark, v in zip(marks, marked, strict=True)]
    problem = cp.Problem(cp.Minimize(cost + sum(shown)), constraints)
    if not problem.is_dpp():
        return None
    for parameter in (*instance.parameters, *marks):
        assign(parameter, np.zeros(parameter.size))
    layout, base = _read(problem)
    places = _places(problem, layout, marks, base)
    points = [base, *_at_unit_vectors(problem, instance.parameters)]
    if not _affine(problem, layout, instance.parameters, points):
        return None
    return _drawn(
        layout, points, places[: len(places) - epigraph], places[-1] if epigraph else None
    )


def _read(problem: Any) -> tuple[ConeSizes, Any]:
    """Return the sizes and numbers that cvxpy gives to the solver for the parameters' values."""
    data, _, inverse = problem.get_problem_data(cvxpy().CLARABEL)
    rows, columns = data["A"].shape
    layout = ConeSizes(rows, columns, tuple(_listed(data["dims"])))
    return layout, layout.row(data, float(inverse[-1]["offset"]))


def _listed(dims: Any) -> Iterable[Cone]:
    """The cones in the order of the rows."""
    for cone_type in ("zero", "nonneg"):
        if getattr(dims, cone_type):
            yield cone_type, int(getattr(dims, cone_type))
    for cone_type in ("soc", "psd"):
        yield from ((cone_type, int(size)) for size in getattr(dims, cone_type))
    yield from (("exp", 3) for _ in range(dims.exp))
    yield from (("p3d", float(power)) for power in dims.p3d)
    yield from (("pnd", tuple(powers)) for powers in getattr(dims, "pnd", ()))


def _places(problem: Any, layout: ConeSizes, marks: list[Any], base: Any) -> list[int]:
    """The columns of the marked variables: each gets a cost of its own, and the costs are found."""
    first = 1
    for mark in marks:
        assign(mark, np.arange(first, first + mark.size))
        first += mark.size
    costs = (_read(problem)[1] - base).toarray()[0, -1 - layout.columns : -1]
    for mark in marks:
        assign(mark, np.zeros(mark.size))
    column = {round(cost): j for j, cost in enumerate(costs.tolist()) if cost > 0.5}
    return [column[number] for number in range(1, first)]


def _at_unit_vectors(problem: Any, parameters: list[Any]) -> list[Any]:
    used = {parameter.id for parameter in problem.parameters()}
    points = []
    for parameter in parameters:
        for unit in np.eye(parameter.size):
            assign(parameter, unit if parameter.id in used else 0 * unit)
            points.append(_read(problem)[1])
        assign(parameter, np.zeros(parameter.size))
    return points


def _affine(problem: Any, layout: ConeSizes, parameters: list[Any], points: list[Any]) -> bool:
    """Return whether the affine function of `points` has the right numbers at a random point."""
    rng = np.random.default_rng(0)
    values = [rng.uniform(0.5, 2.0, parameter.shape) for parameter in parameters]
    for i, parameter in enumerate(parameters):
        if parameter.ndim == 2 and parameter.is_symmetric():
            values[i] = values[i] + values[i].T
        assign(parameter, values[i])
    there, truth = _read(problem)
    if there != layout or any(point.shape != truth.shape for point in points):
        return False
    weights = np.concatenate([value.ravel() for value in values])
    said = points[0] * (1 - weights.sum())
    for weight, point in zip(weights, points[1:], strict=True):
        said = said + weight * point
    error, size = abs(said - truth).max(), abs(truth).max()
    return bool(error <= _ROUNDING * max(1.0, size))  # NaN is not


def _drawn(layout: ConeSizes, points: list[Any], shared: list[int], epigraph: int | None) -> Cones:
    """The numbers that are ever other than zero, with b, c and offset in full."""
    from scipy import sparse

    r, n, cones = layout
    every = sparse.vstack(points, format="csc")
    full = r * n + n * n
    entries = np.flatnonzero(np.diff(every.indptr)[:full])
    inside, outside = entries[entries < r * n], entries[entries >= r * n] - r * n
    kept = every[:, np.concatenate([entries, np.arange(full, every.shape[1])])].toarray()
    ends = np.cumsum([len(inside), len(outside), r, n])
    return Cones(
        rows=r,
        columns=n,
        cones=cones,
        shared=np.array(shared, np.int64),
        epigraph=epigraph,
        a=VaryingEntries(*np.divmod(inside, n), slice(0, int(ends[0]))),
        p=VaryingEntries(*np.divmod(outside, n), slice(int(ends[0]), int(ends[1]))),
        b=slice(int(ends[1]), int(ends[2])),
        c=slice(int(ends[2]), int(ends[3])),
        base=kept[0],
        slopes=sparse.csr_array(kept[1:] - kept[0]),
    )
