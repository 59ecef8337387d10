"""The stages seen so far, and what parameters would have lost on them."""

from typing import NamedTuple

import numpy as np

from bocopt import noise
from bocopt.core import Array, BoolArray, IntArray, Loss
from bocopt.history import History, empty

_CHUNK = 32  # stages summed at once; fixed, so that sums have the same bits whoever is summed
_ROWS = 4096  # parameters at once, which bounds the memory and changes no bits


class Past(NamedTuple):
    """Contexts and outcomes, oldest first, of the stages that still count."""

    x: History  # (t, k)
    xi: History  # (t, m)

    @property
    def first(self) -> int:
        """The stage of the oldest row."""
        return int(self.xi.dropped)

    @property
    def size(self) -> int:
        return int(self.xi.size)

    def append(self, x: Array, xi: Array) -> "Past":
        return Past(self.x.append(x), self.xi.append(xi))

    def without_the_oldest(self) -> "Past":
        return Past(self.x.without_the_oldest(), self.xi.without_the_oldest())


class Totals(NamedTuple):
    """What a sum over the past found."""

    total: Array  # (M) discounted loss; meaningless where not alive
    alive: BoolArray  # (M) whether it stayed under its budget
    evaluated: Array  # (M) losses that were computed


def nothing(lead: tuple[int, ...], dim_x: int, dim_xi: int) -> Past:
    return Past(empty(lead, dim_x), empty(lead, dim_xi))


def total_loss(
    loss: Loss,
    seeds: IntArray,
    past: Past,
    discount: float,
    theta: Array,
    owner: IntArray,
    birth: IntArray,
    budget: Array,
    early_rejection: bool = True,
) -> Totals:
    """sum_i discount^age_i l(theta, d_i) over the stages since birth, newest first.

    theta (M, p) belong to trials `owner` (M), which are the leading axis of the seeds and the past.
    A sum is given up as soon as the loss's lower bound shows that it cannot end below its `budget`
    (M): what is left out could not have changed that, so this rejection is exact.
    """
    size, many = past.size, len(theta)
    stages = past.first + np.arange(size)
    weight = discount ** np.arange(size - 1.0, -1.0, -1.0)
    bounded = bool(np.isfinite(loss.lower))
    lower = loss.lower if bounded else 0.0
    weight_since = np.append(np.cumsum(weight[::-1])[::-1], 0.0)
    room = budget - lower * weight_since[np.clip(birth - past.first, 0, size)]
    excess, evaluated, alive = np.zeros(many), np.zeros(many), np.ones(many, bool)
    for end in range(size, 0, -_CHUNK):
        part = slice(max(0, end - _CHUNK), end)
        u = _noise(loss, seeds, stages[part])
        live = np.flatnonzero(alive)
        for first in range(0, len(live), _ROWS):
            rows = live[first : first + _ROWS]
            at = owner[rows], part
            found = loss(theta[rows, None, :], past.x.rows[at], past.xi.rows[at], u[owner[rows]])
            counted = weight[part] * (stages[part] >= birth[rows, None])
            excess[rows] += ((found - lower) * counted).sum(axis=-1)
            evaluated[rows] += found.shape[-1]
        if bounded and early_rejection:
            alive &= excess < room
    return Totals(excess + (budget - room), alive & (excess < room), evaluated)


def _noise(loss: Loss, seeds: IntArray, stages: IntArray) -> Array:
    """(stages, n): each stage's own, as when it was first seen."""
    shape = (loss.dim_noise,)
    return np.stack([noise.normal(seeds, int(t), "loss", shape) for t in stages], axis=-2)
