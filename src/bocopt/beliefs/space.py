"""Parameters as functions of standard normal noise, whatever the prior."""

from dataclasses import dataclass

import numpy as np

from bocopt.core import Array, Prior
from bocopt.priors import Calibrated


@dataclass(frozen=True)
class Space:
    """theta = prior.sample(u); where the prior is calibrated, theta = centre + width u."""

    prior: Prior | Calibrated

    @property
    def dim(self) -> int:
        """Number of parameters p."""
        return self.prior.dim

    @property
    def warm_up(self) -> int:
        """Number of outcomes that calibrate the prior; 0 if it is not calibrated."""
        return self.prior.warm_up if isinstance(self.prior, Calibrated) else 0

    def theta(self, u: Array, centre: Array, width: Array) -> Array:
        """(p) noise, (p), (1) -> (p) parameters."""
        if isinstance(self.prior, Calibrated):
            theta: Array = centre + width * u
            return theta
        return self.prior.sample(u)

    def calibrated(self, x: Array, xi: Array) -> tuple[Array, Array]:
        """The prior's centre (p) and width (), given these outcomes (n, k), (n, m)."""
        if isinstance(self.prior, Calibrated):
            return self.prior.fit(x, xi)
        lead = xi.shape[:-2]
        return np.zeros((*lead, self.dim)), np.ones(lead)
