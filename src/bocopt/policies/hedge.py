"""AdaHedge: weights of arms by what they have cost, at a rate that needs no tuning.

Reference: de Rooij, van Erven, Grunwald, Koolen (2014), Follow the leader if you can, hedge if you
must.
"""

import numpy as np

from bocopt.core import Array
from bocopt.numeric.weights import log_total, normalised


def hedge(cost: Array, gap: Array, prior: Array) -> Array:
    """(A) log weights of AdaHedge after these total costs; with no gap yet, only the leaders'."""
    behind = cost - cost.min(axis=-1, keepdims=True)
    with np.errstate(over="ignore", invalid="ignore"):
        steep = np.where(behind > 0, _eta(gap, prior)[..., None] * behind, 0.0)
    return normalised(np.log(prior) - steep)


def mixability_gap(cost: Array, gap: Array, prior: Array, paid: Array) -> Array:
    """Return the weighted mean () of what is paid (A) less the mix loss, in logs throughout."""
    log_w, eta = hedge(cost, gap, prior), _eta(gap, prior)
    low = paid.min(axis=-1)
    with np.errstate(over="ignore", invalid="ignore"):
        mix = low - log_total(log_w - eta[..., None] * (paid - low[..., None])) / eta
    leading = (cost + paid).min(axis=-1) - cost.min(axis=-1)
    mean = (np.exp(log_w) * paid).sum(axis=-1)
    missed: Array = mean - np.where(np.isfinite(eta), mix, leading)
    return np.maximum(missed, 0.0)


def _eta(gap: Array, prior: Array) -> Array:
    """log(1 / least prior weight) / gap, infinite at first."""
    with np.errstate(over="ignore", divide="ignore"):
        eta: Array = -np.log(prior.min()) / gap
    return eta
