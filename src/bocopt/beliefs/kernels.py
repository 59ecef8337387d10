"""Markov kernels for full-history moves, in the space of the prior's standard normal noise.

A prior is a map of standard normal noise, theta = prior.sample(u), so the Gibbs posterior is a law
of u: N(0, I) exp(-energy). All kernels leave it unchanged whatever the prior is.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol

import numpy as np

from bocopt import arguments
from bocopt.abilities import LearnsShape
from bocopt.core import Array, BoolArray, IntArray
from bocopt.wrappers import says


class Chain(NamedTuple):
    """Positions and what is known of them; trials are the leading axis."""

    u: Array  # (M, p)
    energy: Array  # (M)
    before: Array  # (M) total loss before the current stage
    last: Array  # (M) loss at the current stage
    gone: Array  # (M) discounted loss at the stage that leaves, since birth; 0 where none does


class Shape(NamedTuple):
    """Mean and covariance R'R of two groups of particles, in the space of u.

    A chain of one group is moved with the shape of the *other*. With their own, particles would be
    drawn towards their own errors, and in p dimensions lose a share of order p / N of the variance.
    """

    group: BoolArray  # (M) of each chain
    mean: Array  # (2, p) of the particles that are not in group 0, not in group 1
    factor: Array  # (2, p, p) R

    def times_factor(self, e: Array) -> Array:
        """(M, p) -> (M, p): R'e."""
        zero, one = (np.matmul(e, self.factor[..., g, :, :]) for g in (0, 1))
        return np.asarray(np.where(self.group[..., None], one, zero))

    def centre(self) -> Array:
        """(M, p)."""
        zero, one = (self.mean[..., g, None, :] for g in (0, 1))
        return np.where(self.group[..., None], one, zero)

    def half_square(self, around: Array) -> Array:
        """(M, p) -> (M): half the squared length, in units of the covariance."""
        columns = np.swapaxes(around, -1, -2)
        zero, one = (
            np.linalg.solve(np.swapaxes(self.factor[..., g, :, :], -1, -2), columns) for g in (0, 1)
        )
        white = np.where(self.group[..., None, :], one, zero)
        half: Array = 0.5 * (white**2).sum(axis=-2)
        return half


def shape_of(u: Array, w: Array, group: BoolArray, chains: IntArray, alike: int = 1) -> Shape:
    """Return the shape of particles (N, p) with weights (N) in groups (N), for chains (M) of them.

    Covariances are shrunk towards no correlation, the more so the fewer particles there are; of
    states of one chain, so many `alike` count as one.
    """
    means, factors, dim = [], [], u.shape[-1]
    for g in (0, 1):
        theirs = np.where(group != bool(g), w, 0.0) + 1e-300 * (group != bool(g))
        share = theirs / theirs.sum(axis=-1, keepdims=True)
        mean = np.matmul(share[..., None, :], u)
        around = u - mean
        covariance = np.matmul(np.swapaxes(around, -1, -2) * share[..., None, :], around)
        variance = np.diagonal(covariance, axis1=-2, axis2=-1) + 1e-12
        many = 1.0 / alike / (share**2).sum(axis=-1)[..., None, None]
        shrunk = (many * covariance + dim * variance[..., None] * np.eye(dim)) / (many + dim)
        means.append(mean[..., 0, :])
        factors.append(np.swapaxes(np.linalg.cholesky(shrunk), -1, -2))
    of_chains = np.take_along_axis(np.broadcast_to(group, w.shape), chains, axis=-1)
    return Shape(of_chains, np.stack(means, axis=-2), np.stack(factors, axis=-3))


class Swept(NamedTuple):
    """A chain after one sweep, and the share of its proposals that were accepted."""

    chain: Chain
    acceptance: Array  # ()


#: (M, p) positions and (M) budgets -> whether their energy stays below, and what was found.
Energy = Callable[[Array, Array], tuple[BoolArray, Chain]]
#: What to draw, "normal..." or "uniform..." with anything that tells draws apart, and a shape.
Draw = Callable[[str, tuple[int, ...]], Array]


class Kernel(Protocol):
    """One sweep over a chain. `scale` () is tuned so that `wanted` are accepted.

    One that reads the shape of the particles says so: `LearnsShape`.
    """

    @property
    def wanted(self) -> float:
        """Acceptance rate that the scale is tuned for."""
        ...

    @property
    def first_scale(self) -> float:
        """Scale before any tuning."""
        ...

    @property
    def largest_scale(self) -> float:
        """Upper limit of the scale."""
        ...

    def sweep(self, chain: Chain, shape: Shape, scale: Array, energy: Energy, draw: Draw) -> Swept:
        """Return the chain (M, p) after one sweep, and its acceptance rate."""
        ...


def learns_shape(kernel: Kernel) -> bool:
    """Return True if a kernel reads the shape of the particles."""
    return bool(says(kernel, LearnsShape))


@dataclass(frozen=True)
class CrankNicolson:
    """Preconditioned Crank-Nicolson: u' = sqrt(1 - b^2) u + b e leaves the prior unchanged.

    Accept with probability min(1, exp(energy - energy')): the dimension plays no part in it.

    Reference: Cotter, Roberts, Stuart, White (2013), MCMC methods for functions.
    """

    wanted: float = 0.3
    first_scale: float = 0.5
    largest_scale: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        _check_tuning(self)

    def sweep(self, chain: Chain, shape: Shape, scale: Array, energy: Energy, draw: Draw) -> Swept:
        """Return the chain after one step around the prior's mean, and its acceptance rate."""
        b = scale[..., None, None]
        proposal = np.sqrt(1 - b**2) * chain.u + b * draw("normal", chain.u.shape[-2:])
        return _metropolis(chain, proposal, np.zeros(chain.energy.shape), energy, draw)


@dataclass(frozen=True)
class RandomWalk:
    """u' = u + s 2.38 / sqrt(p) R'e with the covariance R'R of the other group of particles.

    Reference: Roberts, Gelman, Gilks (1997), Weak convergence and optimal scaling of random walk
    Metropolis algorithms; Chopin (2002), A sequential particle filter method for static models.
    """

    wanted: float = 0.25
    first_scale: float = 1.0
    largest_scale: ClassVar[float] = 10.0
    learns_shape: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _check_tuning(self)

    def sweep(self, chain: Chain, shape: Shape, scale: Array, energy: Energy, draw: Draw) -> Swept:
        """Return the chain after one step of the random walk, and its acceptance rate."""
        dim = chain.u.shape[-1]
        kick = shape.times_factor(draw("normal", chain.u.shape[-2:])) * (2.38 / np.sqrt(dim))
        proposal = chain.u + scale[..., None, None] * kick
        gain = _half_square(chain.u) - _half_square(proposal)
        return _metropolis(chain, proposal, gain, energy, draw)


@dataclass(frozen=True)
class FittedCrankNicolson:
    """Crank-Nicolson around a normal fit N(mean, R'R) to the other group of particles.

        u' = mean + sqrt(1 - b^2) (u - mean) + b R'e

    leaves that normal unchanged; the ratio corrects for where it differs from the target. Near a
    normal posterior large steps are accepted; it needs more particles than parameters.

    Reference: Rudolf, Sprungk (2018), On a generalization of the preconditioned Crank-Nicolson
    Metropolis algorithm.
    """

    wanted: float = 0.3
    first_scale: float = 0.5
    largest_scale: ClassVar[float] = 1.0
    learns_shape: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _check_tuning(self)

    def sweep(self, chain: Chain, shape: Shape, scale: Array, energy: Energy, draw: Draw) -> Swept:
        """Return the chain after one step around the fitted mean, and its acceptance rate."""
        b = scale[..., None, None]
        mean = shape.centre()
        around = chain.u - mean
        kick = shape.times_factor(draw("normal", chain.u.shape[-2:]))
        after = np.sqrt(1 - b**2) * around + b * kick
        proposal = mean + after
        gain = shape.half_square(after) - _half_square(proposal)
        gain = gain - (shape.half_square(around) - _half_square(chain.u))
        return _metropolis(chain, proposal, gain, energy, draw)


@dataclass(frozen=True)
class EllipticalSlice:
    """A point on the ellipse through u and a draw of the prior, above a random level.

    Every sweep moves; its cost is the number of points that had to be tried, at most `tries`
    (after which u stays, which keeps the law).

    Reference: Murray, Adams, MacKay (2010), Elliptical slice sampling.
    """

    tries: int = 30
    wanted: ClassVar[float] = 1.0
    first_scale: ClassVar[float] = 1.0
    largest_scale: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        arguments.integer("EllipticalSlice", "tries", self.tries, "[1, inf)")

    def sweep(self, chain: Chain, shape: Shape, scale: Array, energy: Energy, draw: Draw) -> Swept:
        """Return the chain after one slice, and the share of positions that moved."""
        many = chain.energy.shape[-1]
        other = draw("normal", chain.u.shape[-2:])
        level = _budget(chain.energy, draw("uniform", (many,)))
        angles = draw("uniform angles", (self.tries, many))
        high = 2 * np.pi * angles[..., 0, :]
        low, angle = high - 2 * np.pi, high
        start, searching = chain, np.ones(chain.energy.shape, bool)
        for step in range(self.tries):
            proposal = np.cos(angle)[..., None] * start.u + np.sin(angle)[..., None] * other
            below, found = energy(proposal, np.where(searching, level, -np.inf))
            chain = _choose(below, found, chain)
            searching &= ~below
            if not searching.any():
                break
            high = np.where(searching & (angle >= 0), angle, high)
            low = np.where(searching & (angle < 0), angle, low)
            angle = low + (high - low) * angles[..., min(step + 1, self.tries - 1), :]
        return Swept(chain, 1.0 - searching.mean(axis=-1))


def _check_tuning(kernel: Kernel) -> None:
    name, most = type(kernel).__name__, kernel.largest_scale
    arguments.number(name, "wanted", kernel.wanted, "(0, 1)")
    arguments.number(name, "first_scale", kernel.first_scale, f"(0, {most:g}]")


def _metropolis(
    chain: Chain, proposal: Array, log_ratio: Array, energy: Energy, draw: Draw
) -> Swept:
    """Accept with probability min(1, exp(log_ratio + energy - energy')).

    The uniform is drawn first, so that the acceptance is a budget that energy' must stay below.
    """
    many = chain.energy.shape[-1]
    budget = _budget(chain.energy + log_ratio, draw("uniform", (many,)))
    accept, found = energy(proposal, budget)
    return Swept(_choose(accept, found, chain), accept.mean(axis=-1))


def _choose(new: BoolArray, one: Chain, other: Chain) -> Chain:
    u = np.where(new[..., None], one.u, other.u)
    return Chain(u, *(np.where(new, a, b) for a, b in zip(one[1:], other[1:], strict=True)))


def _budget(energy: Array, uniform: Array) -> Array:
    with np.errstate(divide="ignore"):  # a draw of 0 accepts anything
        return energy - np.log(uniform)


def _half_square(u: Array) -> Array:
    half: Array = 0.5 * (u**2).sum(axis=-1)
    return half
