"""Convex programs for tests, in cvxpy's notation."""

from typing import Any

import numpy as np
import pytest

from bocopt import CVaR, Expectation, WorstCase
from bocopt.problems.conic import Conic, from_cvxpy

cp: Any = pytest.importorskip("cvxpy", reason="cvxpy is an extra: pip install 'bocopt[cvxpy]'")

RNG = np.random.default_rng(7)
X, XI, NONE = RNG.normal(size=(5, 2)), RNG.uniform(0.2, 2.0, (5, 3)), np.zeros(0)
W = np.array([0.1, 0.3, 0.2, 0.15, 0.25])
RISKS = (Expectation(), CVaR(0.6), WorstCase())


@from_cvxpy(xi=3, z=3)
def nearest(xi: Any, z: Any) -> Any:
    return cp.Minimize(cp.sum_squares(z - xi)), [cp.sum(z) == 1, z >= 0]


def distance(**options: Any) -> Conic:
    @from_cvxpy(x=2, xi=3, z=3, **options)
    def distance(x: Any, xi: Any, z: Any) -> Any:
        return cp.Minimize(cp.norm(z - xi) + x[0] * z[0]), [z <= 3 + cp.sum(xi), z >= -5]

    return distance


def spread(**options: Any) -> Conic:
    @from_cvxpy(xi=3, z=cp.Variable(3, nonneg=True), **options)
    def spread(xi: Any, z: Any) -> Any:
        return cp.Maximize(cp.sum(cp.entr(z)) - xi @ z), cp.sum(z) == 1

    return spread


def shop(**options: Any) -> Conic:
    @from_cvxpy(xi=3, build=cp.Variable(3, bounds=[0, 2]), **options)
    def shop(xi: Any, build: Any) -> Any:
        short = cp.Variable(3, nonneg=True)
        return cp.Minimize(cp.sum(build) + 4 * cp.sum(short)), build + short >= xi

    return shop


def scaled(**options: Any) -> Conic:
    """Which is convex by the signs of z and xi."""

    @from_cvxpy(xi=cp.Parameter(3, nonneg=True), z=cp.Variable(3, nonneg=True), **options)
    def scaled(xi: Any, z: Any) -> Any:
        risk = cp.sum(cp.multiply(xi, cp.square(z))) + cp.square(z[0] + cp.square(z[1]))
        return cp.Minimize(risk - 2 * cp.sum(cp.sqrt(z))), cp.square(cp.sum(z)) <= 4

    return scaled


def repaired(**options: Any) -> Conic:
    """Whose cost is quadratic in both stages, with a part that no decision changes."""

    @from_cvxpy(x=2, xi=3, z=3, **options)
    def repaired(x: Any, xi: Any, z: Any) -> Any:
        repair = cp.Variable(3, nonneg=True)
        cost = cp.sum_squares(z) + 4 * cp.sum_squares(repair) + z[0] * x[1]
        return cp.Minimize(cost + 7 + xi[0] - x[0]), z + repair >= xi

    return repaired


PROGRAMS = {
    "distance": distance,
    "spread": spread,
    "shop": shop,
    "scaled": scaled,
    "repaired": repaired,
}
