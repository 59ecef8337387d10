"""Members at work: each fitted to the past as a view shows it, and asked what comes next."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from bocopt.core import Array, BoolArray, IntArray
from bocopt.models.design import Ground, design, nothing
from bocopt.models.guard import name_of, refit, start, tell
from bocopt.models.member import Fit, Member, least_discount, renewed_at
from bocopt.models.scale import Bend, Plain, Scale
from bocopt.numeric.blas import one_thread
from bocopt.numeric.history import History

_NEGLIGIBLE = 1e-3  # weight below which a discounted outcome is no longer looked at
_ALWAYS = 50  # outcomes up to which a fit is renewed with each of them
_FEW, _LONE, _FAR = 12, 50, 5.0  # from so many outcomes on: one in so many, so many ranges away
_NEW, _NEW_DISCOUNTED = 0.02, 0.1  # then when this share of those that count is new


class View(NamedTuple):
    """How the past is looked at: on a scale, and with what weight of old outcomes."""

    scale: Scale
    discount: float

    @property
    def name(self) -> str:
        scale = "" if isinstance(self.scale, Plain) else f", {type(self.scale).__name__.lower()}"
        return scale + ("" if self.discount == 1 else f", discount {self.discount:g}")


class Fits(NamedTuple):
    """What views and members have made of the past."""

    bends: tuple[Bend, ...]  # (V) views
    grounds: tuple[Ground, ...]  # (V)
    fits: tuple[Fit, ...]  # (F) members, each in all of its views
    broken: BoolArray  # (F) whose last fit failed
    fitted: Array  # (F) outcomes seen at the last fit
    designed: Array  # (V) and at the last design


class Predicted(NamedTuple):
    """What all fits say of the next outcome, each on the scale of its view."""

    location: Array  # (F, m)
    scale: Array  # (F, m)
    df: Array  # (F) at most so many degrees of freedom
    failed: BoolArray  # (F)


@dataclass(frozen=True)
class Panel:
    """Every member in every view with enough outcomes for it; all of a view share one design."""

    members: Sequence[Member]
    discounts: Sequence[float]
    scales: Sequence[Scale]

    @cached_property
    def views(self) -> list[View]:
        return [View(scale, discount) for scale in self.scales for discount in self.discounts]

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
        return [name_of(member) + self.views[v].name for v, member in self.seats]

    @cached_property
    def discount(self) -> Array:
        """(F)."""
        return np.array([self.views[v].discount for v, _ in self.seats])

    def start(self, lead: tuple[int, ...], dim_x: int, dim_xi: int) -> Fits:
        return Fits(
            bends=tuple(view.scale.start(lead, dim_x, dim_xi) for view in self.views),
            grounds=tuple(nothing(lead, dim_x, dim_xi) for _ in self.views),
            fits=tuple(start(member, lead, dim_x, dim_xi) for _, member in self.seats),
            broken=np.zeros((*lead, len(self.seats)), bool),
            fitted=np.zeros(len(self.seats), np.int64),
            designed=np.zeros(len(self.views), np.int64),
        )

    def predict(self, state: Fits, x: Array) -> Predicted:
        """(k) -> the laws; a member that cannot is told of."""
        shape, many = state.grounds[0].mean.shape, len(self.seats)
        standard = [
            ground.standard(view.scale.context(bend, x))
            for view, bend, ground in zip(self.views, state.bends, state.grounds, strict=True)
        ]
        location, scale = (np.empty((*shape[:-1], many, shape[-1])) for _ in range(2))
        df = np.empty((*shape[:-1], many))
        for f, (v, member) in enumerate(self.seats):
            ground = state.grounds[v]
            try:
                where, how_far, most = member.predict(state.fits[f], ground, standard[v])
                location[..., f, :], scale[..., f, :] = where, how_far
                df[..., f] = max(1.0, np.floor(min(3.0 + float(ground.size) / 5.0, most)))
            except Exception as error:  # whatever a member does, the others carry on
                tell(f"{name_of(member)} is left out", error)
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
        pairs = list(zip(self.views, state.bends, strict=True))
        outcomes = [view.scale.outcome(bend, xi) for view, bend in pairs]
        slopes = [view.scale.log_slope(bend, xi) for view, bend in pairs]
        return (
            np.stack([outcomes[v] for v, _ in self.seats], axis=-2),
            np.stack([slopes[v] for v, _ in self.seats], axis=-1),
        )

    def back(self, state: Fits, whose: IntArray, seen: Array) -> Array:
        """(s), (s, m) -> (s, m): outcomes, from the scales of the fits that they belong to."""
        view, outcomes = np.array([v for v, _ in self.seats])[whose], seen.copy()
        for v in np.unique(view):
            mine = view == v
            each = (np.broadcast_to(b, (*mine.shape, b.shape[-1])) for b in _by_row(state.bends[v]))
            bend = tuple(part[mine] for part in each)
            outcomes[mine] = self.views[v].scale.back(bend, seen[mine])
        return outcomes

    def suits(self, lowest: Array) -> BoolArray:
        """(m) -> (F): whether the scale is meant for such outcomes."""
        suits = [view.scale.suits(lowest) for view in self.views]
        return np.stack([suits[v] for v, _ in self.seats], axis=-1)

    def refitted(self, state: Fits, x: History, xi: History, lowest: Array) -> Fits:
        """Where enough is new since the last fit, on the scales that suit the outcomes."""
        with one_thread():
            return self._refitted(state, x, xi, lowest)

    def _refitted(self, state: Fits, x: History, xi: History, lowest: Array) -> Fits:
        seen, fits = int(xi.size + xi.dropped), list(state.fits)
        bends, grounds = list(state.bends), list(state.grounds)
        fitted, designed = state.fitted.copy(), state.designed.copy()
        broken = state.broken.copy()
        for v, (scale, discount) in enumerate(self.views):
            rows, effective = _looked_at(discount, int(xi.size))
            enough = (_NEW if discount == 1 else _NEW_DISCOUNTED) * effective
            waits = seen > _ALWAYS and seen - designed[v] < enough
            if waits or not scale.suits(lowest).any():
                continue
            last_x, last_xi = x.rows[..., -rows:, :], _tamed(xi.rows[..., -rows:, :])
            bends[v] = scale.fit(last_x, last_xi)
            bend = _by_row(bends[v])
            seen_x, seen_xi = scale.context(bend, last_x), scale.outcome(bend, last_xi)
            past = design(seen_x, seen_xi, discount, by_evidence=True)
            grounds[v], designed[v] = past.ground, seen
            for f, (own, member) in enumerate(self.seats):
                new = seen - fitted[f]
                if own == v and (seen <= _ALWAYS or new >= renewed_at(member) * effective):
                    fits[f], broken[..., f] = refit(member, fits[f], past)
                    fitted[f] = seen
        return Fits(tuple(bends), tuple(grounds), tuple(fits), broken, fitted, designed)


def _looked_at(discount: float, size: int) -> tuple[int, float]:
    """How many of the latest outcomes still count, and how much."""
    if discount == 1:
        return size, float(size)
    rows = min(size, int(np.ceil(np.log(_NEGLIGIBLE) / np.log(discount))))
    return rows, (1 - discount**rows) / (1 - discount)


def _tamed(xi: Array) -> Array:
    """(n, m): few that lie far beyond all others are moved in; they would bend every regression."""
    n = xi.shape[-2]
    lone = 1 + n // _LONE
    if n < _FEW:
        return xi
    parted = np.partition(xi, [lone, n - 1 - lone], axis=-2)
    low, high = parted[..., lone, None, :], parted[..., n - 1 - lone, None, :]
    reach = np.where(high > low, _FAR * (high - low), np.inf)
    return np.clip(xi, low - reach, high + reach)


def _by_row(bend: Bend) -> Bend:
    """For rows of numbers instead of one."""
    return tuple(part[..., None, :] for part in bend)
