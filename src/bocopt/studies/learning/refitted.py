"""Models that are fitted anew from all outcomes, on a schedule: what rivals have in common."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.core import Array, IntArray
from bocopt.numeric.history import History, empty
from bocopt.policies.baselines import NoInfo
from bocopt.studies.learning.data.source import extra


class RefittedState(NamedTuple):
    """Outcomes so far, and what was fitted to the first `fitted` of them."""

    seeds: IntArray  # ()
    x: History  # (n, k)
    xi: History  # (n, m)
    fitted: IntArray  # () how many outcomes the last fit has seen
    fits: tuple[Any, ...]  # one for each trial: a tuple of arrays
    info: NoInfo = NoInfo()


@dataclass(frozen=True)
class Refitted(ABC):
    """Outcomes are equally likely until there are `begin` of them; then a fit is renewed when a
    share `renewed` of its outcomes is new."""

    dim_xi: int
    begin: ClassVar[int] = 10
    renewed: ClassVar[float] = 0.05

    def __post_init__(self) -> None:
        arguments.integer(type(self).__name__, "dim_xi", self.dim_xi, "[1, inf)")
        extra("sklearn")  # where it is missing, that is said before anything runs

    @abstractmethod
    def fit(self, x: Array, xi: Array, seed: int) -> tuple[Any, ...]:
        """(n, k), (n, m) -> arrays, for one trial."""

    @abstractmethod
    def predicted(self, fit: Any, x: Array, xi: Array) -> tuple[Array, Array]:
        """A fit, (k), the outcomes (n, m) that it has seen -> (n, m), (n): weighted scenarios."""

    def init(self, seeds: IntArray) -> RefittedState:
        seeds = arguments.seeds_of(type(self).__name__, seeds)
        none = empty(seeds.shape, 0), empty(seeds.shape, self.dim_xi)
        return RefittedState(seeds, *none, np.array(0), ())

    def step(self, state: RefittedState, t: int, x: Array, xi: Array) -> RefittedState:
        past = state.x if state.xi.size else empty(state.seeds.shape, x.shape[-1])
        state = state._replace(x=past.append(x), xi=state.xi.append(xi))
        seen, fitted = int(state.xi.size), int(state.fitted)
        if seen < self.begin or seen - fitted < self.renewed * fitted:
            return state
        trials = zip(*_by_trial(state), state.seeds.ravel().tolist(), strict=True)
        fits = tuple(self.fit(x, xi, seed) for x, xi, seed in trials)
        return state._replace(fitted=np.array(seen), fits=fits)

    def sample(self, state: RefittedState, x: Array) -> tuple[Array, Array]:
        """(k) -> (s, m), (s)."""
        seen, fitted = int(state.xi.size), int(state.fitted)
        if not fitted:
            return state.xi.rows, np.full(seen, 1.0 / seen)
        contexts = np.broadcast_to(x, (*state.seeds.shape, x.shape[-1])).reshape(-1, x.shape[-1])
        _, past = _by_trial(state)
        each = [
            self.predicted(fit, here, xi[:fitted])
            for fit, here, xi in zip(state.fits, contexts, past, strict=True)
        ]
        scenarios, w = (np.stack(part) for part in zip(*each, strict=True))
        lead = state.seeds.shape
        low = np.where(state.xi.rows.min(axis=-2) >= 0, 0.0, -np.inf)[..., None, :]
        return np.maximum(scenarios.reshape(*lead, *scenarios.shape[1:]), low), w.reshape(*lead, -1)


def _by_trial(state: RefittedState) -> tuple[Array, Array]:
    """(trials, n, k), (trials, n, m)."""
    x, xi = state.x.rows, state.xi.rows
    return x.reshape(-1, *x.shape[-2:]), xi.reshape(-1, *xi.shape[-2:])
