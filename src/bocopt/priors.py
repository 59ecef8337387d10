"""Priors over parameters: given, or calibrated on what a short warm-up shows."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, pi

import numpy as np

from bocopt import arguments
from bocopt.core import Array, Centred
from bocopt.numeric import noise


@dataclass(frozen=True)
class Gaussian:
    """Independent normals: theta_j ~ N(mean_j, sd_j^2).

    >>> Gaussian.isotropic(dim=2, sd=0.5).sample(np.array([1.0, -2.0]))
    array([ 0.5, -1. ])
    """

    mean: Sequence[float]
    sd: float | Sequence[float]

    def __post_init__(self) -> None:
        mean = arguments.numbers("Gaussian", "mean", self.mean, "(-inf, inf)")
        sd = arguments.numbers("Gaussian", "sd", self.sd, "(0, inf)", len(mean))
        object.__setattr__(self, "mean", mean)
        object.__setattr__(self, "sd", sd)

    @classmethod
    def isotropic(cls, dim: int, sd: float = 1.0) -> "Gaussian":
        """N(0, sd^2 I): the paper's prior with sd 1 (see E10 for what that does)."""
        return cls(mean=(0.0,) * arguments.integer("Gaussian", "dim", dim, "[1, inf)"), sd=sd)

    @property
    def dim(self) -> int:
        """Number p of parameters."""
        return len(self.mean)

    def sample(self, u: Array) -> Array:
        """Return parameters (p) from standard normal noise (p)."""
        return np.asarray(self.mean) + np.asarray(self.sd) * u

    def log_density(self, theta: Array) -> Array:
        """Return the log density () of parameters (p)."""
        theta = arguments.array("Gaussian.log_density", "theta", theta, (self.dim,))
        sd = np.asarray(self.sd)
        z = (theta - np.asarray(self.mean)) / sd
        density: Array = -0.5 * (z**2 + log(2 * pi)).sum(axis=-1) - np.log(sd).sum()
        return density


@dataclass(frozen=True)
class Calibrated:
    """A normal prior whose scale is set by the first outcomes, so that it predicts their spread.

    Its mean predicts the mean of xi; its one scale s is such that predictions under N(mean, s^2 I)
    have, on the contexts seen, `stretch` times the standard deviation that xi has (both as
    variances averaged over components). It is fitted again at each of the first `warm_up` stages
    and then stays; where no scale predicts so much, as with a bounded predictor, it is a large one.
    Before the third outcome the scale is `first_sd` around `first`, or around 0.

    N(0, I) for a sigmoid saturates: its predictions are near 0 and 2, whatever xi is (E10).
    """

    predictor: Centred
    warm_up: int = 20
    stretch: float = 1.0
    first: Sequence[float] | None = None
    first_sd: float = 0.15

    def __post_init__(self) -> None:
        arguments.kind("Calibrated", "predictor", self.predictor, Centred)
        arguments.integer("Calibrated", "warm_up", self.warm_up, "[3, inf)")
        arguments.number("Calibrated", "stretch", self.stretch, "(0, inf)")
        arguments.number("Calibrated", "first_sd", self.first_sd, "(0, inf)")
        if self.first is not None:
            first = arguments.numbers("Calibrated", "first", self.first, "(-inf, inf)")
            object.__setattr__(self, "first", first)

    @property
    def dim(self) -> int:
        """Number p of parameters, that of the predictor."""
        return self.predictor.dim

    def fit(self, x: Array, xi: Array) -> tuple[Array, Array]:
        """Return the mean (p) and the sd () that contexts (n, k) and outcomes (n, m) calibrate."""
        with np.errstate(over="ignore", invalid="ignore"):  # what is too wide is narrowed
            return self._fit(x, xi)

    def _fit(self, x: Array, xi: Array) -> tuple[Array, Array]:
        lead, n = xi.shape[:-2], xi.shape[-2]
        if n < _FEWEST:
            mean = (
                np.zeros(self.dim)
                if self.first is None
                else self.predictor.constant(np.array(self.first))
            )
            return np.broadcast_to(mean, (*lead, self.dim)), np.full(lead, self.first_sd)
        mean = self.predictor.constant(xi.mean(axis=-2))
        wanted = self.stretch**2 * xi.var(axis=-2).mean(axis=-1)
        e = noise.normal(np.array(0), 0, "calibrated", (_DRAWS, 1, self.dim))
        none = np.empty(self.predictor.dim_noise)

        def variance_at(sd: Array) -> Array:
            """Return the variance () of predictions at scale sd (), averaged over components."""
            theta = mean[..., None, None, :] + sd[..., None, None, None] * e
            predicted = self.predictor.sample(theta, x[..., None, :, :], none)
            variance: Array = predicted.var(axis=(-3, -2)).mean(axis=-1)
            return variance

        low, high = np.full(lead, log(_SMALL)), np.full(lead, log(_LARGE))
        for _ in range(_WIDENINGS):  # until it lies between, whatever the units of xi
            low = np.where(variance_at(np.exp(low)) < wanted, low, low - 2.0)
            high = np.where(variance_at(np.exp(high)) < wanted, high + 2.0, high)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            wider = variance_at(np.exp(middle)) < wanted
            low, high = np.where(wider, middle, low), np.where(wider, high, middle)
        return mean, np.exp(low)


_FEWEST, _DRAWS, _WIDENINGS, _HALVINGS = 3, 32, 8, 20
_SMALL, _LARGE = 1e-3, 10.0
