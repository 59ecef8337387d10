"""Laws with heavier tails than the members': how wide they are is learned from their own errors."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from bocopt.core import Array

USUAL = (60.0, 4.0)  # degrees of freedom at most: each law comes with both
LIGHT = 30.0  # degrees of freedom from which a member's own scale is right
_WORTH = 20.0  # outcomes: what is known of the width before any
_KEEP = 0.995  # weight of an outcome after another one
_NORMAL = 1.8  # df / (df + 1.8) is the best squared scale of a t law where outcomes are normal


class Tail(NamedTuple):
    """How errors are spread in units of their scale: a Student t. All its formulas stand here."""

    df: Array  # (...) integers >= 1

    def heaviness(self, uniform: Array) -> Array:
        """(..., s), (s) -> (..., s): by what a normal error is multiplied, at these quantiles."""
        heavy = np.empty(self.df.shape)
        for each in np.unique(self.df):
            heavy = np.where(self.df == each, _heaviness(float(each), uniform.tobytes()), heavy)
        return heavy

    def log_density(self, square: Array, size: int, volume: Array) -> Array:
        """Return the log density (...) of a vector of `size` errors.

        `square` (...) is the square of the length of the errors once they are uncorrelated, and
        `volume` (...) the log of the volume of their scales.
        """
        from scipy.special import gammaln

        df = self.df
        constant = gammaln((df + size) / 2) - gammaln(df / 2) - size / 2 * np.log(df * np.pi)
        density: Array = constant - volume - (df + size) / 2 * np.log1p(square / df)
        return density

    def below(self, errors: Array) -> Array:
        """(..., m) -> (..., m): the probability of a smaller error, of each alone."""
        from scipy.special import stdtr

        return np.asarray(stdtr(self.df[..., None], errors))

    def weight(self, errors: Array) -> Array:
        """(..., m) -> (..., m): what squared errors count for the scale; small for far ones."""
        near: Array = (self.df + 1)[..., None] / (self.df[..., None] + errors**2)
        return near

    def normal_square(self) -> Array:
        """(...): the best squared scale where errors are normal."""
        return self.df / (self.df + _NORMAL)


@lru_cache(maxsize=256)
def _heaviness(df: float, uniform: bytes) -> Array:
    """sqrt(df / chi2_df) at these quantiles: slow to compute, and asked for again and again."""
    from scipy.special import chdtri

    return np.asarray(np.sqrt(df / chdtri(df, 1.0 - np.frombuffer(uniform))))


class Widths(NamedTuple):
    """The squared scales of heavy-tailed laws, in units of those that their members predict.

    They follow the likelihood: an error e counts (df + 1) / (df + e^2) of its square, so that far
    outcomes, which heavy tails explain, widen the middle little.
    """

    total: Array  # (M, m) of what counted
    seen: Array  # () how many outcomes

    def square(self, tails: Array) -> Array:
        """(M) degrees of freedom -> (M, m)."""
        start = Tail(tails).normal_square()[:, None]
        learned = (_WORTH * start + self.total) / (_WORTH + self.seen[..., None, None])
        return np.where(tails[:, None] < LIGHT, learned, 1.0)

    def update(self, tails: Array, df: Array, errors: Array) -> "Widths":
        """(M), (M), (M, m) -> with one outcome more, at these errors in units of the scales."""
        near = Tail(df).weight(errors)
        total = _KEEP * self.total + self.square(tails) * near * errors**2
        return Widths(total, _KEEP * self.seen + 1)


def initial(lead: tuple[int, ...], laws: int, dim_xi: int) -> Widths:
    """Before any outcome."""
    return Widths(np.zeros((*lead, laws, dim_xi)), np.zeros(lead))
