"""How much was seen of outcomes that may be bounds, and what may lie beyond all of it."""

from typing import NamedTuple

import numpy as np

from bocopt.core import Array, BoolArray, Bounds, IntArray
from bocopt.numeric.history import History, empty, of_rows
from bocopt.policies.baselines import ANY_SCALE
from bocopt.policies.completion import Law, beyond

_CERTAIN = 1e9  # a weight beside which nothing else counts
_AGAIN = 4.0  # of n zeros, and nothing else: with chance 4 / (n + 1) any size is expected again
_REACH = 3.0  # how often the largest bound, where no size is known
_STEPS = np.arange(1, len(ANY_SCALE) + 1)[:, None] / len(ANY_SCALE)


class Sight(NamedTuple):
    """How much was seen, component by component."""

    ruled_out: Array  # (m) sum of the weight that outcomes took from the law; 1 of an exact one
    bounded: Array  # (2, m) how often there was a lower bound alone, and an upper one
    left: Array  # (m) sum of the weight that these left of the law
    unseen: Array  # (m) how often nothing was seen
    not_zero: Array  # (m) how many numbers but 0 were seen
    whole: BoolArray  # (m) whether all that were seen are whole
    lowest: Array  # (m) number that was seen, or bound
    highest: Array  # (m)
    rows: History  # (n, 4m) low and high ends of the latest outcomes, and two uniforms of each

    @property
    def is_partial(self) -> BoolArray:
        """Return () whether anything was not seen so far."""
        return np.asarray((self.bounded.sum(axis=(-1, -2)) + self.unseen.sum(axis=-1)) > 0)

    @property
    def bounds(self) -> Bounds:
        """The latest outcomes (n, m)."""
        return Bounds(*np.split(self.rows.rows, 4, axis=-1)[:2])

    @property
    def uniforms(self) -> tuple[Array, Array]:
        """Two uniforms (n, m) of each of the latest outcomes, by which it is completed."""
        _, _, u, v = np.split(self.rows.rows, 4, axis=-1)
        return u, v

    def seen_in(self, bounds: Bounds) -> IntArray:
        """Return how many (m) of the latest outcomes were seen exactly, and within the bounds."""
        rows = self.bounds
        inside = (bounds.low[..., None, :] <= rows.low) & (rows.high <= bounds.high[..., None, :])
        return np.asarray((rows.exact & inside).sum(axis=-2))

    def after(self, bounds: Bounds, ruled_out: Array, u: Array, v: Array, latest: float) -> "Sight":
        """Return it after an outcome that took this weight (m) from the law."""
        low, high = np.isfinite(bounds.low), np.isfinite(bounds.high)
        return Sight(
            ruled_out=self.ruled_out + ruled_out,
            bounded=self.bounded + np.stack([low & ~high, high & ~low], axis=-2),
            left=self.left + np.where(low ^ high, 1.0 - ruled_out, 0.0),
            unseen=self.unseen + bounds.unseen,
            not_zero=self.not_zero + (bounds.exact & (bounds.low != 0.0)),
            whole=self.whole & (~bounds.exact | (bounds.low == np.floor(bounds.low))),
            lowest=_smaller(self.lowest, bounds),
            highest=-_smaller(-self.highest, Bounds(-bounds.high, -bounds.low)),
            rows=self.rows.append(np.concatenate([*bounds, u, v], axis=-1)).at_most(latest),
        )

    def completed(
        self, law: Law | None, bounds: Bounds, u: Array, v: Array, row: Array
    ) -> tuple[Array, Array, BoolArray]:
        """Return the weight (m) that an outcome took from a law, the outcome completed (m), and
        whether () it tells anything; by uniforms (m), (m) and ().
        """
        apart = np.where(np.isfinite(self.highest), self.highest - self.lowest, 0.0)
        far = beyond(bounds, apart, u)
        if law is None:  # what was not seen is like the rest
            told = bounds.exact | (far > bounds.low) | (far < bounds.high)
            xi = np.where(bounds.exact, bounds.low, np.where(told, far, 0.0))
            many = np.maximum(told.sum(axis=-1, keepdims=True), 1)
            xi = np.where(told, xi, xi.sum(axis=-1, keepdims=True) / many)
            return np.where(bounds.exact, 1.0, 0.0), xi, np.asarray(told.any(axis=-1))
        ruled_out = law.ruled_out(bounds)
        outside = ruled_out >= 1.0 - 1e-12  # no scenario was there
        rare = outside | (v * (1.0 + self.seen_in(bounds)) < 1.0)
        xi = np.where(rare & ~np.isnan(far), far, law.draw(bounds, row))
        whole = self.whole & (self.not_zero > 0) & (np.ceil(xi) <= bounds.high)
        xi = np.where(bounds.exact, bounds.low, np.where(whole, np.ceil(xi), xi))
        return ruled_out, xi, np.asarray((ruled_out > 1e-12).any(axis=-1))

    def beyond_all(self) -> Array:
        """Return outcomes (9, m) beyond all that was seen, on the side that bounds leave open.

        They reach as far as what was seen is apart, or from zero. Where all was 0 they are of any
        size.
        """
        ends = (np.where(np.isfinite(end), end, 0.0) for end in (self.lowest, self.highest))
        lowest, highest = (end[..., None, :] for end in ends)
        reach = np.maximum(highest - lowest, np.maximum(np.abs(highest), np.abs(lowest)))
        times = np.where(self.not_zero > 0, 1.0, _REACH - 1.0)[..., None, :]
        reach = np.where(reach > 0.0, reach * times * _STEPS, ANY_SCALE[:, None])
        down = np.where(lowest >= 0.0, np.maximum(lowest - reach, 0.0), lowest - reach)
        more_low = self.bounded[..., 0, :] >= self.bounded[..., 1, :]
        return np.where(more_low[..., None, :], highest + reach, down)

    def weight_beyond(self, optimism: float, u: Array) -> Array:
        """Return the weight (m) of what may lie beyond all that was seen, by uniforms (m).

        Beside a law of weight 1. It is E / n, for n outcomes that were ruled out and E exponential
        of mean optimism times what bounds left of the law on average.
        """
        n, open_ended = self.ruled_out, self.bounded.sum(axis=-2)
        left = self.left / np.maximum(open_ended, 1.0)
        usual = -optimism * left * np.log1p(-u) / np.maximum(n, 1.0 / _CERTAIN)
        only_zeros = (self.lowest == 0.0) & (self.highest == 0.0)
        again = np.where(u * (n + 1.0) < _AGAIN, _CERTAIN, 0.0)
        new = np.where(only_zeros, again, np.where(self.not_zero > 0, usual, _CERTAIN))
        return np.where(open_ended > 0, new, 0.0)

    def moved(self, law: Law, normal: Array) -> Array:
        """Return scenarios (s, m) of a law, what was unseen at times moved by normal numbers (m).

        By as much as the mean is uncertain: after n outcomes of variance v, by v / (n + 1) and, as
        all components together have variance V, by V / (n + 1)^2.
        """
        if not self.unseen.any():
            return law.scenarios
        mean = law.mean[..., None, :]
        square = (law.w[..., None] * (law.scenarios - mean) ** 2).sum(axis=-2)
        middle = mean.mean(axis=-1, keepdims=True)
        overall = (law.w[..., None] * (law.scenarios - middle) ** 2).sum(axis=-2)
        many = self.ruled_out + 1.0
        step = normal * np.sqrt((square + overall.mean(axis=-1, keepdims=True) / many) / many)
        shifted = law.scenarios + np.where(self.unseen > 0, step, 0.0)[..., None, :]
        low = np.where(law.scenarios.min(axis=-2, keepdims=True) >= 0.0, 0.0, -np.inf)
        return np.maximum(shifted, low)


def begun(lead: tuple[int, ...], m: int, outcomes: int, past: Array | None) -> Sight:
    """Return the sight after so many outcomes, all seen in full.

    Where `past` (n, m) are the latest, or stand for all.
    """
    none, ones = np.zeros((*lead, m)), np.ones((*lead, m))
    sight = Sight(
        ruled_out=outcomes * ones,
        bounded=np.zeros((*lead, 2, m)),
        left=none,
        unseen=none,
        not_zero=outcomes * ones,
        whole=np.ones((*lead, m), bool),
        lowest=np.inf * ones,
        highest=-np.inf * ones,
        rows=empty(lead, 4 * m),
    )
    if past is None or not past.shape[-2]:
        return sight
    middle = np.full_like(past, 0.5)
    return sight._replace(
        not_zero=(past != 0.0).sum(axis=-2) * 1.0,
        whole=(past == np.floor(past)).all(axis=-2),
        lowest=past.min(axis=-2),
        highest=past.max(axis=-2),
        rows=of_rows(np.concatenate([past, past, middle, middle], axis=-1)),
    )


def _smaller(lowest: Array, bounds: Bounds) -> Array:
    """Return the lowest (m) number, or bound, so far."""
    low = np.where(np.isfinite(bounds.low), bounds.low, bounds.high)
    return np.where(np.isfinite(low), np.minimum(lowest, low), lowest)
