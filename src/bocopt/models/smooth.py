"""A smooth mean, for few contexts."""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.core import Array, BoolArray
from bocopt.models.design import Design, RidgeFit
from bocopt.models.kernel import nearby
from bocopt.models.member import Fit, Moments, pooled, ridge

_FEW = 10  # contexts that are bent together, and in which outcomes have neighbours
_ALONE, _JOINT = 24, 48  # waves along one context, and in random directions
_MOST_WAVES = 64  # along one context, where contexts are many
_SLOWEST, _FASTEST = 0.4, 4.0  # radians for each sd of a context
_TURN = 2.0  # faster waves than this are believed less and less
_PENALTIES = np.array([np.inf, *np.geomspace(100.0, 0.01, 9)])  # the first of equal ones is taken
_LEAST_FREE = 0.25  # share of the outcomes that is not spent; the regression alone leaves a half
_CAUTION = 1.4  # how much a degree of freedom costs: plain cross-validation fits noise


@dataclass(frozen=True)
class Smooth:
    """The ridge regression, plus waves: another one, of its residuals on random Fourier features.

    - A third of the waves run along one context, the others in random directions. Fast waves are
      believed less. Whether all take part or only the first third, and how stiff the ridge is, is
      chosen outcome by outcome by generalised cross-validation.
    - The variance at x is that of the residuals nearby, and of all of them, worth `prior`, as by
      `KernelVariance`; of the latest `rows` outcomes.
    - With more than ten contexts, all waves run along one context, one or two for each, and the
      spread is the same everywhere. With more than 64, there are none.

    Reference: Rahimi, Recht (2007), Random features for large-scale kernel machines; Craven, Wahba
    (1979), Smoothing noisy data with spline functions; Kim, Gu (2004), Smoothing spline Gaussian
    regression, for the factor 1.4.
    """

    prior: float = 5.0
    rows: int = 500
    least_discount: float = 0.99  # below, too few outcomes count: it takes no part in a mixture
    renewed_at: float = 0.04  # the share of outcomes that must be new for a new fit

    def __post_init__(self) -> None:
        arguments.number("Smooth", "prior", self.prior, "(0, inf)")
        arguments.integer("Smooth", "rows", self.rows, "[1, inf)")
        arguments.number("Smooth", "least_discount", self.least_discount, "[0, 1]")
        arguments.number("Smooth", "renewed_at", self.renewed_at, "[0, 1]")

    def init(self, lead: tuple[int, ...], dim_x: int, dim_xi: int) -> Fit:
        """Coefficients and means of the waves, then contexts, squares and weights nearby."""
        many = 2 * len(waves(dim_x).frequency)
        return (
            np.zeros((*lead, many, dim_xi)),
            np.zeros((*lead, many)),
            np.zeros((*lead, 1, dim_x)),
            np.zeros((*lead, 1, dim_xi)),
            np.zeros(1),
            np.ones((*lead, dim_xi)),
        )

    def refit(self, fit: Fit, past: Design) -> Fit:
        """Return the waves fitted to the regression's residuals, and the squared errors left."""
        size, dim_x = past.regression.size, past.x.shape[-1]
        sd = np.sqrt(pooled(past))
        features = waved(past.x)
        share = (past.weight / size)[None, :]
        mean = np.matmul(share, features)
        features = features - mean
        target = past.residual / sd[..., None, :]
        coefficients, spent = _chosen(features, target, past)
        square = (target - np.matmul(features, coefficients)) ** 2
        guess = past.regression.variance / sd**2
        overall = (np.matmul(share, square)[..., 0, :] * size + 2 * guess) / (size + 2)
        wider = sd**2 * (size + 2) / (size + 2 - spent)
        last = slice(-self.rows, None) if dim_x <= _FEW else slice(0, 0)
        return (
            coefficients * sd[..., None, :],
            mean[..., 0, :],
            past.x[..., last, :].copy(),
            square[..., last, :] * wider[..., None, :],
            past.weight[last].copy(),
            overall * wider,
        )

    def predict(self, fit: Fit, regression: RidgeFit, x: Array) -> Moments:
        """Return the regression plus the waves (m) at x (k), and the scale (m) of errors nearby."""
        coefficients, mean, *around = fit
        location, leverage = ridge(regression, x)
        features = (waved(x) - mean)[..., None, :]
        beside = np.matmul(features, coefficients)[..., 0, :]
        variance = nearby(x, self.prior, *around)
        return Moments(location + beside, np.sqrt(variance * (1 + leverage)))


class Waves(NamedTuple):
    """Directions and speeds, and how far each is believed."""

    frequency: Array  # (d, k)
    belief: Array  # (2 d) of the cosines and sines: how large their coefficients may be
    alone: BoolArray  # (2 d) whether they run along one context


@lru_cache(maxsize=64)
def waves(dim_x: int) -> Waves:
    """The same at all times: along each context in turn, then in directions of a Sobol sequence."""
    from scipy.special import ndtri
    from scipy.stats.qmc import Sobol

    if dim_x == 0 or dim_x > _MOST_WAVES:
        return Waves(np.zeros((0, dim_x)), np.zeros(0), np.zeros(0, bool))
    each = _ALONE // dim_x if dim_x <= _FEW else min(2, _MOST_WAVES // dim_x)
    sizes = _SLOWEST * (_FASTEST / _SLOWEST) ** ((np.arange(each) + 0.5) / each)
    own = np.repeat(sizes, dim_x)
    along = np.tile(np.eye(dim_x), (each, 1)) * own[:, None]
    joint = _JOINT if 1 < dim_x <= _FEW else 0
    points = np.clip(Sobol(dim_x + 1, rng=0).random(256)[:joint], 1e-6, 1 - 1e-6)
    direction = ndtri(points[:, :-1])
    direction /= np.sqrt((direction**2).mean(axis=1, keepdims=True))
    random = _SLOWEST * (_FASTEST / _SLOWEST) ** points[:, -1]
    frequency = np.concatenate([along, direction * random[:, None]])
    belief = 1 / (1 + (np.concatenate([own, random]) / _TURN) ** 2)
    alone = np.arange(len(frequency)) < len(along)
    return Waves(frequency, np.tile(belief, 2), np.tile(alone, 2))


def waved(x: Array) -> Array:
    """(k) -> (2 d): cosines and sines, each with its belief."""
    frequency, belief, _ = waves(x.shape[-1])
    angle = np.matmul(x[..., None, :], frequency.T)[..., 0, :]
    scale = belief / np.sqrt(_ALONE + _JOINT)
    features: Array = np.concatenate([np.cos(angle), np.sin(angle)], axis=-1) * scale
    return features


def _chosen(features: Array, target: Array, past: Design) -> tuple[Array, Array]:
    """(n, p), (n, m) -> (p, m) coefficients, and (m) the degrees of freedom that were spent."""
    alone = waves(past.x.shape[-1]).alone
    weighted = np.swapaxes(features, -1, -2) * past.weight
    normal, product = np.matmul(weighted, features), np.matmul(weighted, target)
    total = np.matmul(past.weight[None, :], target**2)
    before = 0.5 * min(past.phi.shape[-1], float(past.regression.size))  # spent by the regression
    coefficients = np.zeros_like(product)
    subsets = [alone] if alone.all() else [alone, np.ones_like(alone)]
    fits = [
        _ridge(normal[..., part, :][..., part], product[..., part, :], total, before, past)
        for part in subsets
    ]
    best, found, spent = fits[0]
    coefficients[..., alone, :] = found
    for score, other, cost in fits[1:]:
        better = score < best
        coefficients = np.where(better[..., None, :], other, coefficients)
        spent = np.where(better, cost, spent)
    return coefficients, spent


def _ridge(
    normal: Array, product: Array, total: Array, before: float, past: Design
) -> tuple[Array, Array, Array]:
    """Outcome by outcome, the penalty of the best score: (m) scores, (p, m) and (m) spent."""
    value, vector = np.linalg.eigh(normal)
    value = np.maximum(value, 0.0)[..., None]
    back = 1 / (value + _PENALTIES)
    turned = np.matmul(np.swapaxes(vector, -1, -2), product)
    fall = np.swapaxes(back * (2 - value * back), -1, -2)
    left = np.maximum(total - np.matmul(fall, turned**2), 0.0)
    spent = before + _CAUTION * (value * back).sum(axis=-2)
    free = 1 - spent / past.regression.size
    score = left / np.where(free > _LEAST_FREE, free, np.nan)[..., None] ** 2
    choice = np.nanargmin(score, axis=-2)
    chosen = np.take_along_axis(back, choice[..., None, :], -1)
    return (
        np.take_along_axis(score, choice[..., None, :], -2)[..., 0, :],
        np.matmul(vector, chosen * turned),
        np.take_along_axis(spent, choice, -1),
    )
