"""A small problem with a chance constraint: order enough, with a chance of alpha."""

from dataclasses import dataclass

import numpy as np

from bocopt.core import Array, Dims, Sense, Solution, Status
from bocopt.problems import Chance


@dataclass(frozen=True)
class Cover:
    """min z subject to P(xi <= z) >= alpha: a quantile. A miss costs nothing."""

    alpha: float = 0.9
    dims = Dims(1, 1, 1)
    sense = Sense.MINIMISE

    @property
    def risk(self) -> Chance:
        return Chance(self.alpha)

    def solve(self, scenarios: Array, w: Array, x: Array) -> Solution:
        lead = np.broadcast_shapes(x.shape[:-1], scenarios.shape[:-2], w.shape[:-1])
        many = scenarios.shape[-2]
        demand = np.broadcast_to(scenarios[..., 0], (*lead, many))
        order = demand.argsort(axis=-1)
        met = np.take_along_axis(np.broadcast_to(w, (*lead, many)), order, -1).cumsum(axis=-1)
        enough = (met >= self.alpha * met[..., -1:] - 1e-12).argmax(axis=-1)[..., None]
        z = np.take_along_axis(np.take_along_axis(demand, order, -1), enough, -1)
        status = np.full(lead, int(Status.OPTIMAL))
        return Solution(z, z[..., 0], status, np.zeros(lead))

    def cost(self, x: Array, z: Array, xi: Array) -> Array:
        return np.broadcast_arrays(z[..., 0], x[..., 0], xi[..., 0])[0]

    def violation(self, x: Array, z: Array, xi: Array) -> Array:
        return np.broadcast_arrays(xi[..., 0] - z[..., 0], x[..., 0])[0]
