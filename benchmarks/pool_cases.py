"""Two problems as a user would bring them: a large 0-1 knapsack, a newsvendor with a capacity."""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from bocopt import from_callables
from bocopt.core import Array, Dims, Sense

ITEMS, ROOM, UNIT = 48, 60.0, 0.1  # UNIT: of the weights, in the dynamic program
PRODUCTS, LARGEST = 5, 200.0
NO_CONTEXT = np.zeros(0)


def knapsack_scenarios(seed: int, size: int) -> Array:
    """(size, 96): values, then weights; each with a mean of its own and a spread of a quarter."""
    rng = np.random.default_rng(seed)
    mean = rng.uniform(1, 10, 2 * ITEMS)
    return mean * rng.lognormal(0, 0.25, (size, 2 * ITEMS))


def knapsack_solve(x: Array, xi: Array) -> Array:
    """One scenario by dynamic programming, weights rounded up to whole units."""
    units = np.ceil(xi[ITEMS:] / UNIT).astype(int)
    room = int(ROOM / UNIT)
    best = np.zeros(room + 1)
    taken = np.zeros((ITEMS, room + 1), bool)
    for j, need in enumerate(units):
        if 0 < need <= room:
            other = best[:-need] + xi[j]
            taken[j, need:] = other > best[need:]
            best[need:] = np.maximum(best[need:], other)
    z, left = np.zeros(ITEMS), room
    for j in range(ITEMS - 1, -1, -1):
        if taken[j, left]:
            z[j], left = 1.0, left - units[j]
    return z


def knapsack(solve: Any = knapsack_solve, **options: Any) -> Any:
    """0-1, values and weights uncertain; it fits with a chance of at least 0.9."""
    return from_callables(
        solve,
        lambda x, z, xi: -(xi[:, :ITEMS] * z).sum(axis=1),
        lambda x, z, xi: (xi[:, ITEMS:] * z).sum(axis=1) - ROOM,
        dims=Dims(None, ITEMS, 2 * ITEMS),
        fallback=[0] * ITEMS,
        sense=Sense.MAXIMISE,
        vectorised=True,
        **options,
    )


class Newsvendor(NamedTuple):
    """Order before the demand is known; all orders share a room."""

    cost: Array
    price: Array
    volume: Array
    room: float
    demand: Array  # (s, d)

    def solve(self, x: Array, xi: Array) -> Array:
        """What will be asked for, the products first that earn most in their room."""
        z, left = np.zeros(PRODUCTS), self.room * (1 - 1e-12)
        for j in np.argsort(-(self.price - self.cost) / self.volume):
            z[j] = min(xi[j], left / self.volume[j], LARGEST)
            left = max(left - z[j] * self.volume[j], 0.0)
        return z

    def problem(self, **options: Any) -> Any:
        """As the user's functions; the room is a constraint, which must always hold."""
        return from_callables(
            self.solve,
            lambda x, z, xi: (self.cost * z).sum() - (self.price * np.minimum(z, xi)).sum(axis=-1),
            lambda x, z, xi: np.full(xi.shape[:-1], (self.volume * z).sum() - self.room),
            dims=Dims(None, PRODUCTS, PRODUCTS),
            fallback=[0] * PRODUCTS,
            alpha=1.0,
            **options,
        )

    def optimum(self) -> float:
        """By one linear program with the sales of every scenario."""
        size = len(self.demand)
        sales = size * PRODUCTS
        earned = np.tile(self.price, size) / size
        stock = sparse.vstack([sparse.eye(PRODUCTS)] * size)
        rows: Any = sparse.vstack(
            [
                sparse.hstack([-stock, sparse.eye(sales)]),
                sparse.csr_matrix(np.append(self.volume, np.zeros(sales))),
            ]
        )
        found: Any = linprog(
            np.append(self.cost, -earned),
            A_ub=rows,
            b_ub=np.append(np.zeros(sales), self.room),
            bounds=[(0, LARGEST)] * PRODUCTS + [(0, most) for most in self.demand.ravel()],
        )
        return float(found.fun)

    def regret(self, value: float) -> float:
        """What a decision of this value costs above the optimum, as a share of it."""
        optimum = self.optimum()
        return (value - optimum) / abs(optimum)


def newsvendor(seed: int, size: int) -> Newsvendor:
    """A random one, with room for 70% of the mean demand."""
    rng = np.random.default_rng(seed)
    cost = rng.uniform(1, 3, PRODUCTS)
    price = cost * rng.uniform(1.3, 3, PRODUCTS)
    volume = rng.uniform(1, 4, PRODUCTS)
    mean = rng.uniform(10, 60, PRODUCTS)
    demand = mean * rng.lognormal(0, 0.4, (size, PRODUCTS))
    return Newsvendor(cost, price, volume, 0.7 * float(volume @ mean), demand)
