"""Laws of several series as scenarios of all of them together: margins, and how they are paired.

    margins       q_ij = the quantile of the law of series i at the level (j + 0.5) / S, j < S
    past          R_li = the rank of what came of series i at time l, in its law, among its c_i
    templates     u_ij = (R_li - v_ij) / c_i with the time l of scenario j, v_ij uniform
    independent   u_ij = v_ij in a share lambda of the scenarios, and where series i was not there
    scenario j    of series i is q_ir, with r the rank of u_ij among all of series i

So each margin is that of the law, as nearly as S equal weights allow, and series depend on each
other as their past outcomes did, whatever the copula: a Schaake shuffle of the ranks within what
was predicted. The rank correlations are 1 - lambda times those of the past. lambda is what brings
these nearest to the true ones in mean square: with z the normal scores of the ranks,

    lambda = sum var(r_ij) / sum r_ij^2 over i != j,   r_ij = mean over l of z_li z_lj

References: Clark et al. (2004), The Schaake shuffle. Schefzik, Thorarinsdottir, Gneiting (2013),
Uncertainty quantification in complex simulation models using ensemble copula coupling. Schaefer,
Strimmer (2005), A shrinkage approach to large-scale covariance matrix estimation, eq. 8.
"""

import numpy as np

from bocopt.core import Array, IntArray
from bocopt.numeric import noise, weights
from bocopt.numeric.noise import When


def margins(scenarios: Array, w: Array, many: int) -> Array:
    """Return rising scenarios (n, S, m) of equal weight, from (n, s, m) with weights (n, s).

    A scenario of weight w stands there floor or ceil of S w times. Several components stay
    together, in the order of their mean rank.

    >>> law = np.array([[[5.0], [1.0], [3.0]]])
    >>> margins(law, np.array([[0.25, 0.5, 0.25]]), 4)[0, :, 0].tolist()
    [1.0, 1.0, 3.0, 5.0]
    """
    order = np.argsort(_heights(scenarios, w), axis=1, kind="stable")
    sorted_w = np.take_along_axis(np.broadcast_to(w, order.shape), order, axis=1)
    levels = (np.arange(many) + 0.5) / many
    chosen = np.take_along_axis(order, weights.multinomial(sorted_w, levels), axis=1)
    return np.take_along_axis(scenarios, chosen[..., None], axis=1)


def probability(scenarios: Array, w: Array, xi: Array, v: Array) -> Array:
    """Return the probability (n) of less than an outcome (n, m), by laws (n, s, m), (n, s).

    v (n), uniform, says where in the probability of the outcome itself it stands: so what comes of
    a law is uniform. Of several components it is that of their mean rank.
    """
    below = (w[..., None] * (scenarios < xi[:, None])).sum(axis=1)
    equal = (w[..., None] * (scenarios == xi[:, None])).sum(axis=1)
    if xi.shape[1] == 1:
        return np.asarray(below[:, 0] + v * equal[:, 0])
    heights, height = _heights(scenarios, w), (below + 0.5 * equal).mean(axis=1)
    under = (w * (heights < height[:, None])).sum(axis=1)
    at = (w * (heights == height[:, None])).sum(axis=1)
    return np.asarray(under + v * at)


def paired(own: Array, past: Array, seeds: IntArray, t: When) -> Array:
    """Return scenarios (S, n m) of n series together, from the margins (n, S, m) of each.

    past        (L, n) probabilities of outcomes of the latest times; NaN where there are none
    seeds, t    of each series (n): how one is shuffled does not depend on which others there are
    """
    many = own.shape[1]
    ranks, count = _ranks(past)
    together = (~np.isnan(ranks)).sum(axis=1) > 1
    v = noise.uniform(seeds, t, "coupling", (many,))
    u = v.copy()
    if together.any():
        templates = round((1.0 - independent_share(past)) * many)
        place = (np.arange(templates) + 0.5) * together.sum() / max(templates, 1)
        rank = ranks[together][place.astype(int)].T
        u[:, :templates] = np.where(
            np.isnan(rank), v[:, :templates], (rank - v[:, :templates]) / count[:, None]
        )
    turn = np.argsort(np.argsort(u, axis=1, kind="stable"), axis=1)
    chosen = np.take_along_axis(own, turn[..., None], axis=1)
    return np.swapaxes(chosen, 0, 1).reshape(many, -1)


def independent_share(past: Array) -> float:
    """Return lambda, the share of scenarios in which series are independent, by a past (L, n).

    All are, where fewer than two times are known; sums over pairs of series are of times.
    """
    from scipy.special import ndtri

    ranks, count = _ranks(past)
    ranks = ranks[(~np.isnan(ranks)).sum(axis=1) > 1]
    times = len(ranks)
    if times < 2:
        return 1.0
    z = np.nan_to_num(ndtri((ranks - 0.5) / np.maximum(count, 1)))
    squares = z**2
    of_pairs = (squares.sum(axis=1) ** 2 - (squares**2).sum(axis=1)).sum()  # sum (z_li z_lj)^2
    total = ((z @ z.T) ** 2).sum() / times**2 - (squares.mean(axis=0) ** 2).sum()  # sum r_ij^2
    if total <= 0.0:
        return 1.0
    variance = (of_pairs - times * total) / (times * (times - 1))
    return float(np.clip(variance / total, 0.0, 1.0))


def _ranks(past: Array) -> tuple[Array, IntArray]:
    """Return the ranks (L, n) from 1 in each series, NaN where none is, and their counts (n)."""
    ranks = np.argsort(np.argsort(past, axis=0, kind="stable"), axis=0) + 1  # NaN stand last
    missing = np.isnan(past)
    return np.where(missing, np.nan, ranks), (~missing).sum(axis=0)


def _heights(scenarios: Array, w: Array) -> Array:
    """Return numbers (n, s) by which the scenarios (n, s, m) of a series are ordered.

    The values of one component; of several the mean of their ranks, in (0, 1).
    """
    if scenarios.shape[2] == 1:
        return scenarios[..., 0]
    order = np.argsort(scenarios, axis=1, kind="stable")
    weight = np.broadcast_to(w[..., None], scenarios.shape)
    sorted_w = np.take_along_axis(weight, order, axis=1)
    ranks = np.empty(scenarios.shape)
    np.put_along_axis(ranks, order, np.cumsum(sorted_w, axis=1) - 0.5 * sorted_w, axis=1)
    return np.asarray(ranks.mean(axis=2))
