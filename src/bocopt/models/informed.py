"""A stream that starts where others are: laws of the fleet beside a mixture of its own."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.abilities import TakesMissing
from bocopt.core import Array, BoolArray, IntArray
from bocopt.models import counts
from bocopt.models.fleet_laws import FleetLaws, FleetPosteriors
from bocopt.models.law import base_points
from bocopt.models.mixture import Mixture
from bocopt.models.mixture_state import MixtureInfo, MixtureState
from bocopt.models.reach import between, within_reach
from bocopt.models.shared_prior import SharedPrior
from bocopt.numeric.weights import normalised


class InformedInfo(NamedTuple):
    """Weights and scores, at the last outcome, of the stream's own mixture and the laws of the
    fleet together.

    Its first parts are called as those of a mixture alone.
    """

    weights: Array  # (1 + L) after the outcome: first the mixture's
    log_score: Array  # (1 + L) log density of the outcome, as predicted
    mixture_score: Array  # () of all together
    probability: Array  # (m) of a smaller outcome, under all together
    of_own: MixtureInfo


class InformedState(NamedTuple):
    """State of the stream's own mixture, its posteriors as one of the fleet, and log weights."""

    seeds: IntArray  # ()
    own: MixtureState
    known: FleetPosteriors
    log_w: Array  # (1 + L)
    info: InformedInfo


@dataclass(frozen=True)
class Informed:
    """A `Mixture` of the stream's own, beside laws that start where a fleet of streams is.

    - A law of the fleet (`models/hierarchical.py`) is a regression whose coefficients and noise are
      drawn as those of the old streams were, and narrowed by each outcome: on the scale of outcomes
      and, where they were never negative, of their logarithm; each with light and heavy tails.
    - `at_once`: it also decides before the first outcome, when nothing can tell whether the stream
      is like the fleet. Without it, the first decision is that of a stream on its own.
    - Weights follow what outcomes were given before they came, as in `Mixture`. The mixture starts
      with `own_weight`, and after each outcome a share `switch_rate` of all weight is handed out as
      at the start. So from any outcome to any later one the log score is at most log(1 /
      (switch_rate own_weight)) worse than the mixture's, and about `switch_rate` an outcome: a
      stream unlike the fleet is soon on its own.
    - The mixture says nothing of the first outcome: a law that is as far spread as all streams of
      the fleet together, with the heaviest tails (Cauchy), stands in for it.

    >>> prior = SharedPrior.of([(np.zeros((9, 0)), np.full((9, 1), y)) for y in (4.0, 5.0, 6.0)])
    >>> model = Informed(prior)
    >>> scenarios, w = model.sample(model.init(np.array(0)), np.empty(0))
    >>> float(np.median(scenarios))
    5.0
    """

    withholds: ClassVar[Mapping[type, str]] = {TakesMissing: "the fleet's laws read the context"}
    prior: SharedPrior
    own: Mixture | None = None
    own_weight: float = 0.5
    switch_rate: float = 0.01
    at_once: bool = False

    def __post_init__(self) -> None:
        arguments.kind("Informed", "prior", self.prior, SharedPrior)
        own = Mixture(dim_xi=self.prior.dim_xi) if self.own is None else self.own
        arguments.kind("Informed", "own", own, Mixture)
        if own.dim_xi != self.prior.dim_xi:
            expected = f"one of {self.prior.dim_xi} components, as the prior has"
            raise arguments.wrong("Informed", "own", expected, own.dim_xi)
        object.__setattr__(self, "own", own)
        arguments.number("Informed", "own_weight", self.own_weight, "(0, 1)")
        arguments.number("Informed", "switch_rate", self.switch_rate, "[0, 1)")

    @property
    def dim_xi(self) -> int:
        """Number of components m of an outcome."""
        return self.prior.dim_xi

    @property
    def parts(self) -> tuple[Mixture]:
        """The stream's own mixture."""
        return (self._mixture,)

    @property
    def knows_at_once(self) -> bool:
        """True if it predicts before any outcome."""
        return self.at_once

    @property
    def law_names(self) -> list[str]:
        """The names of what is weighed, in the order of the weights."""
        return ["own", *self._folk.names]

    @cached_property
    def _mixture(self) -> Mixture:
        assert self.own is not None  # made when none was given
        return self.own

    @cached_property
    def _folk(self) -> FleetLaws:
        return FleetLaws(self.prior.fleet)

    @cached_property
    def _start(self) -> Array:
        """(1 + L) weights before any outcome."""
        return np.array([self.own_weight, *(1.0 - self.own_weight) * self.prior.weights])

    def init(self, seeds: IntArray) -> InformedState:
        """Return the state before any outcome, with the leading axes of the seeds."""
        seeds = arguments.seeds_of("Informed.init", seeds)
        lead, own = seeds.shape, self._mixture.init(seeds)
        weights = np.broadcast_to(self._start, (*lead, len(self._start)))
        return InformedState(
            seeds=seeds,
            own=own,
            known=self._folk.init(lead),
            log_w=np.log(weights),
            info=InformedInfo(
                weights=weights,
                log_score=np.full(weights.shape, np.nan),
                mixture_score=np.full(lead, np.nan),
                probability=np.full((*lead, self.dim_xi), np.nan),
                of_own=own.info,
            ),
        )

    def step(self, state: InformedState, t: int, x: Array, xi: Array) -> InformedState:
        """Return the state after outcome (m) at context (k), with the laws weighed by score."""
        x = self._checked("step", state, x)
        xi = arguments.finite_and_squarable("Informed.step", "xi", xi, self.dim_xi)
        xi = np.broadcast_to(xi, (*state.seeds.shape, self.dim_xi))
        whole = counts.still_whole(self.prior.reach.whole & state.own.whole, xi)
        spread = counts.jitter(whole, xi, state.seeds, t)
        laws = self._folk.laws(state.known, x)
        y, slope = self._folk.seen(spread)
        own = self._mixture.step(state.own, t, x, xi)
        own_score, own_probability = self._of_own(state, own, spread)
        score = np.concatenate([own_score[..., None], laws.log_density(y) + slope], axis=-1)
        score = np.where(np.isfinite(score) & self._suited(own), score, -np.inf)
        possible = np.swapaxes(self._folk.suits(spread[..., None]), -1, -2)
        fleet_probability = np.where(possible, laws.probability(y), 0.0)
        below = np.concatenate([own_probability[..., None, :], fleet_probability], axis=-2)
        log_w = normalised(np.where(self._suited(state.own), state.log_w, -np.inf))
        weights = np.exp(self._weighed(log_w, score))
        return InformedState(
            seeds=state.seeds,
            own=own,
            known=self._folk.update(state.known, laws, x, spread),
            log_w=np.log(weights),
            info=InformedInfo(
                weights=weights,
                log_score=score,
                mixture_score=np.logaddexp.reduce(log_w + score, axis=-1),
                probability=(np.exp(log_w)[..., None] * below).sum(axis=-2),
                of_own=own.info,
            ),
        )

    def sample(self, state: InformedState, x: Array) -> tuple[Array, Array]:
        """(k) -> (s, m), (s): equally likely scenarios of xi, shared out by weight."""
        x, many = self._checked("sample", state, x), self._mixture.scenarios
        weights = np.exp(state.log_w) * self._suited(state.own)
        weights[..., 0] *= bool(state.own.xi.size)
        edges = np.cumsum(weights / weights.sum(axis=-1, keepdims=True), axis=-1)
        place = np.arange(many)
        whose = ((place[:, None] + 0.5) / many > edges[..., None, :-1]).sum(axis=-1)
        found = self._of_fleet(state, x, np.maximum(whose - 1, 0))
        if state.own.xi.size:
            own, _ = self._mixture.sample(state.own, x)
            mine = whose == 0
            shares = np.maximum(mine.sum(axis=-1, keepdims=True), 1)
            taken = np.minimum(((place + 0.5) * many / shares).astype(np.int64), many - 1)
            own = np.take_along_axis(own, taken[..., None], axis=-2)
            found = np.where(mine[..., None], own, found)
        return found, np.full(many, 1.0 / many)

    def _of_fleet(self, state: InformedState, x: Array, whose: IntArray) -> Array:
        """(k), (s) -> (s, m): scenarios of these laws."""
        laws = self._folk.laws(state.known, x)
        drawn = laws.draw(whose, *base_points(whose.shape[-1], self.dim_xi))
        found = self._folk.inverse(whose, drawn)
        whole = self.prior.reach.whole & state.own.whole
        lowest = np.minimum(state.own.lowest, self.prior.reach.lowest)
        highest = np.maximum(state.own.highest, self.prior.reach.highest)
        outcomes = self.prior.outcomes + self._mixture.seen(state.own)
        found = between(found, within_reach(lowest, highest + whole, outcomes))
        return between(counts.cut(whole, found), self._mixture.ends(lowest, highest))

    def _of_own(self, state: InformedState, own: MixtureState, xi: Array) -> tuple[Array, Array]:
        """(), (m): the log density that the mixture gave, and the probability below."""
        if state.own.xi.size:
            return own.info.mixture_score, own.info.probability
        return self._folk.anywhere(xi)

    def _suited(self, own: MixtureState) -> BoolArray:
        """Return whether outcomes so far are of the kind that each model (1 + L) was made for."""
        suits = self._folk.suits(own.lowest)
        return np.concatenate([np.ones_like(suits[..., :1]), suits], axis=-1)

    def _weighed(self, log_w: Array, score: Array) -> Array:
        """(1 + L) after the outcome; where none could predict it, as at the start."""
        joint = log_w + score
        lost = ~np.isfinite(joint).any(axis=-1, keepdims=True)
        joint = np.where(lost, np.log(self._start), joint)
        shared = (1.0 - self.switch_rate) * np.exp(
            normalised(joint)
        ) + self.switch_rate * self._start
        return np.log(np.maximum(shared, 1e-300))

    def _checked(self, where: str, state: InformedState, x: Any) -> Array:
        x = arguments.finite_and_squarable(f"Informed.{where}", "x", x, self.prior.dim_x)
        return np.broadcast_to(x, (*state.seeds.shape, self.prior.dim_x))
