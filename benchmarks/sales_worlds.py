"""Demand of five laws, and a shop that sees what it sold: for benchmarks/sales.py."""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from bocopt.core import Array, BoolArray, Bounds, Policy
from bocopt.policies import PartlySeen
from bocopt.problems import Newsvendor

Draw = Callable[[np.random.Generator, int], Array]


def poisson(rng: np.random.Generator, days: int) -> Array:
    """Counts with mean 5."""
    return rng.poisson(5.0, days).astype(float)


def week(rng: np.random.Generator, days: int) -> Array:
    """Gamma of shape 9 about 96 on average: 60 on Mondays, 132 on Sundays."""
    return np.asarray((60.0 + 12.0 * (np.arange(days) % 7)) * rng.gamma(9.0, 1.0 / 9.0, days))


def zeros(rng: np.random.Generator, days: int) -> Array:
    """Nothing on every other day, else gamma of shape 4 and mean 20."""
    return np.asarray((rng.random(days) < 0.5) * rng.gamma(4.0, 5.0, days))


def lognormal(rng: np.random.Generator, days: int) -> Array:
    """Median 30, and a standard deviation of .8 on the scale of logarithms."""
    return np.asarray(30.0 * np.exp(0.8 * rng.normal(size=days)))


def drift(rng: np.random.Generator, days: int) -> Array:
    """The level, 40 at first, is a random walk of 3% a day; gamma of shape 16 about it."""
    level = 40.0 * np.exp(np.cumsum(0.03 * rng.normal(size=days)))
    return np.asarray(level * rng.gamma(16.0, 1.0 / 16.0, days))


LAWS: dict[str, Draw] = {
    "Poisson 5": poisson,
    "gamma with a week": week,
    "zeros": zeros,
    "lognormal": lognormal,
    "drift": drift,
}


class World(NamedTuple):
    """What comes in so many streams: a weekday, and a demand."""

    x: Array  # (T, k)
    y: Array  # (T, S)


def world(law: str, seeds: range, days: int) -> World:
    """Return the days of the seeds; the weekday is told where it matters."""
    y = np.stack([LAWS[law](np.random.default_rng([seed, 34]), days) for seed in seeds], axis=-1)
    weekdays = np.eye(7)[np.arange(days) % 7][:, 1:]
    return World(weekdays if law == "gamma with a week" else np.zeros((days, 1)), y)


def shop(ratio: float) -> Newsvendor:
    """A unit that is left over costs 1 - ratio, one that is missing `ratio`."""
    return Newsvendor(unit_cost=[1.0 - ratio], price=1.0)


def paid(ratio: float, z: Array, y: Array) -> Array:
    """Return what an order costs above knowing the demand."""
    return (1.0 - ratio) * np.maximum(z - y, 0.0) + ratio * np.maximum(y - z, 0.0)


class Rule(Protocol):
    """Orders for many streams at once."""

    def order(self, t: int, x: Array) -> Array:
        """Return the orders (S) of a day."""
        ...

    def see(self, t: int, x: Array, z: Array, sold: Array, out: BoolArray) -> None:
        """Learn what was sold (S), and whether that was all there was."""
        ...


def by_rule(rule: Rule, world: World, warm: int = 0) -> Array:
    """Return the orders (T, S) of a shop that sees its sales; on the `warm` first days all."""
    z = np.empty(world.y.shape)
    for t, (x, y) in enumerate(zip(world.x, world.y, strict=True)):
        z[t] = rule.order(t, x)
        out = (y >= z[t]) & (t >= warm)
        rule.see(t, x, z[t], np.where(out, z[t], y), out)
    return z


def by_policy(policy: Policy[Any], tell: str, world: World, warm: int = 0) -> Array:
    """Return the orders (T, S) of a policy that is told of "demand", "sales" or "bounds"."""
    z, state = np.empty(world.y.shape), policy.init(np.arange(world.y.shape[1]))
    for t, (x, y) in enumerate(zip(world.x, world.y, strict=True)):
        decision = policy.decide(state, t, x)
        z[t] = decision.solution.z[..., 0]
        out = (y >= z[t]) & (t >= warm) & (tell != "demand")
        low = np.where(out, z[t], y)[:, None]
        if tell == "bounds" and isinstance(policy, PartlySeen):
            seen = Bounds(low, np.where(out[:, None], np.inf, low))
            state = policy.learn_bounds(state, t, x, decision, seen)
        else:
            state = policy.learn(state, t, x, decision, low)
    return z
