"""A belief over models: members weighted by how probable they made what came next."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar
from warnings import warn

import numpy as np
from numpy.typing import ArrayLike

from bocopt import arguments
from bocopt.core import Array, BoolArray, IntArray
from bocopt.models import calibration, counts, tails
from bocopt.models.constant import ConstantVariance
from bocopt.models.forest import Forest
from bocopt.models.guard import name_of
from bocopt.models.law import Law, base_points
from bocopt.models.log_variance import LogVariance
from bocopt.models.member import Member, least_discount
from bocopt.models.member_fits import MemberFits
from bocopt.models.mixture_state import MixtureInfo, MixtureState
from bocopt.models.random_coefficients import RandomCoefficients
from bocopt.models.reach import between, within_reach
from bocopt.models.scale import Logarithmic, Plain, Scale
from bocopt.models.smooth import Smooth
from bocopt.numeric.history import empty
from bocopt.numeric.recent import Recent
from bocopt.numeric.weights import log_total, normalised, uniform

_LARGEST_ERROR = 4.0  # in units of the scale: what one outcome can say about correlation


def default_members() -> tuple[Member, ...]:
    """Return the members of a mixture for which none are given."""
    return (
        RandomCoefficients(),
        LogVariance(),
        ConstantVariance(),
        Forest(),
        Smooth(),
    )


@dataclass(frozen=True, kw_only=True)
class Mixture:
    """Laws of xi given x: members in several views, mixed by prequential log score.

    - w is proportional to what a law gave the outcomes before they came, with a fixed share
      `switch_rate` of all weight handed out evenly after each outcome, so that a change is noticed.
    - `discounts`: each member comes once for each, fitted with weight discount^age: those below 1
      are there for drift. `scales`: and on each, as outcomes are or their logarithm. `tails`: and
      with at most so many degrees of freedom.
    - A law is a multivariate t around the member's regression, with the shrunk correlation of past
      errors. It has few degrees of freedom at first and more as outcomes come in.
    - Where outcomes did not lie evenly in what was predicted, `calibrate` corrects the margins.
      Whole numbers stay whole. Where no outcome was ever negative (or else positive), no scenario
      is; or all lie in the `support`: two ends, each a number or one a component.
    - No scenario is further beyond all outcomes so far than these are apart, but for a reach that
      shrinks as they come in (`models/reach.py`).
    - Fits look back on at most `memory` outcomes and are renewed with every outcome at first, later
      when two per cent are new: the amortised cost of a stage is bounded.
    - A member that fails (it raises, or predicts nonsense) is left out with a warning until it can
      be fitted again, from the start; the others carry on.

    Reference: Herbster, Warmuth (1998), Tracking the best expert; Dawid (1984), Statistical theory:
    the prequential approach.
    """

    lockstep: ClassVar[bool] = True
    dim_xi: int
    members: Sequence[Member] = field(default_factory=default_members)
    discounts: Sequence[float] = (1.0, 0.98)
    scales: Sequence[Scale] = (Plain(), Logarithmic())
    tails: Sequence[float] = tails.USUAL
    switch_rate: float = 0.01
    shrinkage: float = 15.0
    calibrate: bool = True
    memory: int = 2000
    scenarios: int = 1024
    support: tuple[ArrayLike, ArrayLike] | None = None

    def __post_init__(self) -> None:
        name = type(self).__name__
        arguments.integer(name, "dim_xi", self.dim_xi, "[1, inf)")
        members = tuple(arguments.each(name, "members", self.members, Member))
        object.__setattr__(self, "members", members)
        if not self.members:
            raise arguments.wrong(name, "members", "at least one", self.members)
        discounts = arguments.numbers(name, "discounts", self.discounts, "(0, 1]")
        object.__setattr__(self, "discounts", discounts)
        if not any(max(discounts) >= least_discount(member) for member in members):
            expected = "at least one that is enough for a member (see its least_discount)"
            raise arguments.wrong(name, "discounts", expected, discounts)
        scales = tuple(arguments.each(name, "scales", self.scales, Scale))
        object.__setattr__(self, "scales", scales)
        if not self.scales:
            raise arguments.wrong(name, "scales", "at least one", self.scales)
        object.__setattr__(self, "tails", arguments.numbers(name, "tails", self.tails, "[1, inf)"))
        if self.support is not None:
            ends = arguments.box(name, "support", self.support, self.dim_xi)
            object.__setattr__(self, "support", ends)
        arguments.number(name, "switch_rate", self.switch_rate, "[0, 1)")
        arguments.number(name, "shrinkage", self.shrinkage, "(0, inf)")
        arguments.integer(name, "memory", self.memory, "[2, inf)")
        arguments.integer(name, "scenarios", self.scenarios, "[2, inf)")
        if self.scenarios & (self.scenarios - 1):
            raise arguments.wrong(name, "scenarios", "a power of two", self.scenarios)

    @cached_property
    def _member_fits(self) -> MemberFits:
        return MemberFits(self.members, self.discounts, self.scales)

    @cached_property
    def _fit(self) -> IntArray:
        """(M): the fit that each law is made of; every fit has a law for each of the tails."""
        return np.repeat(np.arange(len(self._member_fits.seats)), len(self.tails))

    @cached_property
    def _tails(self) -> Array:
        """Return the most degrees of freedom (M) of each law."""
        return np.tile(self.tails, len(self._member_fits.seats))

    @cached_property
    def _recent(self) -> Recent:
        """Laws that were asked for to decide are asked for again to learn."""
        return Recent(2)

    @property
    def law_names(self) -> list[str]:
        """The names of the laws, in the order of the weights.

        >>> Mixture(dim_xi=1, members=[LogVariance()], discounts=[0.98]).law_names[1:3]
        ['LogVariance, discount 0.98, df 4', 'LogVariance, logarithmic, discount 0.98']
        """
        fits = self._member_fits.names
        pairs = zip(self._fit, self._tails, strict=True)
        return [fits[f] + ("" if tail >= tails.LIGHT else f", df {tail:g}") for f, tail in pairs]

    def init(self, seeds: IntArray) -> MixtureState:
        """Return the state before any outcome: even weights, with the leading axes of the seeds."""
        seeds = arguments.seeds_of("Mixture.init", seeds)
        lead, many = seeds.shape, len(self._fit)
        nan = np.full((*lead, many), np.nan)
        return MixtureState(
            seeds=seeds,
            x=empty(lead, 0),
            xi=empty(lead, self.dim_xi),
            lowest=np.full((*lead, self.dim_xi), np.inf),
            highest=np.full((*lead, self.dim_xi), -np.inf),
            whole=np.ones((*lead, self.dim_xi), bool),
            fits=self._member_fits.init(lead, 0, self.dim_xi),
            widths=tails.initial(lead, many, self.dim_xi),
            scatter=np.zeros((*lead, many, self.dim_xi, self.dim_xi)),
            log_w=uniform(lead, many),
            levels=calibration.initial(lead, self.dim_xi),
            info=MixtureInfo(
                weights=np.exp(uniform(lead, many)),
                log_score=nan,
                mixture_score=nan[..., 0],
                probability=np.full((*lead, self.dim_xi), np.nan),
                failed=np.zeros((*lead, many)),
            ),
        )

    def seen(self, state: MixtureState) -> IntArray:
        """Return the number of outcomes () so far."""
        return np.asarray(state.xi.size + state.xi.dropped)

    def step(self, state: MixtureState, t: int, x: Array, xi: Array) -> MixtureState:
        """Return the state after outcome (m) at context (k): laws are scored, then fits renewed."""
        lead = state.seeds.shape
        x = self.checked_context("Mixture.step", state, x)
        xi = arguments.finite_and_squarable("Mixture.step", "xi", xi, self.dim_xi)
        x, xi = (np.broadcast_to(a, (*lead, a.shape[-1])) for a in (x, xi))
        lowest, highest = np.minimum(state.lowest, xi), np.maximum(state.highest, xi)
        whole = counts.still_whole(state.whole, xi)
        xi = counts.jitter(whole, xi, state.seeds, t)
        if state.xi.size:
            state = self._scored(state, x, xi, lowest)
        else:  # the first context says how many numbers there are
            fits = self._member_fits.init(lead, x.shape[-1], self.dim_xi)
            state = state._replace(x=empty(lead, x.shape[-1]), fits=fits)
        past = state.x.append(x).at_most(self.memory)
        outcomes = counts.restored(state.xi, state.whole & ~whole).append(xi).at_most(self.memory)
        return state._replace(
            x=past,
            xi=outcomes,
            whole=whole,
            lowest=lowest,
            highest=highest,
            fits=self._member_fits.refitted(state.fits, past, outcomes, lowest),
        )

    def sample(self, state: MixtureState, x: Array) -> tuple[Array, Array]:
        """(k) -> (s, m), (s): equally likely scenarios of xi, shared out by weight."""
        laws, failed = self._laws(state, self.checked_context("Mixture.sample", state, x))
        edges = np.cumsum(np.exp(_log_shares(state.log_w, failed)), axis=-1)
        middle = (np.arange(self.scenarios) + 0.5) / self.scenarios
        whose = (middle[:, None] > edges[..., None, :-1]).sum(axis=-1)
        seen = laws.draw(whose, *base_points(self.scenarios, self.dim_xi))
        scenarios = self._member_fits.inverse(state.fits, self._fit[whose], seen)
        reach = within_reach(state.lowest, state.highest + state.whole, self.seen(state))
        scenarios = between(scenarios, reach)
        if self.calibrate:
            scenarios = state.levels.correct(scenarios)
        ends = self.ends(state.lowest, state.highest)
        scenarios = between(counts.cut(state.whole, scenarios), ends)
        return scenarios, np.full(self.scenarios, 1.0 / self.scenarios)

    def ends(self, lowest: Array, highest: Array) -> tuple[Array, Array]:
        """(m), (m): between which scenarios lie; if nothing is said, on the side of the past."""
        if self.support is not None:
            low, high = (np.asarray(end, np.float64) for end in self.support)
            return low, high
        negative = (highest <= 0) & (lowest < 0)
        return np.where(lowest >= 0, 0.0, -np.inf), np.where(negative, 0.0, np.inf)

    def checked_context(self, owner: str, state: MixtureState, x: Array) -> Array:
        """(k), as many numbers as before."""
        width = state.x.buffer.shape[-1] if state.xi.size else ...
        return arguments.finite_and_squarable(owner, "x", x, width)

    def _laws(self, state: MixtureState, x: Array) -> tuple[Law, BoolArray]:
        """The laws (M), and which of them cannot be used (M)."""
        return self._recent.answer(state, (x,), lambda: self._predicted(state, x))

    def _predicted(self, state: MixtureState, x: Array) -> tuple[Law, BoolArray]:
        found, of = self._member_fits.predict(state.fits, x), self._fit
        law = Law(
            location=found.location[..., of, :],
            scale=found.scale[..., of, :] * np.sqrt(state.widths.square(self._tails)),
            factor=self._factor(state.scatter),
            df=np.minimum(found.df[..., of], self._tails),
        )
        return law, (found.failed | ~self._member_fits.suits(state.lowest))[..., of]

    def _factor(self, scatter: Array) -> Array:
        """(m, m) of the errors' correlation, shrunk towards none."""
        shrunk = scatter + self.shrinkage * np.eye(self.dim_xi)
        sd = np.sqrt(np.diagonal(shrunk, axis1=-2, axis2=-1))
        correlation = shrunk / sd[..., :, None] / sd[..., None, :]
        return np.linalg.cholesky(correlation).astype(np.float64, copy=False)

    def _scored(self, state: MixtureState, x: Array, xi: Array, lowest: Array) -> MixtureState:
        """Return the state with the weights, widths and correlations that the outcome leaves.

        Weights are shared out among the laws that the past suits, before the outcome is looked at:
        one that cannot give it has density 0, and nothing of it lies below.
        """
        laws, failed = self._laws(state, x)
        log_w = _log_shares(state.log_w, failed)
        seen, slope = self._member_fits.seen(state.fits, xi)
        seen = seen[..., self._fit, :]
        score = laws.log_density(seen) + slope[..., self._fit]
        unsuited = ~self._member_fits.suits(lowest)[..., self._fit]
        failed = failed | ~np.isfinite(score) | unsuited
        score = np.where(failed, -np.inf, score)
        self._warn(failed & ~unsuited)
        errors = np.where(failed[..., None], 0.0, laws.errors(seen))
        usual = np.where(failed[..., None], 1.0, errors)  # 1 leaves a width as it is
        after = np.exp(_log_shares(log_w + score, failed))
        after = (1 - self.switch_rate) * after + self.switch_rate / len(self._fit)
        possible = np.swapaxes(self._member_fits.suits(xi[..., None]), -1, -2)[..., self._fit, :]
        below = np.where(possible, laws.probability(seen), 0.0)
        probability = (np.exp(log_w)[..., None] * below).sum(axis=-2)
        levels = state.levels.update(probability)
        if self.calibrate:
            probability = state.levels.level(probability)
        return state._replace(
            levels=levels,
            log_w=np.log(np.maximum(after, 1e-300)),
            widths=state.widths.update(self._tails, laws.df, usual),
            scatter=self._scatter(state, errors),
            info=MixtureInfo(
                weights=after,
                log_score=score,
                mixture_score=log_total(log_w + score),
                probability=probability,
                failed=failed.astype(np.float64),
            ),
        )

    def _scatter(self, state: MixtureState, errors: Array) -> Array:
        """(M, m) -> (M, m, m): sums of products, with errors cut."""
        cut = np.clip(errors, -_LARGEST_ERROR, _LARGEST_ERROR)
        keep = self._member_fits.discount[self._fit][:, None, None]
        scatter: Array = keep * state.scatter + cut[..., :, None] * cut[..., None, :]
        return scatter

    def _warn(self, failed: BoolArray) -> None:
        several = failed.any(axis=tuple(range(failed.ndim - 1)))
        for f in np.unique(self._fit[several]):
            name = name_of(self._member_fits.seats[f][1])
            why = "it predicts nonsense, or could not be fitted"
            warn(f"{name} is left out: {why}. The others carry on.", stacklevel=2)


def _log_shares(log_w: Array, failed: BoolArray) -> Array:
    """(M): the weights of those that work, with sum 1."""
    kept = np.where(failed, -np.inf, log_w)
    if not np.isfinite(kept).any(axis=-1).all():
        raise RuntimeError("No member of the mixture can predict.")
    return normalised(kept)
