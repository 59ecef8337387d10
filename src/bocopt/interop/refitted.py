"""Models that are fitted anew from the past, on a schedule."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.core import Array, IntArray
from bocopt.fingerprint import CHANGES_NO_RESULT
from bocopt.interop.fits import KEY_SIZE, LatestFits, key_of
from bocopt.numeric.history import History, empty
from bocopt.policies.baselines import NoInfo

_FEWEST_KEPT = 8  # fits


class RefittedState(NamedTuple):
    """Outcomes so far, and which of them the last fit has seen."""

    seeds: IntArray  # ()
    x: History  # (n, k)
    xi: History  # (n, m)
    fitted: IntArray  # () how many outcomes there were at the last fit; 0 before the first
    key: IntArray  # (4) of what it was fitted to
    info: NoInfo = NoInfo()

    @property
    def seen(self) -> int:
        """Number of outcomes so far, the same for all trials."""
        return int(self.xi.size + self.xi.dropped.max())


@dataclass(frozen=True)
class Refitted(ABC):
    """Outcomes are equally likely until the first fit. Where none was ever below zero, no scenario
    is.

    Fits are no part of a state, which holds the past alone: one that is not remembered is made
    again from the rows that it was made from. So `fit` must be a function of its arguments.
    """

    _fits: LatestFits = field(
        init=False,
        repr=False,
        compare=False,
        default_factory=LatestFits,
        metadata=CHANGES_NO_RESULT,
    )

    @abstractmethod
    def due(self, seen: int, fitted: int) -> bool:
        """Return whether to fit again after `seen` outcomes, the last fit being after `fitted`."""

    @abstractmethod
    def fit(self, x: Array, xi: Array, seed: int) -> Any:
        """Return whatever `predicted` needs, fitted to (n, k), (n, m) of one trial."""

    @abstractmethod
    def predicted(self, fit: Any, x: Array, xi: Array) -> tuple[Array, Array]:
        """Return scenarios (s, m) and their weights (s), from a fit, a context (k) and the outcomes
        (n, m) that the fit has seen.
        """

    @property
    def rows_to_fit(self) -> int | None:
        """Number of the latest outcomes that are fitted to; None: all."""
        return None

    @property
    def rows_to_keep(self) -> float:
        """Number of the latest outcomes that are kept: those of the last fit until the next one."""
        return np.inf

    def init(self, seeds: IntArray) -> RefittedState:
        """Return the state before any outcome and any fit, with the leading axes of the seeds."""
        seeds = arguments.seeds_of(type(self).__name__, seeds)
        none = empty(seeds.shape, 0)
        key = np.zeros((*seeds.shape, KEY_SIZE), np.int64)
        return RefittedState(seeds, none, none, np.array(0), key)

    def step(self, state: RefittedState, t: int, x: Array, xi: Array) -> RefittedState:
        """Return the state after the outcome xi (m) of context x (k), with a fit if one is due."""
        state = _appended(type(self).__name__, state, x, xi, self.rows_to_keep)
        seen = state.seen
        if not self.due(seen, int(state.fitted)):
            return state
        state = state._replace(fitted=np.array(seen))
        rows = zip(*self._rows(state), state.seeds.reshape(-1, 1), strict=True)
        keys = np.stack([key_of(*trial) for trial in rows]).reshape(state.key.shape)
        state = state._replace(key=keys)
        self._fitted(state)
        return state

    def sample(self, state: RefittedState, x: Array) -> tuple[Array, Array]:
        """Return scenarios (s, m) under a context (k), and their weights (s)."""
        lead, width = state.seeds.shape, state.x.buffer.shape[-1]
        x = arguments.inner(f"{type(self).__name__}.sample", "x", x, width)
        if not state.fitted:
            many = int(state.xi.size)
            return state.xi.rows, np.full((*lead, many), 1.0 / many)
        contexts = by_trial(state.seeds, x, 1)
        _, past = self._rows(state)
        parts = zip(self._fitted(state), contexts, past, strict=True)
        each = [self.predicted(fit, here, xi) for fit, here, xi in parts]
        scenarios, w = (np.stack(part) for part in zip(*each, strict=True))
        scenarios = scenarios.reshape(*lead, *scenarios.shape[1:])
        return np.maximum(scenarios, lowest(state.xi)), w.reshape(*lead, -1)

    def _rows(self, state: RefittedState) -> tuple[Array, Array]:
        """Return contexts (trials, n, k) and outcomes (trials, n, m) that the last fit has seen."""
        stop = int(state.fitted - state.xi.dropped.max())
        start = 0 if self.rows_to_fit is None else max(stop - self.rows_to_fit, 0)
        x, xi = (part.rows[..., start:stop, :] for part in (state.x, state.xi))
        return by_trial(state.seeds, x, 2), by_trial(state.seeds, xi, 2)

    def _fitted(self, state: RefittedState) -> list[Any]:
        """One for each trial, each remembered or made."""
        seeds = state.seeds.ravel().tolist()
        most = max(_FEWEST_KEPT, 2 * len(seeds))
        rows = zip(state.key.reshape(-1, KEY_SIZE), *self._rows(state), seeds, strict=True)
        return [
            self._fits.answer(key, most, partial(self.fit, x, xi, seed))
            for key, x, xi, seed in rows
        ]


def _appended(owner: str, state: RefittedState, x: Array, xi: Array, kept: float) -> RefittedState:
    """The state with one outcome more, which says how wide the past is where it is the first."""
    first, lead = not state.seen, state.seeds.shape
    x = arguments.array(f"{owner}.step", "x", x, (... if first else state.x.buffer.shape[-1],))
    xi = arguments.array(f"{owner}.step", "xi", xi, (None if first else state.xi.buffer.shape[-1],))
    past = (empty(lead, x.shape[-1]), empty(lead, xi.shape[-1])) if first else (state.x, state.xi)
    return state._replace(x=past[0].append(x).at_most(kept), xi=past[1].append(xi).at_most(kept))


def by_trial(seeds: IntArray, values: Array, axes: int) -> Array:
    """The leading axes as one, of all trials; the last `axes` stay as they are."""
    core = values.shape[-axes:]
    return np.broadcast_to(values, (*seeds.shape, *core)).reshape(seeds.size, *core)


def lowest(outcomes: History) -> Array:
    """Return the least scenario (1, m) allowed: 0 where no outcome was ever below, else -inf."""
    return np.where(outcomes.rows.min(axis=-2) >= 0, 0.0, -np.inf)[..., None, :]
