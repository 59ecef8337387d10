"""Members at work: each fitted to the past as a view shows it, and asked what comes next."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from bocopt.core import Array, BoolArray, IntArray
from bocopt.models.design import Design, RidgeFit, design, initial
from bocopt.models.guard import init, name_of, refit, warn_once
from bocopt.models.member import Fit, Member, least_discount, renewed_at
from bocopt.models.scale import Plain, Scale, ScaleParams
from bocopt.numeric.blas import one_thread
from bocopt.numeric.history import History
from bocopt.numeric.stacking import are_together, axes_of, some_of, with_some

_NEGLIGIBLE = 1e-3  # weight below which a discounted outcome is no longer looked at
_ALWAYS = 50  # outcomes up to which a fit is renewed with each of them
_FEW, _LONE, _FAR = 12, 50, 5.0  # from so many outcomes on: one in so many, so many ranges away
_NEW, _NEW_DISCOUNTED = 0.02, 0.1  # then when this share of those that count is new

_IN_GROUND: Any = (*[True] * 7, False)  # which parts of a design have leading axes
_IN_DESIGN: Any = (False, True, True, True, True, _IN_GROUND)


class PastView(NamedTuple):
    """View of the past: on a scale, and with a discount of old outcomes."""

    scale: Scale
    discount: float

    @property
    def name(self) -> str:
        """Suffix of a fit's name: its scale unless plain, and its discount unless 1."""
        scale = "" if isinstance(self.scale, Plain) else f", {type(self.scale).__name__.lower()}"
        return scale + ("" if self.discount == 1 else f", discount {self.discount:g}")


class Fits(NamedTuple):
    """Fits of scales, regressions and members to the past."""

    scale_params: tuple[ScaleParams, ...]  # (V) views
    regressions: tuple[RidgeFit, ...]  # (V)
    fits: tuple[Fit, ...]  # (F) members, each in all of its views
    broken: BoolArray  # (F) whose last fit failed
    fitted: IntArray  # (F) outcomes seen at the last fit
    designed: IntArray  # (V) and at the last design


class Predicted(NamedTuple):
    """Predictions of the next outcome by all fits, each on the scale of its view."""

    location: Array  # (F, m)
    scale: Array  # (F, m)
    df: Array  # (F) at most so many degrees of freedom
    failed: BoolArray  # (F)


@dataclass(frozen=True)
class MemberFits:
    """Every member in every view with enough outcomes for it; all of a view share one design."""

    members: Sequence[Member]
    discounts: Sequence[float]
    scales: Sequence[Scale]

    @cached_property
    def views(self) -> list[PastView]:
        """Views (V) of the past: each scale with each discount."""
        return [PastView(scale, discount) for scale in self.scales for discount in self.discounts]

    @cached_property
    def seats(self) -> list[tuple[int, Member]]:
        """The fits: the number of the view, and the member."""
        return [
            (v, member)
            for v, view in enumerate(self.views)
            for member in self.members
            if view.discount >= least_discount(member)
        ]

    @property
    def names(self) -> list[str]:
        """Names of the fits (F)."""
        return [name_of(member) + self.views[v].name for v, member in self.seats]

    @cached_property
    def discount(self) -> Array:
        """(F)."""
        return np.array([self.views[v].discount for v, _ in self.seats])

    def init(self, lead: tuple[int, ...], dim_x: int, dim_xi: int) -> Fits:
        """Return the fits before any outcome, with leading axes `lead`."""
        return Fits(
            scale_params=tuple(view.scale.init(lead, dim_x, dim_xi) for view in self.views),
            regressions=tuple(initial(lead, dim_x, dim_xi) for _ in self.views),
            fits=tuple(init(member, lead, dim_x, dim_xi) for _, member in self.seats),
            broken=np.zeros((*lead, len(self.seats)), bool),
            fitted=np.zeros((*lead, len(self.seats)), np.int64),
            designed=np.zeros((*lead, len(self.views)), np.int64),
        )

    def predict(self, state: Fits, x: Array) -> Predicted:
        """(k) -> the laws; a member that cannot is told of."""
        shape, many = state.regressions[0].mean.shape, len(self.seats)
        standard = [
            regression.standard(view.scale.context(params, x))
            for view, params, regression in zip(
                self.views, state.scale_params, state.regressions, strict=True
            )
        ]
        location, scale = (np.empty((*shape[:-1], many, shape[-1])) for _ in range(2))
        df = np.empty((*shape[:-1], many))
        for f, (v, member) in enumerate(self.seats):
            regression = state.regressions[v]
            try:
                where, how_far, most = member.predict(state.fits[f], regression, standard[v])
                location[..., f, :], scale[..., f, :] = where, how_far
                df[..., f] = max(1.0, np.floor(min(3.0 + float(regression.size) / 5.0, most)))
            except Exception as error:  # whatever a member does, the others carry on
                warn_once(f"{name_of(member)} is left out", error)
                location[..., f, :], scale[..., f, :], df[..., f] = np.nan, 1.0, 1.0
        fine = np.isfinite(location) & np.isfinite(scale) & (scale > 0)
        failed = ~fine.all(axis=-1) | state.broken
        return Predicted(
            location=np.where(failed[..., None], 0.0, location),
            scale=np.where(failed[..., None], 1.0, scale),
            df=df,
            failed=failed,
        )

    def seen(self, state: Fits, xi: Array) -> tuple[Array, Array]:
        """(m) -> (F, m), (F): an outcome on the scales of the fits, and the log volume there."""
        pairs = list(zip(self.views, state.scale_params, strict=True))
        outcomes = [view.scale.outcome(params, xi) for view, params in pairs]
        slopes = [view.scale.log_abs_det_jacobian(params, xi) for view, params in pairs]
        return (
            np.stack([outcomes[v] for v, _ in self.seats], axis=-2),
            np.stack([slopes[v] for v, _ in self.seats], axis=-1),
        )

    def inverse(self, state: Fits, whose: IntArray, seen: Array) -> Array:
        """(s), (s, m) -> (s, m): outcomes, from the scales of the fits that they belong to."""
        view, outcomes = np.array([v for v, _ in self.seats])[whose], seen.copy()
        for v in np.unique(view):
            mine = view == v
            each = (
                np.broadcast_to(b, (*mine.shape, b.shape[-1]))
                for b in _by_row(state.scale_params[v])
            )
            params = tuple(part[mine] for part in each)
            outcomes[mine] = self.views[v].scale.inverse(params, seen[mine])
        return outcomes

    def suits(self, lowest: Array) -> BoolArray:
        """(m) -> (F): whether the scale is meant for such outcomes."""
        suits = [view.scale.suits(lowest) for view in self.views]
        return np.stack([suits[v] for v, _ in self.seats], axis=-1)

    def refitted(self, state: Fits, x: History, xi: History, lowest: Array) -> Fits:
        """Return the fits, renewed where enough is new, on the scales that suit the outcomes."""
        with one_thread():
            return self._refitted(state, x, xi, lowest)

    def _refitted(self, state: Fits, x: History, xi: History, lowest: Array) -> Fits:
        seen = np.asarray(xi.size + xi.dropped)
        for v, (scale, discount) in enumerate(self.views):
            rows, effective = _looked_at(discount, int(xi.size))
            enough = (_NEW if discount == 1 else _NEW_DISCOUNTED) * effective
            waits = (seen > _ALWAYS) & (seen - state.designed[..., v] < enough)
            suits = scale.suits(lowest)
            if not are_together():  # fits of all trials then have one size
                suits = np.asarray(suits.any())
            due = np.asarray(~waits & suits)
            past = x.rows[..., -rows:, :], xi.rows[..., -rows:, :], seen
            if due.all():
                state = self._renewed(v, effective, state, *past)
            elif due.any():
                axes = self._axes(past[0].shape[-1], past[1].shape[-1])
                some = some_of(state, axes, due), *(part[due] for part in past)
                state = with_some(state, axes, due, self._renewed(v, effective, *some))
        return state

    def _renewed(
        self, v: int, effective: float, state: Fits, x: Array, xi: Array, seen: IntArray
    ) -> Fits:
        """Return the fits with those of one view renewed, of the members for whom enough is new."""
        (scale, discount), xi = self.views[v], _tamed(xi)
        params = scale.fit(x, xi)
        rows = _by_row(params)
        past = design(scale.context(rows, x), scale.outcome(rows, xi), discount, by_evidence=True)
        fits, broken, fitted = list(state.fits), state.broken.copy(), state.fitted.copy()
        for f, (own, member) in enumerate(self.seats):
            new = seen - fitted[..., f]
            due = np.asarray((seen <= _ALWAYS) | (new >= renewed_at(member) * effective))
            if own == v and due.any():
                fits[f], failed = _refit(member, fits[f], past, due)
                broken[due, f], fitted[due, f] = failed, seen[due]
        scale_params, regressions, designed = (
            list(state.scale_params),
            list(state.regressions),
            state.designed.copy(),
        )
        scale_params[v], regressions[v], designed[..., v] = params, past.regression, seen
        return Fits(tuple(scale_params), tuple(regressions), tuple(fits), broken, fitted, designed)

    def _axes(self, dim_x: int, dim_xi: int) -> Any:
        return axes_of(lambda seeds: self.init(seeds.shape, dim_x, dim_xi))


def _refit(member: Member, fit: Fit, past: Design, due: BoolArray) -> tuple[Fit, BoolArray]:
    """Renew the fit of the trials that are due; return it, and () of these whether it failed."""
    if due.all():
        after, failed = refit(member, fit, past)
        return after, failed[due]
    widths = past.x.shape[-1], past.xi.shape[-1]
    axes = axes_of(lambda seeds: init(member, seeds.shape, *widths))
    after, failed = refit(member, some_of(fit, axes, due), some_of(past, _IN_DESIGN, due))
    return with_some(fit, axes, due, after), failed


def _looked_at(discount: float, size: int) -> tuple[int, float]:
    """Return how many of the latest outcomes still count, and the sum of their weights."""
    if discount == 1:
        return size, float(size)
    rows = min(size, int(np.ceil(np.log(_NEGLIGIBLE) / np.log(discount))))
    return rows, (1 - discount**rows) / (1 - discount)


def _tamed(xi: Array) -> Array:
    """(n, m): few that lie far beyond all others are moved in, since they would bend all."""
    n = xi.shape[-2]
    lone = 1 + n // _LONE
    if n < _FEW:
        return xi
    parted = np.partition(xi, [lone, n - 1 - lone], axis=-2)
    low, high = parted[..., lone, None, :], parted[..., n - 1 - lone, None, :]
    reach = np.where(high > low, _FAR * (high - low), np.inf)
    return np.clip(xi, low - reach, high + reach)


def _by_row(params: ScaleParams) -> ScaleParams:
    """Return the parameters with an axis for rows, to broadcast over (n, k) and (n, m)."""
    return tuple(part[..., None, :] for part in params)
