"""A law of xi given x in a few kilobytes, in closed form: for hundreds or millions of streams."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.core import Array, IntArray
from bocopt.models.law import base_points
from bocopt.numeric import noise
from bocopt.numeric.noise import When
from bocopt.numeric.recent import Recent

#: How far the place of a whole number, within the unit above it, moves from stage to stage.
TURN = float((np.sqrt(5.0) - 1.0) / 2.0)
_FIRST = Recent(512)  # of all series of a panel, some hundred at a time


class LightInfo(NamedTuple):
    """Scores of the laws at the last outcome; means over components where there are several."""

    weights: Array  # (L) after the outcome
    log_score: Array  # (L) log density of the outcome, as predicted
    mixture_score: Array  # () of all together
    probability: Array  # (m) of a smaller outcome, under all together


class LightState(NamedTuple):
    """State of a `LightMixture`: one flat array a component."""

    seeds: IntArray  # ()
    memory: Array  # (m, n); n = 0 before the first outcome
    info: LightInfo


@dataclass(frozen=True, kw_only=True)
class LightMixture:
    """Robust regressions on the context, a histogram and a gate for zeros, all in closed form.

    - Eight Bayesian regressions, which differ in how they discount the past, in how strongly they
      shrink switches (contexts of 0 and 1) and other contexts, in what they take for the noise
      before it was seen, and in their tails (2 or 4 degrees of freedom). Two of them see the
      logarithm of outcomes that were never negative, and of contexts that are like these, as lags
      and means are. An outcome that is far from what was expected counts as less far, unless little
      was known of its context.
    - A histogram of all outcomes, for modes and counts that no regression can show.
    - Where outcomes were 0, and never below, the probability of a zero is a logistic regression.
    - They are weighed by a power of the density that they gave to what came, which a single outcome
      cannot turn over, with 2% handed out evenly at each outcome. Levels are corrected where
      outcomes did not lie evenly in what was predicted.

    There is no history: 12 contexts take 9 kB a component, and a stage some ten microseconds, for
    any number of streams at once as leading axes. Components are predicted one by one, as if they
    did not depend on each other. A context that is missing (NaN) stands at its mean so far.

    With `given`, the last so many numbers of a context are quantiles of a law that somebody else
    predicts, say an `AcrossSeries`: at the levels (i + 0.5) / `given`, in units of xi, NaN where
    there is none. It is one more law, with 99% of all weight at first, so that a stream without an
    outcome is decided by it alone; and its middle is a context that outcomes are thought to follow.

    >>> model = LightMixture(dim_xi=1)
    >>> state = model.init(np.array(0))
    >>> for t, demand in enumerate([31.0, 22.0, 35.0, 28.0]):
    ...     state = model.step(state, t, np.array([1.0]), np.array([demand]))
    >>> scenarios, w = model.sample(state, np.array([1.0]))
    >>> bool(abs((w * scenarios[:, 0]).sum() - 29) < 3)
    True

    Reference: West, Harrison (1997), Bayesian forecasting and dynamic models, chapter 4.
    """

    lockstep: ClassVar[bool] = True
    takes_missing: ClassVar[bool] = True
    learns_parts: ClassVar[bool] = True
    dim_xi: int = 1
    scenarios: int = 256  # where there are several components
    given: int = 0

    def __post_init__(self) -> None:
        arguments.integer("LightMixture", "dim_xi", self.dim_xi, "[1, inf)")
        arguments.integer("LightMixture", "scenarios", self.scenarios, "[2, inf)")
        arguments.integer("LightMixture", "given", self.given, "[0, inf)")
        if self.given == 1 or (self.given and self.dim_xi > 1):
            expected = "0, or at least 2 quantiles of an outcome of one component"
            raise arguments.wrong("LightMixture", "given", expected, self.given)

    @property
    def knows_at_once(self) -> bool:
        """A law may be given before the first outcome."""
        return self.given > 0

    @property
    def law_names(self) -> list[str]:
        """The names of the laws, in the order of the weights."""
        from bocopt.models.kernels.light import layout

        pairs = list(zip(layout.DISCOUNTS, layout.TAILS, strict=True))
        return [
            *(f"discount {d:g}, df {tail:g}" for d, tail in pairs[: layout.PLAIN]),
            *(f"logarithmic, discount {d:g}" for d, _ in pairs[layout.PLAIN :]),
            "histogram",
            "given",
        ]

    def init(self, seeds: IntArray) -> LightState:
        """Return the state before any outcome, with the leading axes of the seeds."""
        from bocopt.models.kernels.light import layout

        seeds = arguments.seeds_of("LightMixture.init", seeds)
        lead, laws = seeds.shape, layout.LAWS
        nan = np.full((*lead, laws), np.nan)
        return LightState(
            seeds=seeds,
            memory=np.zeros((*lead, self.dim_xi, 0)),
            info=LightInfo(
                weights=np.full((*lead, laws), 1.0 / laws),
                log_score=nan,
                mixture_score=nan[..., 0],
                probability=np.full((*lead, self.dim_xi), np.nan),
            ),
        )

    def step(self, state: LightState, t: When, x: Array, xi: Array) -> LightState:
        """Return the state after an outcome xi (m) under a context x (k).

        Of a component that is NaN nothing is learned: it was not seen.
        """
        from bocopt.models.kernels.light import layout, learning

        lead = state.seeds.shape
        xi = arguments.finite_and_squarable("LightMixture.step", "xi", xi, self.dim_xi, gaps=True)
        x, given = self._parts("LightMixture.step", x, lead)
        xi = np.broadcast_to(xi, (*lead, self.dim_xi))
        memory = self._memory(state, x)
        seen = ~np.isnan(xi)
        first = self._first(state.seeds)
        place = (first + np.asarray(t)[..., None] * TURN) % 1.0
        with np.errstate(invalid="ignore"):  # lanes of machine code that nobody reads
            after, scores = learning.step(
                memory,
                x[..., None, :],
                given[..., None, :],
                xi if seen.all() else np.where(seen, xi, memory[..., layout.MEAN]),
                place,
                np.empty(layout.LAWS + 2),
            )
        if not seen.all():
            after = np.where(seen[..., None], after, memory)
            scores = np.where(seen[..., None], scores, [0.0] * (layout.LAWS + 1) + [np.nan])
        log_w = after[..., layout.LOG_W : layout.LOG_W + layout.LAWS]
        return LightState(
            seeds=state.seeds,
            memory=after,
            info=LightInfo(
                weights=np.exp(log_w).mean(axis=-2),
                log_score=scores[..., : layout.LAWS].sum(axis=-2),
                mixture_score=scores[..., layout.LAWS].sum(axis=-1),
                probability=scores[..., layout.LAWS + 1],
            ),
        )

    def sample(self, state: LightState, x: Array) -> tuple[Array, Array]:
        """Return scenarios (s, m) of xi under a context x (k), and their weights (s)."""
        from bocopt.models.kernels.light import layout, sampling

        x, given = self._parts("LightMixture.sample", x, state.seeds.shape)
        memory, like = self._memory(state, x), np.empty(layout.SCENARIOS)
        with np.errstate(invalid="ignore"):
            scenarios, w = sampling.sample(memory, x[..., None, :], given[..., None, :], like)
        if self.dim_xi == 1:
            return np.swapaxes(scenarios, -1, -2), w[..., 0, :]
        return self._joint(scenarios, w), np.full(self.scenarios, 1.0 / self.scenarios)

    def _first(self, seeds: IntArray) -> Array:
        """(m) where the first whole number stands in the unit above it."""

        def drawn() -> Array:
            """Return the numbers of all seeds, which takes longer than a step if there are many."""
            return first_places(seeds, self.dim_xi).reshape(-1, self.dim_xi)

        found: Array = _FIRST.answer(self.dim_xi, (seeds.reshape(-1),), drawn)
        return found.reshape(*seeds.shape, self.dim_xi)

    def _joint(self, scenarios: Array, w: Array) -> Array:
        """(m, S), (m, S) -> (s, m): components that do not depend on each other."""
        from scipy.special import ndtr

        levels = ndtr(base_points(self.scenarios, self.dim_xi)[0])
        upto = np.cumsum(w, axis=-1)[..., None, :]
        place = (upto < levels.T[..., None]).sum(axis=-1)
        found = np.take_along_axis(scenarios, np.minimum(place, w.shape[-1] - 1), axis=-1)
        return np.swapaxes(found, -1, -2)

    def _parts(self, owner: str, x: Array, lead: tuple[int, ...]) -> tuple[Array, Array]:
        """(k) -> the context that regressions see, and quantiles (L) of the law that is given.

        The middle of these is the last number of the former. Without any, there is one NaN.
        """
        x = arguments.finite_and_squarable(owner, "x", x, ..., gaps=True)
        x = np.broadcast_to(x, (*lead, x.shape[-1]))
        if not self.given:
            return x, np.array([np.nan])
        if x.shape[-1] < self.given:
            expected = f"at least {self.given} numbers, the last of them quantiles"
            raise arguments.wrong(owner, "x", expected, x)
        own, given = np.split(x, [x.shape[-1] - self.given], axis=-1)
        missing = np.isnan(given)
        if (missing.any(axis=-1) != missing.all(axis=-1)).any() or (np.diff(given) < 0).any():
            expected = f"in its last {self.given} numbers quantiles that do not fall, or NaN in all"
            raise arguments.wrong(owner, "x", expected, given)
        middle = given[..., [(self.given - 1) // 2, self.given // 2]].mean(axis=-1, keepdims=True)
        return np.concatenate([own, middle], axis=-1), given

    def _memory(self, state: LightState, x: Array) -> Array:
        """Return the memory (m, n) of the size that a context of this length asks for."""
        from bocopt.models.kernels.light import layout

        wanted = layout.size_of(x.shape[-1])
        if state.memory.shape[-1] == wanted:
            return state.memory
        if state.memory.shape[-1]:
            raise arguments.wrong("LightMixture", "x", "of the same length as before", x)
        fresh = np.empty(wanted)
        layout.begin(fresh, x.shape[-1])
        return np.broadcast_to(fresh, (*state.memory.shape[:-1], wanted))


def first_places(seeds: IntArray, dim_xi: int) -> Array:
    """(m) the places at stage 0 of whole numbers within the unit above them."""
    return noise.uniform(seeds, 0, "light.count", (dim_xi,))
