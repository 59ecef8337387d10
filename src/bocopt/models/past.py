"""Past of a stage: outcomes of so many stages ago, and its place in the seasons."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bocopt.core import Array, IntArray
from bocopt.numeric.history import History, empty
from bocopt.numeric.noise import When
from bocopt.numeric.stacking import alike

Wave = tuple[int, float]  # how often, in a period of so many stages


class OutcomeHistory(NamedTuple):
    """The latest outcomes, and the mean of all."""

    rows: History  # (n, 1 + m) stage and outcome, in the order in which they came
    total: Array  # (m) of all outcomes
    outcomes: IntArray  # () how many
    next: IntArray  # () the stage after the latest

    @property
    def has_outcomes(self) -> bool:
        """True if there was an outcome."""
        return alike("with and without an outcome", self.outcomes > 0)

    def update(self, t: When, xi: Array, kept: int) -> "OutcomeHistory":
        """Return the history with the outcome (m) of stage t (); the latest `kept` are kept."""
        past = self if self.has_outcomes else initial(xi.shape[:-1], xi.shape[-1])
        rows = past.rows
        if kept:
            stage = np.empty((*xi.shape[:-1], 1))
            stage[..., 0] = t
            rows = rows.append(np.concatenate([stage, xi], axis=-1)).at_most(kept)
        later = np.maximum(past.next, np.asarray(t) + 1)
        return OutcomeHistory(rows, past.total + xi, past.outcomes + 1, later)

    def lagged(self, t: When, lags: Sequence[int], otherwise: Array) -> list[Array]:
        """(m) each: what came so many stages before, `otherwise` where that is not known."""
        rows = self.rows.rows
        if not rows.shape[-2]:
            return [otherwise] * len(lags)
        found = []
        for lag in lags:
            there = rows[..., 0] == np.asarray(t)[..., None] - lag
            last = there.shape[-1] - 1 - there[..., ::-1].argmax(axis=-1)
            values = np.take_along_axis(rows, last[..., None, None], axis=-2)[..., 0, 1:]
            found.append(np.where(there.any(axis=-1)[..., None], values, otherwise))
        return found


def initial(lead: tuple[int, ...], dim_xi: int) -> OutcomeHistory:
    """Return an empty history of outcomes (dim_xi), with leading axes `lead`."""
    none = np.zeros(lead, np.int64)
    return OutcomeHistory(empty(lead, 1 + dim_xi), np.zeros((*lead, dim_xi)), none, none)


def waves(periods: Sequence[float], harmonics: int) -> list[Wave]:
    """Return the waves that stages can tell from each other, each once.

    >>> waves([4, 2], harmonics=3)
    [(1, 4), (2, 4)]
    """
    found: dict[float, Wave] = {}  # by their frequency
    for period in periods:
        for h in range(1, min(harmonics, int(period // 2)) + 1):
            found.setdefault(h / period, (h, period))
    return list(found.values())


def seasons(t: When, of: Sequence[Wave]) -> Array:
    """() -> (f): the season of each trial, one by one: some processors round arrays otherwise."""
    each = [season(int(stage), of) for stage in np.reshape(t, -1)]
    return np.array(each).reshape(*np.shape(t), -1)


def season(t: int, of: Sequence[Wave]) -> Array:
    """(f): a cosine and a sine of each wave; of the shortest that there is, the sine is always 0.

    >>> season(1, [(1, 4), (2, 4)]).round(3).tolist()
    [0.0, 1.0, -1.0]
    """
    turns = [(h * t % period / period, 2 * h < period) for h, period in of]
    pairs = [(np.cos(2 * np.pi * turn), np.sin(2 * np.pi * turn)) for turn, _ in turns]
    both = zip(pairs, turns, strict=True)
    return np.array([value for pair, (_, sine) in both for value in pair[: 1 + sine]])
