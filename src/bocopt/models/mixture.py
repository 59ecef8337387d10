"""A belief over models: members weighted by how probable they made what came next."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from warnings import warn

import numpy as np

from bocopt import arguments
from bocopt.core import Array, BoolArray, IntArray
from bocopt.models import calibration
from bocopt.models.constant import ConstantVariance
from bocopt.models.design import design, nothing
from bocopt.models.guard import name_of, refit, tell
from bocopt.models.kernel import KernelVariance
from bocopt.models.law import Law, base_points
from bocopt.models.log_variance import LogVariance
from bocopt.models.member import Member, least_discount
from bocopt.models.random_coefficients import RandomCoefficients
from bocopt.models.scale import Bend, Plain, Scale
from bocopt.models.views import MixtureInfo, MixtureState, View
from bocopt.numeric.history import empty
from bocopt.numeric.recent import Recent
from bocopt.numeric.weights import log_total, normalised, uniform

_NEGLIGIBLE = 1e-3  # weight below which a discounted outcome is no longer looked at
_EVERY = 50  # a fit is renewed when a fiftieth of its outcomes is new
_EVERY_DISCOUNTED = 10  # or a tenth of those that still count
_LARGEST_ERROR = 4.0  # in units of the scale: what one outcome can say about correlation


def default_members() -> tuple[Member, ...]:
    return (
        RandomCoefficients(),
        RandomCoefficients(df=4.0),
        LogVariance(),
        KernelVariance(),
        ConstantVariance(),
    )


@dataclass(frozen=True, kw_only=True)
class Mixture:
    """Laws of xi given x, one per member and discount, mixed by prequential log score.

    - w_m is proportional to what member m gave the outcomes before they came, with a fixed `share`
      of all weight handed out evenly after each outcome, so that a change is noticed.
    - `discounts`: each member comes once for each, fitted with weight discount^age: those below 1
      are there for drift. All of one discount share one regression.
    - A law is a multivariate t around the member's regression, with the shrunk correlation of past
      errors. It has few degrees of freedom at first and more as outcomes come in. Where no outcome
      was ever negative (or else positive), no scenario is.
    - Fits look back on at most `memory` outcomes and are renewed with every outcome at first, later
      when two per cent are new: the amortised cost of a stage is bounded.
    - A member that fails (it raises, or predicts nonsense) is left out with a warning until it can
      be fitted again, from the start; the others carry on.

    Reference: Herbster, Warmuth (1998), Tracking the best expert; Dawid (1984), Statistical theory:
    the prequential approach.
    """

    dim_xi: int
    members: Sequence[Member] = field(default_factory=default_members)
    discounts: Sequence[float] = (1.0, 0.98)
    scales: Sequence[Scale] = (Plain(),)
    share: float = 0.01
    shrinkage: float = 15.0
    calibrate: bool = False
    memory: int = 2000
    scenarios: int = 1024

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
        arguments.number(name, "share", self.share, "[0, 1)")
        arguments.number(name, "shrinkage", self.shrinkage, "(0, inf)")
        arguments.integer(name, "memory", self.memory, "[2, inf)")
        arguments.integer(name, "scenarios", self.scenarios, "[2, inf)")
        if self.scenarios & (self.scenarios - 1):
            raise arguments.wrong(name, "scenarios", "a power of two", self.scenarios)

    @cached_property
    def _views(self) -> list[View]:
        return [View(scale, discount) for scale in self.scales for discount in self.discounts]

    @cached_property
    def _all(self) -> list[tuple[int, Member]]:
        """Every member with the number of its view."""
        return [
            (v, member)
            for v, view in enumerate(self._views)
            for member in self.members
            if view.discount >= least_discount(member)
        ]

    @property
    def names(self) -> list[str]:
        """Of the members, in the order of the weights.

        >>> Mixture(dim_xi=1, members=[RandomCoefficients(df=4.0)]).names
        ['RandomCoefficients(df=4.0)', 'RandomCoefficients(df=4.0), discount 0.98']
        """
        return [name_of(member) + self._views[v].name for v, member in self._all]

    def init(self, seeds: IntArray) -> MixtureState:
        seeds = arguments.seeds_of("Mixture.init", seeds)
        lead, many = seeds.shape, len(self._all)
        nan = np.full((*lead, many), np.nan)
        return MixtureState(
            seeds=seeds,
            x=empty(lead, 0),
            xi=empty(lead, self.dim_xi),
            lowest=np.full((*lead, self.dim_xi), np.inf),
            highest=np.full((*lead, self.dim_xi), -np.inf),
            bends=tuple(view.scale.start(lead, 0, self.dim_xi) for view in self._views),
            grounds=tuple(nothing(lead, 0, self.dim_xi) for _ in self._views),
            fits=tuple(member.start(lead, 0, self.dim_xi) for _, member in self._all),
            broken=np.zeros((*lead, many), bool),
            fitted=np.zeros(len(self._views), np.int64),
            scatter=np.zeros((*lead, many, self.dim_xi, self.dim_xi)),
            log_w=uniform(lead, many),
            levels=calibration.nothing(lead, self.dim_xi),
            info=MixtureInfo(
                weights=np.exp(uniform(lead, many)),
                log_score=nan,
                mixture_score=nan[..., 0],
                probability=np.full((*lead, self.dim_xi), np.nan),
                failed=np.zeros((*lead, many)),
            ),
        )

    def seen(self, state: MixtureState) -> int:
        """How many outcomes there were."""
        return int(state.xi.size + state.xi.dropped)

    def step(self, state: MixtureState, t: int, x: Array, xi: Array) -> MixtureState:
        lead = state.seeds.shape
        x = self.checked_context("Mixture.step", state, x)
        xi = arguments.moderate("Mixture.step", "xi", xi, self.dim_xi)
        x, xi = (np.broadcast_to(a, (*lead, a.shape[-1])) for a in (x, xi))
        if not self.seen(state):
            state = self._begun(state, x.shape[-1])
        else:
            state = self._scored(state, x, xi)
        return self._refitted(
            state._replace(
                x=state.x.append(x).at_most(self.memory),
                xi=state.xi.append(xi).at_most(self.memory),
                lowest=np.minimum(state.lowest, xi),
                highest=np.maximum(state.highest, xi),
            )
        )

    def sample(self, state: MixtureState, x: Array) -> tuple[Array, Array]:
        """(k) -> (s, m), (s): equally likely scenarios of xi, shared out by weight."""
        laws, failed = self._laws(state, self.checked_context("Mixture.sample", state, x))
        edges = np.cumsum(_without(np.exp(state.log_w), failed), axis=-1)
        middle = (np.arange(self.scenarios) + 0.5) / self.scenarios
        whose = (middle[:, None] > edges[..., None, :-1]).sum(axis=-1)
        scenarios = laws.draw(whose, *base_points(self.scenarios, self.dim_xi))
        view = np.array([v for v, _ in self._all])[whose][..., None]
        for v in np.unique(view):
            bend = _by_row(state.bends[v])
            scenarios = np.where(view == v, self._views[v].scale.back(bend, scenarios), scenarios)
        if self.calibrate:
            scenarios = state.levels.correct(scenarios)
        low = np.where(state.lowest >= 0, 0.0, -np.inf)[..., None, :]
        negative = (state.highest <= 0) & (state.lowest < 0)
        high = np.where(negative, 0.0, np.inf)[..., None, :]
        return np.clip(scenarios, low, high), np.full(self.scenarios, 1.0 / self.scenarios)

    def checked_context(self, owner: str, state: MixtureState, x: Array) -> Array:
        """(k), as many numbers as before."""
        seen = self.seen(state)
        return arguments.moderate(owner, "x", x, state.x.buffer.shape[-1] if seen else ...)

    def _begun(self, state: MixtureState, dim_x: int) -> MixtureState:
        """With the shapes of the first context."""
        lead = state.seeds.shape
        return state._replace(
            x=empty(lead, dim_x),
            bends=tuple(view.scale.start(lead, dim_x, self.dim_xi) for view in self._views),
            grounds=tuple(nothing(lead, dim_x, self.dim_xi) for _ in self._views),
            fits=tuple(member.start(lead, dim_x, self.dim_xi) for _, member in self._all),
        )

    @cached_property
    def _recent(self) -> Recent:
        """Laws that were asked for to decide are asked for again to learn."""
        return Recent(2)

    def _laws(self, state: MixtureState, x: Array) -> tuple[Law, BoolArray]:
        """What each member predicts (M), and which of them cannot (M)."""
        return self._recent.answer(state, (x,), lambda: self._predicted(state, x))

    def _predicted(self, state: MixtureState, x: Array) -> tuple[Law, BoolArray]:
        shape, many = state.lowest.shape, len(self._all)
        standard = [
            ground.standard(view.scale.context(bend, x))
            for view, bend, ground in zip(self._views, state.bends, state.grounds, strict=True)
        ]
        location, scale = (np.empty((*shape[:-1], many, shape[-1])) for _ in range(2))
        df = np.empty((*shape[:-1], many))
        for m, (v, member) in enumerate(self._all):
            ground = state.grounds[v]
            try:
                where, how_far, most = member.predict(state.fits[m], ground, standard[v])
                location[..., m, :], scale[..., m, :] = where, how_far
                df[..., m] = max(1.0, np.floor(min(3.0 + float(ground.size) / 5.0, most)))
            except Exception as error:  # whatever a member does, the others carry on
                tell(f"{name_of(member)} is left out", error)
                location[..., m, :], scale[..., m, :], df[..., m] = np.nan, 1.0, 1.0
        fine = np.isfinite(location) & np.isfinite(scale) & (scale > 0)
        failed = ~fine.all(axis=-1) | state.broken
        law = Law(
            location=np.where(failed[..., None], 0.0, location),
            scale=np.where(failed[..., None], 1.0, scale),
            factor=self._factor(state.scatter),
            df=df,
        )
        return law, failed | self._unsuited(state.lowest)

    def _unsuited(self, lowest: Array) -> BoolArray:
        """(m) -> (M): members whose scale is not meant for such outcomes."""
        suits = [view.scale.suits(lowest) for view in self._views]
        return ~np.stack([suits[v] for v, _ in self._all], axis=-1)

    def _factor(self, scatter: Array) -> Array:
        """(m, m) of the errors' correlation, shrunk towards none."""
        shrunk = scatter + self.shrinkage * np.eye(self.dim_xi)
        sd = np.sqrt(np.diagonal(shrunk, axis1=-2, axis2=-1))
        correlation = shrunk / sd[..., :, None] / sd[..., None, :]
        return np.linalg.cholesky(correlation).astype(np.float64, copy=False)

    def _scored(self, state: MixtureState, x: Array, xi: Array) -> MixtureState:
        """With the weights and correlations that the outcome leaves."""
        laws, failed = self._laws(state, x)
        seen, slope = self._seen(state, xi)
        score = laws.log_density(seen) + slope
        unsuited = self._unsuited(np.minimum(state.lowest, xi))
        failed = failed | ~np.isfinite(score) | unsuited
        score = np.where(failed, -np.inf, score)
        self._warn(failed & ~unsuited)
        errors = np.where(failed[..., None], 0.0, laws.errors(seen))
        errors = np.clip(errors, -_LARGEST_ERROR, _LARGEST_ERROR)
        keep = np.array([self._views[v].discount for v, _ in self._all])[:, None, None]
        w = _without(np.exp(state.log_w), failed)
        with np.errstate(divide="ignore"):
            joint = np.log(w) + score
        after = np.exp(normalised(joint))
        after = (1 - self.share) * after + self.share / len(self._all)
        probability = (w[..., None] * laws.probability(seen)).sum(axis=-2)
        levels = state.levels.after(probability)
        if self.calibrate:
            probability = state.levels.level(probability)
        return state._replace(
            levels=levels,
            log_w=np.log(np.maximum(after, 1e-300)),
            scatter=keep * state.scatter + errors[..., :, None] * errors[..., None, :],
            info=MixtureInfo(
                weights=after,
                log_score=score,
                mixture_score=log_total(joint),
                probability=probability,
                failed=failed.astype(np.float64),
            ),
        )

    def _seen(self, state: MixtureState, xi: Array) -> tuple[Array, Array]:
        """(m) -> (M, m), (M): an outcome on the scales of the members, and the volume there."""
        pairs = list(zip(self._views, state.bends, strict=True))
        outcomes = [view.scale.outcome(bend, xi) for view, bend in pairs]
        slopes = [view.scale.log_slope(bend, xi) for view, bend in pairs]
        return (
            np.stack([outcomes[v] for v, _ in self._all], axis=-2),
            np.stack([slopes[v] for v, _ in self._all], axis=-1),
        )

    def _warn(self, failed: BoolArray) -> None:
        for m in np.flatnonzero(failed.any(axis=tuple(range(failed.ndim - 1)))):
            name = name_of(self._all[m][1])
            why = "it predicts nonsense, or could not be fitted"
            warn(f"{name} is left out: {why}. The others carry on.", stacklevel=2)

    def _refitted(self, state: MixtureState) -> MixtureState:
        """Where enough is new since the last fit."""
        seen, fits = self.seen(state), list(state.fits)
        bends, grounds = list(state.bends), list(state.grounds)
        fitted, broken = state.fitted.copy(), state.broken.copy()
        for v, (scale, discount) in enumerate(self._views):
            rows = int(state.xi.size)
            if discount < 1:
                rows = min(rows, int(np.ceil(np.log(_NEGLIGIBLE) / np.log(discount))))
            effective = (1 - discount**rows) / (1 - discount) if discount < 1 else rows
            every = _EVERY if discount == 1 else _EVERY_DISCOUNTED
            if seen > _EVERY and (seen - fitted[v]) * every < effective:
                continue
            x, xi = state.x.rows[..., -rows:, :], state.xi.rows[..., -rows:, :]
            bends[v] = scale.fit(x, xi)
            bend = _by_row(bends[v])
            seen_x, seen_xi = scale.context(bend, x), scale.outcome(bend, xi)
            past = design(seen_x, seen_xi, discount, by_evidence=True)
            grounds[v], fitted[v] = past.ground, seen
            for m, (own, member) in enumerate(self._all):
                if own == v:
                    fits[m], broken[..., m] = refit(member, fits[m], past)
        return state._replace(
            bends=tuple(bends),
            grounds=tuple(grounds),
            fits=tuple(fits),
            fitted=fitted,
            broken=broken,
        )


def _by_row(bend: Bend) -> Bend:
    """For rows of numbers instead of one."""
    return tuple(part[..., None, :] for part in bend)


def _without(w: Array, failed: BoolArray) -> Array:
    """(M): the weights of those that work, with sum 1."""
    kept = np.where(failed, 0.0, w)
    total = kept.sum(axis=-1, keepdims=True)
    if not (total > 0).all():
        raise RuntimeError("No member of the mixture can predict.")
    shares: Array = kept / total
    return shares
