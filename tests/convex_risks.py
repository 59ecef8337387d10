"""Convex risks that are no sums of tail means, each by its worst weights."""

from dataclasses import dataclass

import numpy as np

from bocopt import CVaR
from bocopt.core import Array, BoolArray


@dataclass(frozen=True)
class Entropic:
    """log E exp(theta cost) / theta: the largest q . cost - KL(q, w) / theta."""

    theta: float
    alpha: float | None = None

    def value(self, costs: Array, w: Array) -> Array:
        """(s), (s) -> ()."""
        most = costs.max(axis=-1, keepdims=True)
        total = np.asarray((w * np.exp(self.theta * (costs - most))).sum(axis=-1))
        return np.asarray(np.log(total) / self.theta + most[..., 0])

    def met(self, violations: Array, w: Array) -> BoolArray:
        """(s), (s) -> ()."""
        return CVaR(0.0, self.alpha).met(violations, w)

    def worst_weights(self, costs: Array, w: Array) -> tuple[Array, float]:
        """(s), (s) -> (s), ()."""
        q = tilted(self.theta, costs, w)
        return q, divergence(q, w) / self.theta


@dataclass(frozen=True)
class EVaR:
    """The entropic value at risk: the largest q . cost with KL(q, w) <= -log(1 - beta)."""

    beta: float
    alpha: float | None = None

    def value(self, costs: Array, w: Array) -> Array:
        """(s), (s) -> ()."""
        costs, w = np.broadcast_arrays(costs, w)
        found = np.empty(costs.shape[:-1])
        for i in np.ndindex(found.shape):
            found[i] = self.worst_weights(costs[i], w[i])[0] @ costs[i]
        return found

    def met(self, violations: Array, w: Array) -> BoolArray:
        """(s), (s) -> ()."""
        return CVaR(0.0, self.alpha).met(violations, w)

    def worst_weights(self, costs: Array, w: Array) -> tuple[Array, float]:
        """(s), (s) -> (s), (): tilted as far as the divergence allows."""
        room, low, high = -np.log1p(-self.beta), 0.0, 1e6 / (1e-9 + np.ptp(costs))
        if divergence(tilted(high, costs, w), w) <= room:
            return tilted(high, costs, w), 0.0
        for _ in range(100):
            theta = (low + high) / 2
            low, high = (
                (theta, high) if divergence(tilted(theta, costs, w), w) <= room else (low, theta)
            )
        return tilted(low, costs, w), 0.0


def tilted(theta: float, costs: Array, w: Array) -> Array:
    """Weights in proportion to w exp(theta cost)."""
    q: Array = w * np.exp(theta * (costs - costs[w > 0].max()))
    q /= q.sum()
    return q


def divergence(q: Array, w: Array) -> float:
    """KL(q, w)."""
    some = q > 0
    return float((q[some] * np.log(q[some] / w[some])).sum())
