"""The law that every member predicts: a multivariate Student t."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from bocopt.core import Array, IntArray
from bocopt.models.tails import Tail


class Law(NamedTuple):
    """xi = location + scale * (factor g) * sqrt(df / chi2_df), with g standard normal.

    >>> law = Law(np.zeros(2), np.ones(2), np.eye(2), np.array(5.0))
    >>> round(float(law.log_density(np.zeros(2))), 4)
    -1.8379
    """

    location: Array  # (m)
    scale: Array  # (m)
    factor: Array  # (m, m) lower triangular, of a correlation matrix
    df: Array  # () an integer >= 1

    def sample(self, normal: Array, uniform: Array) -> Array:
        """(s, m), (s) base points -> (s, m)."""
        alone = Law(
            self.location[..., None, :],
            self.scale[..., None, :],
            self.factor[..., None, :, :],
            self.df[..., None],
        )
        return alone.draw(np.zeros(len(uniform), np.int64), normal, uniform)

    def draw(self, whose: IntArray, normal: Array, uniform: Array) -> Array:
        """(s), (s, m), (s) -> (s, m): each of its own law; these are along the last axis."""
        from bocopt.models.kernels.draws import draw

        lead = np.broadcast_shapes(self.df.shape[:-1], whose.shape[:-1])
        laws = np.broadcast_to(self.df, (*lead, self.df.shape[-1]))
        df = np.take_along_axis(laws, np.broadcast_to(whose, (*lead, len(uniform))), axis=-1)
        heavy = Tail(df).heaviness(uniform)
        return np.asarray(draw(whose, normal, heavy, self.location, self.scale, self.factor))

    def log_density(self, xi: Array) -> Array:
        """(m) -> ()."""
        white = np.linalg.solve(self.factor, self.errors(xi)[..., None])[..., 0]
        square = (white**2).sum(axis=-1)
        volume = np.log(np.diagonal(self.factor, axis1=-2, axis2=-1)).sum(axis=-1)
        volume = volume + np.log(self.scale).sum(axis=-1)
        return Tail(self.df).log_density(square, xi.shape[-1], volume)

    def errors(self, xi: Array) -> Array:
        """(m) -> (m) in units of the scale."""
        errors: Array = (xi - self.location) / self.scale
        return errors

    def probability(self, xi: Array) -> Array:
        """Return the probability (m) of a smaller outcome than (m), for each component (PIT)."""
        return Tail(self.df).below(self.errors(xi))


@lru_cache(maxsize=16)
def base_points(scenarios: int, dim: int) -> tuple[Array, Array]:
    """(s, m) standard normal and (s) uniform: a scrambled Sobol sequence, the same at all times."""
    from scipy.special import ndtri
    from scipy.stats.qmc import Sobol

    points = Sobol(dim + 1, rng=0).random(scenarios)
    points = np.clip(points, 0.5 / scenarios**2, 1 - 0.5 / scenarios**2)
    normal, quantile = np.asarray(ndtri(points[:, :dim])), points[:, dim].copy()
    return normal, quantile
