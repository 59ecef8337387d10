"""Margins that are corrected by how past outcomes lay in what was predicted for them.

If predictions are calibrated, the predicted probability u of a smaller outcome is uniform. Where it
was not, the level u of a prediction stands for the level H(u), H being the share of past outcomes
below it. How far H is shrunk towards u is chosen by how well it would have predicted so far: where
predictions are calibrated, nothing is changed.

Reference: Kuleshov, Fenner, Ermon (2018), Accurate uncertainties for deep learning using calibrated
regression.
"""

from typing import NamedTuple

import numpy as np

from bocopt.core import Array, IntArray
from bocopt.numeric.weights import normalised

_BINS = 16
_PRIORS = np.array([np.inf, 300.0, 100.0, 30.0])  # outcomes that say: nothing is to be corrected
_SHARES = np.array([0.7, 0.1, 0.1, 0.1])  # how much each of them is believed at first
_KEEP = 0.998  # weight of an outcome after another one
_EVEN = np.arange(1, _BINS + 1) / _BINS
_SLIGHT = 0.002  # a change of levels that is not worth the time


class Calibration(NamedTuple):
    """Counts of past levels of outcomes in bins, and log weights of the priors."""

    counts: Array  # (m, b) of outcomes
    log_w: Array  # (p) of the priors

    def update(self, probability: Array) -> "Calibration":
        """Return the calibration with one outcome more, which lay at these levels (m)."""
        place = _place(probability)[..., None]
        each = np.take_along_axis(self._each(), place[..., None, :], axis=-1)[..., 0]  # (m, p)
        score = np.log(_BINS * each).sum(axis=-2)
        counts = _KEEP * self.counts + (place == np.arange(_BINS))
        return Calibration(counts, normalised(self.log_w + score))

    def level(self, probability: Array) -> Array:
        """(m) -> (m): H."""
        share = self._shares()
        place = _place(probability)[..., None]
        start = np.take_along_axis(np.cumsum(share, axis=-1) - share, place, axis=-1)[..., 0]
        within = np.take_along_axis(share, place, axis=-1)[..., 0]
        found: Array = start + within * (probability * _BINS - place[..., 0])
        return found

    def correct(self, scenarios: Array) -> Array:
        """(s, m) -> (s, m): the same ranks, at the levels where outcomes lay.

        >>> even = (np.arange(8) + 0.5)[:, None] / 8
        >>> np.allclose(initial((), 1).correct(even), even)
        True
        """
        from bocopt.models.kernels.margins import move

        share = self._shares()
        far = np.abs(share.cumsum(axis=-1) - _EVEN).max(axis=-1) >= _SLIGHT  # (m)
        if not far.any():
            return scenarios
        columns = np.ascontiguousarray(np.swapaxes(scenarios, -1, -2))
        moved = move(columns, np.argsort(columns, axis=-1), share)
        return np.where(far[..., None, :], np.swapaxes(moved, -1, -2), scenarios)

    def _shares(self) -> Array:
        """(m, b): the shares of outcomes in the bins, with sum 1."""
        shares: Array = np.matmul(np.exp(self.log_w)[..., None, None, :], self._each())[..., 0, :]
        return shares

    def _each(self) -> Array:
        """(m, p, b): the same for each prior."""
        total = self.counts.sum(axis=-1)[..., None, None]
        seen = np.where(total > 0, self.counts[..., None, :] / np.maximum(total, 1e-300), 0.0)
        trust = total / (total + _PRIORS[:, None])
        return np.asarray(trust * seen + (1 - trust) / _BINS)


def initial(lead: tuple[int, ...], dim_xi: int) -> Calibration:
    """Before any outcome."""
    log_w = np.broadcast_to(np.log(_SHARES), (*lead, len(_PRIORS)))
    return Calibration(np.zeros((*lead, dim_xi, _BINS)), log_w)


def _place(probability: Array) -> IntArray:
    return np.asarray(np.clip((probability * _BINS).astype(np.int64), 0, _BINS - 1))
