"""Posteriors that are known in closed form, and samplers against them.

Each is normal: the prior is N(0, I), and every stage adds lam times a quadratic.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from bocopt.beliefs import Belief, posterior_mean
from bocopt.core import Array, IntArray, Loss, Sampler
from bocopt.numeric import noise
from bocopt_studies.work.task import Record, Task


class World(Loss, Protocol):
    """A loss that is quadratic in theta, with stages to learn from."""

    def stage(self, seeds: IntArray, t: int, dim: int) -> tuple[Array, Array]:
        """x (k) and xi (m)."""
        ...

    def evidence(self, x: Array, xi: Array, dim: int) -> tuple[Array, Array]:
        """(p, p) and (p): the loss is theta' A theta / 2 - b' theta and a constant."""
        ...


@dataclass(frozen=True)
class Quadratic:
    """sum of s_i (theta_i - xi_i)^2 / 2, with scales s that grow from 1 / `ratio` to `ratio`."""

    ratio: float = 1.0
    lower: ClassVar[float] = 0.0
    dim_noise: ClassVar[int] = 0

    def __call__(self, theta: Array, x: Array, xi: Array, u: Array) -> Array:
        square = (theta - xi) ** 2
        if self.ratio != 1:
            square = square * self._scales(theta.shape[-1])
        loss: Array = 0.5 * square.sum(axis=-1)
        return loss

    def _scales(self, dim: int) -> Array:
        scales: Array = self.ratio ** np.linspace(-1.0, 1.0, dim)
        return scales

    def stage(self, seeds: IntArray, t: int, dim: int) -> tuple[Array, Array]:
        """Return a context of 0 (1) and an outcome (p), normal around 0.5, for each seed."""
        spread = noise.normal(seeds, t, "oracle", (dim,)) / np.sqrt(self._scales(dim))
        return np.zeros((len(seeds), 1)), 0.5 + spread

    def evidence(self, x: Array, xi: Array, dim: int) -> tuple[Array, Array]:
        """Return the matrix A (p, p) with the scales on its diagonal, and b = s xi (p)."""
        scales = self._scales(dim)
        return np.diag(scales), scales * xi


@dataclass(frozen=True)
class OneDirection:
    """(x'theta - xi)^2 / 2: an outcome tells about one direction, another at each stage."""

    lower: ClassVar[float] = 0.0
    dim_noise: ClassVar[int] = 0

    def __call__(self, theta: Array, x: Array, xi: Array, u: Array) -> Array:
        loss: Array = 0.5 * ((theta * x).sum(axis=-1) - xi[..., 0]) ** 2
        return loss

    def stage(self, seeds: IntArray, t: int, dim: int) -> tuple[Array, Array]:
        """True parameters are a draw from the prior."""
        truth = noise.normal(seeds, 0, "oracle.truth", (dim,))
        x = noise.normal(seeds, t, "oracle.direction", (dim,))
        return x, (truth * x).sum(axis=-1, keepdims=True) + noise.normal(seeds, t, "oracle", (1,))

    def evidence(self, x: Array, xi: Array, dim: int) -> tuple[Array, Array]:
        """Return A = x x' (p, p) and b = x xi (p)."""
        return x[..., :, None] * x[..., None, :], x * xi


@dataclass(frozen=True, kw_only=True)
class Oracle(Task):
    """A sampler against a posterior that is known: N(H^-1 b, H^-1), H = I + lam sum A.

    `discount` and `window` are those of the sampler, where it has them.
    """

    sampler: Sampler[Any]
    lam: float
    dim: int
    world: World = Quadratic()
    discount: float = 1.0
    window: int | None = None

    def run(self) -> Record:
        """Return errors and variances (trials, p) in posterior units, and costs (trials)."""
        seeds = np.array(self.seeds)
        belief = self.sampler.init(seeds)
        evidence, counts = [], np.zeros((3, len(seeds)))
        for t in range(self.horizon):
            x, xi = self.world.stage(seeds, t, self.dim)
            belief = self.sampler.step(belief, t, x, xi)
            evidence.append(self.world.evidence(x, xi, self.dim))
            info = belief.info
            counts += [info.rejuvenated, *_cost(info, len(seeds))]
        precision, shift = self._evidence_of(evidence, len(seeds))
        covariance = np.linalg.inv(precision)
        exact = np.matmul(covariance, shift[..., None])[..., 0]
        sd = np.sqrt(np.diagonal(covariance, axis1=-2, axis2=-1))
        w = np.exp(belief.log_w)[..., None]
        mean = (w * belief.theta).sum(axis=-2)
        variance = (w * (belief.theta - mean[..., None, :]) ** 2).sum(axis=-2)
        record = {"error": (mean - exact) / sd, "variance": variance / sd**2}
        record |= dict(zip(("moves", "sweeps", "evaluated"), counts, strict=True))
        if isinstance(belief, Belief):
            record["standard_error"] = posterior_mean(belief, belief.theta).standard_error / sd
        return record

    def _evidence_of(self, evidence: list[tuple[Array, Array]], trials: int) -> tuple[Array, Array]:
        """H (p, p) and b (p), as the stages count at the end."""
        precision = np.broadcast_to(np.eye(self.dim), (trials, self.dim, self.dim))
        shift = np.zeros((trials, self.dim))
        kept = evidence[-(self.window or len(evidence)) :]
        for age, (matrix, vector) in zip(range(len(kept) - 1, -1, -1), kept, strict=True):
            count = self.lam * self.discount**age
            precision, shift = precision + count * matrix, shift + count * vector
        return precision, shift


def _cost(info: Any, trials: int) -> tuple[Array, Array]:
    """() sweeps and losses of moves at a stage, where a sampler counts them."""
    none = np.full(trials, np.nan)
    return getattr(info, "sweeps", none), getattr(info, "evaluated", none)
