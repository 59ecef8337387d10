"""Random knapsack instances of every kind, and brute force over their whole lattice."""

from typing import Any, NamedTuple

import numpy as np

from bocopt import Solution, Status
from bocopt.core import Array
from bocopt.problems import Knapsack

KINDS = (
    "moderate",
    "magnitudes",
    "zeros",
    "one_decimal",
    "integers",
    "negative",
    "equal_scenarios",
    "infeasible",
    "full_capacity",
)


class Instance(NamedTuple):
    problem: Knapsack
    scenarios: Array  # (s, m)
    w: Array  # (s)


def random_instance(rng: np.random.Generator, kind: str, most_points: int) -> Instance:
    items, resources = int(rng.integers(1, 6)), int(rng.integers(1, 4))
    scenarios = int(rng.choice([1, 1, 2, 3, 5, 8, 20]))
    shape = (scenarios, resources, items)
    lower = rng.integers(0, 3, items) if rng.random() < 0.3 else np.zeros(items, np.int64)
    value, salvage = (
        rng.choice([0.0, 1.0, 3.0, 12.0], items),
        rng.choice([0.0, 1.0, 3.0], resources),
    )
    capacity = rng.choice([0.0, 1.0, 8.0, 30.0], resources, p=[0.05, 0.15, 0.4, 0.4])
    if kind in ("moderate", "negative", "magnitudes") and rng.random() < 0.5:
        value, salvage = rng.uniform(0, 20, items), rng.uniform(0, 4, resources)
        capacity = rng.uniform(0, 30, resources)
    weights = _weights(rng, kind, shape)
    if kind == "full_capacity":
        lower = rng.integers(0, 3, items)
    if kind == "infeasible":
        lower, capacity = lower + 1, np.minimum(capacity, 8.0)
    problem = Knapsack(
        value=value.tolist(),
        capacity=capacity.tolist(),
        salvage=salvage.tolist(),
        lower=lower.tolist(),
        upper=(lower + _widths(rng, items, most_points) - 1).tolist(),
        alpha=float(rng.choice([0.05, 0.3, 0.5, 0.75, 0.9, 0.95, 1.0])),
        infeasible_reward=float(rng.choice([0.0, 0.0, -5.0])),
    )
    return Instance(problem, weights.reshape(scenarios, -1), _scenario_weights(rng, scenarios))


def _weights(rng: np.random.Generator, kind: str, shape: tuple[int, ...]) -> Array:
    match kind:
        case "magnitudes":
            return 10.0 ** rng.uniform(-12, 3, shape)
        case "zeros":
            return rng.uniform(0.1, 3, shape) * (rng.random(shape) < 0.5)
        case "one_decimal":
            return rng.integers(0, 30, shape) / 10
        case "integers":
            return rng.integers(0, 4, shape).astype(np.float64)
        case "negative":
            return rng.normal(0.5, 1.5, shape)
        case "equal_scenarios":
            return np.broadcast_to(rng.integers(1, 20, shape[1:]) / 10, shape).copy()
        case "full_capacity":  # sums that meet the capacity exactly, and tiny weights beside them
            return rng.choice([0.5, 1.0, 2.0, 8.0, 3e-16, 1e-12, -1e-15], shape)
        case "infeasible":
            return rng.uniform(1, 6, shape)
    return rng.uniform(0.2, 2, shape)


def _scenario_weights(rng: np.random.Generator, size: int) -> Array:
    if rng.random() < 0.4:
        return np.full(size, 1.0 / size)
    w = rng.dirichlet(np.full(size, 0.7))
    if size > 1 and rng.random() < 0.4:
        w[rng.integers(size)] = 0.0
    off = rng.choice([0.0, 0.0, 9e-10, -9e-10])  # weights need sum to 1 only within 1e-9
    normalised: Array = w / w.sum() * (1 + off)
    return normalised


def _widths(rng: np.random.Generator, items: int, most_points: int) -> Any:
    points = np.exp(rng.uniform(0, np.log(most_points)))
    share = rng.dirichlet(np.ones(items))
    return np.maximum(np.floor(points**share), 1).astype(np.int64)


def points(instance: Instance) -> int:
    p = instance.problem
    return int(np.prod([high - low + 1 for low, high in _box(p)]))


def brute_force(instance: Instance) -> Solution:
    """Evaluate every point in lexicographic order; sums in item, then scenario order."""
    p = instance.problem
    ranges = [np.arange(low, high + 1.0) for low, high in _box(p)]
    z = np.stack(np.meshgrid(*ranges, indexing="ij"), axis=-1).reshape(-1, len(ranges))
    resources, items = len(p.capacity), len(p.value)
    objective, weight = np.zeros(len(z)), np.zeros(len(z))
    total = 0.0
    worth = _in_order(np.asarray(p.value), z)
    for a, w in zip(instance.scenarios.reshape(-1, resources, items), instance.w, strict=True):
        load = np.stack([_in_order(row, z) for row in a])
        met = (load <= np.asarray(p.capacity)[:, None]).all(axis=0)
        reward = worth.copy()
        for r in range(resources):
            reward += p.salvage[r] * (p.capacity[r] - load[r])
        payment = p.infeasible_reward
        if p.pays_worst_feasible and met.any():
            payment = reward[met].min()
        weight[met] += w
        total += w
        objective += w * np.where(met, reward, payment)
    objective[weight < p.alpha * total - 1e-12] = -np.inf
    best = int(np.argmax(objective))  # the first of equal ones: the lexicographically smallest
    zero = np.array(0.0)
    if objective[best] == -np.inf:
        return Solution(z[0], np.array(np.inf), np.array(int(Status.INFEASIBLE)), zero)
    return Solution(z[best], np.array(-objective[best]), np.array(int(Status.OPTIMAL)), zero)


def _box(problem: Knapsack) -> list[tuple[int, int]]:
    bounds = np.stack([np.asarray(problem.lower), np.asarray(problem.upper)], axis=1)
    return [(int(low), int(high)) for low, high in bounds]


def _in_order(coefficients: Array, z: Array) -> Array:
    total = np.zeros(len(z))
    for j, coefficient in enumerate(coefficients):
        total = total + coefficient * z[:, j]
    return total
