"""The stages seen so far, and what parameters would have lost on them."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.core import Array, BoolArray, IntArray, Loss
from bocopt.numeric import noise
from bocopt.numeric.history import History, empty
from bocopt.numeric.noise import When

_CHUNK = 32  # stages summed at once; fixed, so that sums have the same bits whoever is summed
_SHARE = 100  # parameters at least for a thread to be worth its while
_ROWS = 4096  # parameters at once, which bounds the memory and changes no bits


class StageHistory(NamedTuple):
    """Contexts and outcomes of the stages that still count, in the order of their arrival."""

    x: History  # (n, k)
    xi: History  # (n, m)
    t: History  # (n, 1) the number of the stage, whose noise it is

    @property
    def first(self) -> IntArray:
        """Return how many stages () arrived before the oldest that still counts."""
        return self.xi.dropped

    @property
    def size(self) -> int:
        """Number of stages that still count."""
        return int(self.xi.size)

    @property
    def seen(self) -> IntArray:
        """Return how many stages () arrived in all."""
        return self.first + self.size

    def append(self, x: Array, xi: Array, t: When) -> "StageHistory":
        """Return the history with one more stage: context (k), outcome (m) and number t ()."""
        stage = np.empty((*x.shape[:-1], 1))
        stage[..., 0] = t
        return StageHistory(self.x.append(x), self.xi.append(xi), self.t.append(stage))

    def without_the_oldest(self) -> "StageHistory":
        """Return the history without its oldest stage."""
        return StageHistory(*(history.without_the_oldest() for history in self))


class Totals(NamedTuple):
    """Sums of losses over the past, and which of them stayed within their budget."""

    total: Array  # (M) discounted loss; meaningless where not alive
    alive: BoolArray  # (M) whether it stayed under its budget
    evaluated: Array  # (M) losses that were computed


def initial(lead: tuple[int, ...], dim_x: int, dim_xi: int) -> StageHistory:
    """Return an empty history of contexts and outcomes, with the leading axes `lead`."""
    return StageHistory(empty(lead, dim_x), empty(lead, dim_xi), empty(lead, 1))


@dataclass(frozen=True)
class Ledger:
    """Losses that parameters would have had on the past stages of their trial.

    Trials are the leading axis of the seeds and the past. `threads` share the parameters among
    them, which changes no bits.
    """

    loss: Loss
    seeds: IntArray
    past: StageHistory
    discount: float
    early_rejection: bool
    threads: int

    def totals(self, theta: Array, owner: IntArray, birth: IntArray, budget: Array) -> Totals:
        """sum_i discount^age_i l(theta, d_i) over what arrived since birth, newest first.

        theta (M, p) belong to trials `owner` (M). A sum is given up as soon as the loss's lower
        bound shows that it cannot end below its `budget` (M): what is left out could not have
        changed that, so this rejection is exact.
        """
        many = min(4 * self.threads, len(theta) // _SHARE)  # some take longer than others
        if self.threads == 1 or many < 2:
            return self._totals(theta, owner, birth, budget)
        shares = [np.array_split(a, many) for a in (theta, owner, birth, budget)]
        with ThreadPoolExecutor(self.threads) as pool:
            parts = list(pool.map(self._totals, *shares))
        return Totals(*(np.concatenate(part) for part in zip(*parts, strict=True)))

    def each(self, theta: Array, owner: IntArray) -> Array:
        """Return the losses (M, n) of parameters (M, p) at each stage, not discounted."""
        found = np.zeros((len(theta), self.past.size))
        u = _noise(self.loss, self.seeds, self.past.t.rows[..., 0])
        for rows in _by_trial(owner, np.ones(len(theta), bool)):
            own = owner[rows[0]], None
            stages = self.past.x.rows[own], self.past.xi.rows[own], u[own]
            found[rows] = checked(self.loss, self.loss(theta[rows, None, :], *stages))
        return found

    def _totals(self, theta: Array, owner: IntArray, birth: IntArray, budget: Array) -> Totals:
        past, size, many = self.past, self.past.size, len(theta)
        arrival = past.first[:, None] + np.arange(size)
        weight = self.discount ** np.arange(size - 1.0, -1.0, -1.0)
        bounded = bool(np.isfinite(self.loss.lower))
        lower = self.loss.lower if bounded else 0.0
        weight_since = np.append(np.cumsum(weight[::-1])[::-1], 0.0)
        floor = lower * weight_since[np.clip(birth - past.first[owner], 0, size)]
        room = budget - floor
        excess, evaluated, alive = np.zeros(many), np.zeros(many), np.ones(many, bool)
        for end in range(size, 0, -_CHUNK):
            part = slice(max(0, end - _CHUNK), end)
            u = _noise(self.loss, self.seeds, past.t.rows[..., part, 0])
            for rows in _by_trial(owner, alive):
                own = owner[rows[0]], None, part  # broadcasts: what is shared is computed once
                found = self.loss(
                    theta[rows, None, :], past.x.rows[own], past.xi.rows[own], u[own[:2]]
                )
                found = checked(self.loss, found)
                counted = weight[part] * (arrival[own[0], part] >= birth[rows, None])
                excess[rows] += ((found - lower) * counted).sum(axis=-1)
                evaluated[rows] += found.shape[-1]
            if bounded and self.early_rejection:
                alive &= excess < room
        return Totals(excess + floor, alive & (excess < room), evaluated)


def checked(loss: Loss, found: Array) -> Array:
    """Losses that are numbers, and not below what the loss declares."""
    if not np.isfinite(found).all():
        raise ValueError(f"The loss {type(loss).__name__} must be finite for all parameters.")
    if found.size and found.min() < loss.lower - 1e-9 * (1 + abs(loss.lower)):
        raise ValueError(
            f"The loss {type(loss).__name__} was {found.min()}, below its declared lower bound "
            f"{loss.lower}."
        )
    return found


def _by_trial(owner: IntArray, alive: BoolArray) -> Iterator[IntArray]:
    """The living rows of one trial at a time, not too many at once."""
    live = np.flatnonzero(alive)
    for rows in np.split(live, np.flatnonzero(np.diff(owner[live])) + 1):
        for first in range(0, len(rows), _ROWS):
            yield rows[first : first + _ROWS]


def _noise(loss: Loss, seeds: IntArray, stages: Array) -> Array:
    """(trials, stages) -> (trials, stages, n): each stage's own, as when it was first seen."""
    shape = (loss.dim_noise,)
    if not loss.dim_noise:
        return np.empty((*stages.shape, 0))
    each = np.broadcast_to(seeds[:, None], stages.shape)
    return noise.normal(each, stages.astype(np.int64), "loss", shape)


def ledger_of(owner: str, loss: Loss, seeds: IntArray, x: Array, xi: Array) -> Ledger:
    """Return the ledger of a batch, (n, k) and (n, m); trials are one leading axis.

    The noise of the loss is that of stages 0, 1, ..., as in `ResampleMove`.
    """
    xi = arguments.array(owner, "xi", xi, (None, None))
    x = arguments.array(owner, "x", x, (xi.shape[-2], ...))
    lead, many = seeds.shape, xi.shape[-2]
    arguments.lead(owner, seeds=lead, x=x.shape[:-2], xi=xi.shape[:-2])
    stages = np.broadcast_to(np.arange(float(many))[:, None], (many, 1))
    rows = (
        np.broadcast_to(a, (*lead, *a.shape[-2:])).reshape(seeds.size, *a.shape[-2:])
        for a in (x, xi, stages)
    )
    past = StageHistory(*(_history(a) for a in rows))
    return Ledger(loss, seeds.reshape(-1), past, discount=1.0, early_rejection=True, threads=1)


def _history(rows: Array) -> History:
    many = np.array(rows.shape[-2])
    return History(rows.copy(), many, np.array(0), many, np.zeros(rows.shape[:-2], np.int64))
