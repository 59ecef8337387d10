"""The past as a regression sees it: standardised, discounted, and fitted by ridge once for all.

How strongly a context is shrunk may be found from the past: what explains little is shrunk away,
so that many contexts of which few matter do no harm (automatic relevance determination).

Reference: MacKay (1994), Bayesian nonlinear modeling for the prediction competition.
"""

from typing import NamedTuple

import numpy as np

from bocopt.core import Array

RIDGE = 15.0  # pseudo-outcomes that say: the context does not matter; before there is evidence
_LEAST = 1.0  # with it
_MOST = 10.0  # with it, in units of the outcomes: absence of an effect is never certain
_ROUNDS, _FIRST = 4, 5  # of finding them, once there are so many outcomes
GUESS, GUESS_COUNTS = 0.3, 2.0  # where outcomes are few: a spread of 0.3 |xi|, worth two of them
_MOST_GUESSED = 4.0  # the guess in units of the variance that three or more outcomes show
_SMALLEST = 1e-150  # of a variance: constant outcomes have none
_ROUNDED = 1e-13  # of a mean: a spread that may be rounding alone


class RidgeFit(NamedTuple):
    """Ridge regression of xi on (1, x): all that a prediction at another context needs."""

    centre: Array  # (k) of x
    width: Array  # (k)
    mean: Array  # (m) of xi
    variance: Array  # (m) of xi, with a guess in it
    coefficients: Array  # (q, m) of (1, x), ridge
    inverse: Array  # (q, q) of their normal equations
    ridge: Array  # (k) pseudo-outcomes that say: this context does not matter
    size: Array  # () discounted number of outcomes

    def standard(self, x: Array) -> Array:
        """(k) -> (k)."""
        return _standard(x, self.centre, self.width)


class Design(NamedTuple):
    """One row per outcome, oldest first."""

    weight: Array  # (n)
    x: Array  # (n, k) standardised
    phi: Array  # (n, q) = (1, x)
    xi: Array  # (n, m)
    residual: Array  # (n, m) of the ridge regression
    regression: RidgeFit


def with_one(x: Array) -> Array:
    """(k) -> (1 + k)."""
    return np.concatenate([np.ones((*x.shape[:-1], 1)), x], axis=-1)


def initial(lead: tuple[int, ...], dim_x: int, dim_xi: int) -> RidgeFit:
    """Return the regression before any outcome, with leading axes `lead`."""
    return RidgeFit(
        centre=np.zeros((*lead, dim_x)),
        width=np.ones((*lead, dim_x)),
        mean=np.zeros((*lead, dim_xi)),
        variance=np.ones((*lead, dim_xi)),
        coefficients=np.zeros((*lead, 1 + dim_x, dim_xi)),
        inverse=np.broadcast_to(np.eye(1 + dim_x), (*lead, 1 + dim_x, 1 + dim_x)),
        ridge=np.full((*lead, dim_x), RIDGE),
        size=np.array(0.0),
    )


def design(x: Array, xi: Array, discount: float, *, by_evidence: bool = False) -> Design:
    """(n, k), (n, m) -> the ridge regression of xi on (1, x), n >= 1.

    The ridge is the same for all contexts, or `by_evidence` what the past says of each.
    """
    n = xi.shape[-2]
    weight = discount ** np.arange(n - 1.0, -1.0, -1.0)
    size = weight.sum()

    def average(values: Array) -> Array:
        """Return the weighted mean (k) of rows (n, k)."""
        mean: Array = np.matmul(weight[None, :], values)[..., 0, :] / size
        return mean

    centre, mean = average(x), average(xi)
    width = np.sqrt(average((x - centre[..., None, :]) ** 2))
    varied = width > 1e-12 * np.abs(centre)
    width = np.where(varied, width, np.inf)  # what was constant so far is standardised to 0
    scatter = size * average((xi - mean[..., None, :]) ** 2)
    guess = _guess(mean, xi)
    if n > 2:
        guess = np.minimum(guess, _MOST_GUESSED * scatter / (size - 1.0))
    variance = (GUESS_COUNTS * guess + scatter) / (GUESS_COUNTS + size - 1.0)
    variance = np.maximum(variance, np.maximum((_ROUNDED * mean) ** 2, _SMALLEST))
    standard = _standard(x, centre[..., None, :], width[..., None, :])
    phi, around = with_one(standard), xi - mean[..., None, :]
    rounds = _ROUNDS if by_evidence and n >= _FIRST and x.shape[-1] else 0
    shrunk = _shrunk(phi, around, weight, variance, rounds)
    regression = RidgeFit(centre, width, mean, variance, *shrunk, np.array(size))
    return Design(
        weight, standard, phi, xi, around - np.matmul(phi, regression.coefficients), regression
    )


def _shrunk(
    phi: Array, around: Array, weight: Array, variance: Array, rounds: int
) -> tuple[Array, Array, Array]:
    """(n, q), (n, m), (n), (m) -> coefficients (q, m), inverse (q, q), and the ridge (k)."""
    weighted = np.swapaxes(phi, -1, -2) * weight
    normal, moments = np.matmul(weighted, phi), np.matmul(weighted, around)
    ridge = np.full((*phi.shape[:-2], phi.shape[-1] - 1), RIDGE)
    inverse = _inverse(normal, ridge)
    coefficients = np.matmul(inverse, moments)
    total = np.matmul(weight[None, :], around**2)[..., 0, :]
    for _ in range(rounds):
        explained = (coefficients * (2 * moments - np.matmul(normal, coefficients))).sum(axis=-2)
        scatter = np.maximum(total - explained, 0.0)
        noise = (scatter + GUESS_COUNTS * variance) / (weight.sum() + GUESS_COUNTS)
        known = 1.0 - ridge * np.diagonal(inverse, axis1=-2, axis2=-1)[..., 1:]
        power = (coefficients[..., 1:, :] ** 2 / noise[..., None, :]).mean(axis=-1)
        ridge = np.clip(known / np.maximum(power, 1e-12), _LEAST, _MOST * weight.sum())
        inverse = _inverse(normal, ridge)
        coefficients = np.matmul(inverse, moments)
    return coefficients, inverse, ridge


def _inverse(normal: Array, ridge: Array) -> Array:
    stiff = np.concatenate([np.full((*ridge.shape[:-1], 1), 1e-6), ridge], axis=-1)
    inverse = np.linalg.inv(normal + stiff[..., None] * np.eye(stiff.shape[-1]))
    return inverse.astype(np.float64, copy=False)


def _guess(mean: Array, xi: Array) -> Array:
    """(m), (n, m) -> (m): a variance before there is one, by the size of xi."""
    overall = (xi**2).mean(axis=(-1, -2))[..., None]  # for components that were always 0
    return np.asarray(GUESS**2 * np.where(mean == 0, overall, mean**2))


def _standard(x: Array, centre: Array, width: Array) -> Array:
    """In units of the spread seen so far; beyond ten of them a context tells no more."""
    return np.clip((x - centre) / width, -10.0, 10.0)
