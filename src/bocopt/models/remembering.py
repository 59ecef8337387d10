"""A model that is shown more than the context: what came before, the season, means for gaps."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.abilities import KnowsAtOnce
from bocopt.core import Array, IntArray, Model
from bocopt.models import gaps, past
from bocopt.models.gaps import Gaps
from bocopt.models.past import OutcomeHistory, Wave, seasons, waves
from bocopt.numeric.noise import When
from bocopt.wrappers import sample_at, says

Missing = Literal["mean", "marked"]

_MOST_HARMONICS = 1000


class Remembered(NamedTuple):
    """State of the model, and what it is shown beside the context."""

    seeds: IntArray  # ()
    width: IntArray  # () how many numbers a context has; -1 before the first outcome
    past: OutcomeHistory
    gaps: Gaps
    model: Any

    @property
    def info(self) -> Any:
        """The model's."""
        return self.model.info


@dataclass(frozen=True)
class Remembering:
    """A model whose context is joined by its own past outcomes, seasons, and means for gaps.

    - `lags`: the outcomes of so many stages ago. One that is not known (there were not so many
      stages, or it is still to come) counts as the mean of all outcomes so far; at the first stage,
      as the first outcome. A lag should be longer than outcomes take to come.
    - `periods`: cosines and sines of the stage, `harmonics` of each: the slowest goes once around
      in so many stages, the next one twice. What is shorter than two stages is left out.
    - `missing` "mean": a NaN in a context counts as the mean of what was seen of that number so
      far. One that is missing at the first stage is measured from its first value, and is 0 before.
      With "marked", there is also a 1 for each that is missing and a 0 for each that is not: for
      contexts that are missing for a reason. Without either, a NaN is an error.

    A context may be empty. Each lag brings as many numbers as an outcome has: the model must cope
    with them. Memory is that of the longest lag.

    >>> from bocopt.models import Mixture
    >>> model = Remembering(Mixture(dim_xi=1, scenarios=4), lags=[1], periods=[2])
    >>> state = model.init(np.array(0))
    >>> for t in range(40):
    ...     state = model.step(state, t, np.empty(0), np.array([5.0 + t % 2]))
    >>> model.sample(state, np.empty(0))[0].round(1).tolist()
    [[5.0], [5.0], [5.0], [5.0]]
    """

    model: Model[Any]
    lags: Sequence[int] = ()
    periods: Sequence[float] = ()
    harmonics: int = 4
    missing: Missing | None = None

    def __post_init__(self) -> None:
        name = type(self).__name__
        arguments.kind(name, "model", self.model, Model)
        if not _is_empty(self.lags):
            lags = arguments.integers(name, "lags", self.lags, "[1, 1e9]")
            object.__setattr__(self, "lags", lags)
        if not _is_empty(self.periods):
            periods = arguments.numbers(name, "periods", self.periods, "[2, inf)")
            object.__setattr__(self, "periods", periods)
        for field in ("lags", "periods"):
            listed = getattr(self, field)
            if len(set(listed)) < len(listed):
                raise arguments.wrong(name, field, "different from each other", listed)
        arguments.integer(name, "harmonics", self.harmonics, f"[1, {_MOST_HARMONICS}]")
        if self.missing not in ("mean", "marked", None):
            raise arguments.wrong(name, "missing", "'mean', 'marked' or None", self.missing)

    @property
    def inner(self) -> Model[Any]:
        """The model."""
        return self.model

    def inside(self, state: Remembered, memo: Any) -> tuple[Any, Any]:
        """Return the model's state, and its memo."""
        return state.model, memo

    @property
    def takes_missing(self) -> bool:
        """True if a context may contain NaN."""
        return self.missing is not None

    @property
    def knows_at_once(self) -> bool:
        """True if the model does and there are no lags: before any outcome no lag is known."""
        return bool(says(self.model, KnowsAtOnce)) and not self.lags

    @cached_property
    def _waves(self) -> list[Wave]:
        return waves(self.periods, self.harmonics)

    def init(self, seeds: IntArray) -> Remembered:
        """Return the model's state and an empty past, with the leading axes of the seeds."""
        seeds = arguments.seeds_of("Remembering.init", seeds)
        lead = seeds.shape
        return Remembered(
            seeds=seeds,
            width=np.array(-1),
            past=past.initial(lead, 0),
            gaps=gaps.initial((*lead, 0)),
            model=self.model.init(seeds),
        )

    def step(self, state: Remembered, t: int, x: Array, xi: Array) -> Remembered:
        """Return the state after outcome (m) at context (k), which past and season join."""
        x = self._checked("step", state, x)
        components = state.past.total.shape[-1] if state.past.has_outcomes else None
        xi = arguments.finite_and_squarable("Remembering.step", "xi", xi, components)
        xi = np.broadcast_to(xi, (*state.seeds.shape, xi.shape[-1]))
        shown = self._shown(state, t, x, xi)
        return Remembered(
            seeds=state.seeds,
            width=np.array(x.shape[-1]),
            past=state.past.update(t, xi, max(self.lags, default=0)),
            gaps=state.gaps.update(x) if self.takes_missing else state.gaps,
            model=self.model.step(state.model, t, shown, xi),
        )

    def sample(self, state: Remembered, x: Array) -> tuple[Array, Array]:
        """(k) -> (s, m), (s): at the stage after the latest outcome."""
        return self.sample_at(state, state.past.next, x)

    def sample_at(self, state: Remembered, t: When, x: Array) -> tuple[Array, Array]:
        """(k) -> (s, m), (s): at this stage, which may be a later one where outcomes are late."""
        x = self._checked("sample", state, x)
        shown = self._shown(state, t, x, state.past.total)
        return sample_at(self.model, state.model, t, shown)

    def _checked(self, where: str, state: Remembered, x: Array) -> Array:
        """(k), as many numbers as before."""
        size = int(state.width) if state.width >= 0 else ...
        x = arguments.finite_and_squarable(
            f"Remembering.{where}", "x", x, size, gaps=self.takes_missing
        )
        return np.broadcast_to(x, (*state.seeds.shape, x.shape[-1]))

    def _shown(self, state: Remembered, t: When, x: Array, first: Array) -> Array:
        """(k) -> (k and more): what the model sees; `first` stands for the mean of no outcomes."""
        marks = [np.isnan(x).astype(np.float64)] if self.missing == "marked" else []
        if self.takes_missing:
            x = state.gaps.filled(x)
        mean = (
            state.past.total / state.past.outcomes[..., None] if state.past.has_outcomes else first
        )
        lagged = state.past.lagged(t, self.lags, mean)
        now = seasons(t, self._waves)
        now = np.broadcast_to(now, (*x.shape[:-1], now.shape[-1]))
        return np.concatenate([x, *marks, *lagged, now], axis=-1)


def _is_empty(values: object) -> bool:
    return isinstance(values, Sequence) and not values
