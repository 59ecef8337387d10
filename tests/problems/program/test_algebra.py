"""What a declaration says is what numpy says of the same function."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bocopt import absolute, minimise, pos, program, real
from bocopt.core import Array

RNG = np.random.default_rng(3)
C, M, X = RNG.normal(size=4), RNG.normal(size=(3, 4)), RNG.normal(size=2)
XI, Z = RNG.normal(size=(5, 6)), RNG.normal(size=(7, 4))
Body = Callable[[Any, Any, Any], Any]

LINEAR: dict[str, Body] = {
    "a product": lambda x, xi, z: C @ z,
    "from the right": lambda x, xi, z: z @ C,
    "a random vector": lambda x, xi, z: xi[:4] @ z,
    "a matrix": lambda x, xi, z: (M @ z) @ xi[1:4],
    "a random matrix": lambda x, xi, z: (xi[:4].reshape(2, 2) @ z[:2]).sum(),
    "matrices": lambda x, xi, z: (z.reshape(2, 2) @ xi[:4].reshape(2, 2)).sum(),
    "an outer product": lambda x, xi, z: (xi[:, None] * z[None, :]).sum(axis=0)[2],
    "numbers of x": lambda x, xi, z: x[1] * z[0] - np.exp(x[0]) * z[1],
    "functions of xi": lambda x, xi, z: (np.sin(xi[:4]) / (1 + xi[2] ** 2) * z).sum(),
    "both": lambda x, xi, z: (x @ xi[:2]) * z[3] + np.maximum(xi[0], x[0]) - z[1],
    "indices": lambda x, xi, z: z[-1] + z[[0, 2]].sum() + z[::2][1] + z[np.array(C > 0)].sum(),
    "twice the same": lambda x, xi, z: z[0] + 2 * z[0] - xi[0] * z[0] + z[0] / 4,
    "cancelled": lambda x, xi, z: z[0] - z[0] + z[1],
    "numpy's sum": lambda x, xi, z: np.sum(z * C) + np.mean(z) + np.dot(z, C) + np.inner(C, z),
    "rearranged": lambda x, xi, z: (
        np.roll(np.flip(np.tile(z, 2)), 1)[:3].sum() + z.reshape(2, 2).T[0, 1]
    ),
    "joined": lambda x, xi, z: np.concatenate([z, xi]) @ np.arange(10.0) + np.stack([z, z])[1, 2],
    "stacked by columns": lambda x, xi, z: (
        np.column_stack([z, 2 * z])[3, 1] + np.hstack([z, C]).sum()
    ),
    "joined, apart again": lambda x, xi, z: z[0] + np.exp(np.concatenate([z, xi])[4:]).sum(),
    "chosen": lambda x, xi, z: np.where(xi[:4] > 0, z, 2 * z - xi[1:5]).sum(),
    "differences": lambda x, xi, z: np.diff(z) @ xi[:3] + np.cumsum(z)[2],
    "python's sum": lambda x, xi, z: sum(z[i] * xi[i] for i in range(4)) + sum(z),
    "a loop": lambda x, xi, z: list(z)[1] + len(z),
    "a list": lambda x, xi, z: [1, 2, 3, 4] @ z + (z * [4, 3, 2, 1]).sum(),
    "an axis": lambda x, xi, z: (
        z.reshape(2, 2).sum(axis=1) @ xi[:2] + z.reshape(2, 2).sum(axis=(0, 1))
    ),
    "numbers alone": lambda x, xi, z: 0 * z[0] + xi.sum() - x @ x,
    "a minus": lambda x, xi, z: -(2 - z[0]) + (+z[1]) - (3 - z[2]),
}
CONVEX: dict[str, Body] = {
    "a positive part": lambda x, xi, z: pos(xi[:4] - z).sum(),
    "weighted by xi": lambda x, xi, z: (xi[:4] ** 2) @ pos(z - xi[1:5]),
    "an absolute value": lambda x, xi, z: absolute(z - xi[0]).sum() + np.abs(z[0]) + abs(z[1]),
    "a maximum": lambda x, xi, z: np.maximum(0, z).sum() + np.maximum(z, xi[:4]).sum(),
    "of two decisions": lambda x, xi, z: np.maximum(z[0], z[1]) + np.maximum(z[2], 0.5),
    "a minimum, taken off": lambda x, xi, z: -np.minimum(z, xi[:4]).sum(),
    "inside each other": lambda x, xi, z: pos(pos(z[0] - xi[0]) + 2 * pos(x[0] - z[1]) - 0.1),
    "of x alone": lambda x, xi, z: pos(z[:2] - x).sum() + pos(x[0]) * z[0],
}


def declared(body: Body, **options: Any) -> Any:
    @program(x=2, xi=6, z=real(4, lower=-9, upper=9), **options)
    def made(x: Any, xi: Any, z: Any) -> Any:
        return minimise(body(x, xi, z))

    return made


@pytest.mark.parametrize("name", LINEAR | CONVEX)
def test_the_judge_says_what_numpy_says(name: str) -> None:
    body = (LINEAR | CONVEX)[name]
    costs = declared(body).cost(X, Z[:, None], XI)
    assert costs.shape == (7, 5)
    expected = [[body(X, xi, z) for xi in XI] for z in Z]
    np.testing.assert_allclose(costs, np.array(expected, dtype=float), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", LINEAR)
def test_the_form_says_what_numpy_says(name: str) -> None:
    body = LINEAR[name]
    form = declared(body).form(X, XI)
    for z in Z:
        said = form.constant + (form.cost * z).sum(axis=-1)
        expected = np.array([body(X, xi, z) for xi in XI], dtype=float)
        np.testing.assert_allclose(np.broadcast_to(said, 5), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", CONVEX)
def test_auxiliaries_stand_for_what_they_are(name: str) -> None:
    """The rows of the form say t >= e; at the smallest such t the costs are numpy's."""
    body = CONVEX[name]
    form = declared(body).form(X, XI)
    for z in Z:
        for s, xi in enumerate(XI):
            columns = np.concatenate([z, np.zeros(len(form.lower) - 4)])
            rows = [(form.certain, form.shared), (form.defining, len(form.lower))]
            for _ in range(3):  # some stand inside others
                for block, width in rows:
                    matrix = block.matrix[s if len(block.matrix) > 1 else 0]
                    limit = block.limit[s if len(block.limit) > 1 else 0]
                    for row, most in zip(matrix, limit, strict=True):
                        own = int(np.flatnonzero(row == -1)[-1])
                        without = row @ columns[:width] + columns[own]
                        columns[own] = max(0.0, without - most)
            cost = form.cost[s if len(form.cost) > 1 else 0] @ columns
            cost += form.constant[s if len(form.constant) > 1 else 0]
            assert cost == pytest.approx(body(X, xi, z), rel=1e-9, abs=1e-9)


def test_what_depends_on_xi_is_found_out() -> None:
    @program(x=2, xi=6, z=real(4, upper=9))
    def some(x: Any, xi: Any, z: Any) -> Any:
        return minimise(C @ z), M @ z <= 3, xi[:3] <= M @ z, z.sum() <= x[0], xi[:4] @ z == 1

    form = some.form(X, XI)
    assert form.cost.shape == (1, 4)
    assert form.certain.many == 4
    assert form.certain.matrix.shape == (1, 4, 4)
    assert form.uncertain.many == 4
    assert form.uncertain.matrix.shape == (5, 4, 4)
    assert form.uncertain.limit.shape == (5, 4)
    assert form.uncertain.equal.tolist() == [False, False, False, True]


def test_random_limits_alone_leave_the_matrix_as_one() -> None:
    @program(xi=3, z=real(4, upper=9))
    def covered(xi: Any, z: Any) -> Any:
        return minimise(z.sum()), M @ z >= xi

    form = covered.form(np.zeros(0), XI[:, :3])
    assert form.uncertain.matrix.shape == (1, 3, 4)
    assert form.uncertain.limit.shape == (5, 3)


def test_a_scenario_has_the_same_bits_alone() -> None:
    for body in (LINEAR | CONVEX).values():
        made = declared(body)
        together = made.cost(X, Z[:, None], XI)
        for i, z in enumerate(Z):
            alone: Array = np.array([made.cost(X, z, xi) for xi in XI])
            assert (alone == together[i]).all()
