"""Priors over parameters."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, pi

import numpy as np

from bocopt import arguments
from bocopt.core import Array


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
        return len(self.mean)

    def sample(self, u: Array) -> Array:
        """(p) standard normal noise -> (p)."""
        return np.asarray(self.mean) + np.asarray(self.sd) * u

    def log_density(self, theta: Array) -> Array:
        """(p) -> ()."""
        theta = arguments.array("Gaussian.log_density", "theta", theta, (self.dim,))
        sd = np.asarray(self.sd)
        z = (theta - np.asarray(self.mean)) / sd
        density: Array = -0.5 * (z**2 + log(2 * pi)).sum(axis=-1) - np.log(sd).sum()
        return density
