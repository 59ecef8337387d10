"""A policy beside what is done now: what both cost, how far apart they are, how sure that is."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.core import Array, IntArray, Sense
from bocopt.guarantees import Certificate, Comparison, Difference, comparisons
from bocopt.guarantees.certificate import verdict
from bocopt.guarantees.phrases import amount, between, verb
from bocopt.guarantees.ratios import BoundedSeries, shares
from bocopt.numeric.blocks import FEWEST, block_length, one_look

__all__ = ["Bootstrap", "Compared"]  # what users see of it

NOW = "what is done now"
WITH_OUTCOME, IN_SUMS = "the stages with an outcome", "in sums over the outcomes that came"
IN_FULL = "the stages that were seen in full"
RECORDED = "whether a decision was recorded does not depend on what came of it"
NO_BOOTSTRAP = f"a block bootstrap needs {FEWEST} stages at least, not all alike"
NO_SAMPLE = "what was seen of outcomes depends on what they were, so a bootstrap says nothing"
_AMOUNTS = 0.8  # of delta; the rest is for shares of what is paid


class Bootstrap(NamedTuple):
    """An interval for the average difference by a block bootstrap: asymptotic, for one look.

    Ends are NaN where there are few stages, or all differences are alike.
    """

    low: Array  # ()
    high: Array  # ()
    length: Array  # () of a block, in stages, chosen from the data


class Parts(NamedTuple):
    """The numbers of decisions that stages are made of, where each is a sum of several."""

    decisions: int
    missing: int  # of them, those whose outcome never came


class Compared(NamedTuple):
    """A policy beside what is done now; all per stage, with the leading axes of the seeds.

    Differences are costs of the policy less those of today: negative where it is better. Means are
    over stages with an outcome; `difference` is about all of them.
    """

    name: str
    reference: str  # what it is compared with
    sense: Sense
    cost: Array  # () of the policy
    today: Array  # () what is paid now
    difference: Difference  # seen, and what is believable at all times at once
    shares: tuple[float, float] | None  # of one trial: between what its saving is, of what is paid
    bootstrap: Bootstrap
    feasible: Array  # () share of stages
    feasible_today: Array  # ()
    differences: Array  # (T) stage by stage; NaN where the outcome was not seen in full
    at: IntArray  # (T) numbers of these stages
    certificate: Certificate
    delta: float  # of `difference` and `shares` together
    at_random: "Compared | None" = None  # without the stages whose outcome never came
    parts: Parts | None = None  # where a stage is the sum of several decisions
    unrecorded: int = 0  # stages that are left out, as one of the two has no decision there
    in_part: int = 0  # outcomes that were seen in part

    @property
    def outcomes(self) -> int:
        """The number that was to come: one a stage, or one for each of its parts."""
        return int(self.differences.shape[-1]) if self.parts is None else self.parts.decisions

    @property
    def missing(self) -> int:
        """Outcomes that never came, or were seen in part."""
        return self._without if self.parts is None else self.parts.missing

    @property
    def seen(self) -> int:
        """Stages of which an outcome was seen in full."""
        return int(self.differences.shape[-1]) - self._without

    @property
    def _without(self) -> int:
        return int(np.isnan(self.differences).any(axis=tuple(range(self.cost.ndim))).sum())

    @property
    def percent(self) -> Array:
        """Difference () in percent of what is paid or earned now; negative where the policy is
        better; NaN where that is not above 0.
        """
        paid = np.where(self.sense.sign * self.today > 0.0, np.abs(self.today), np.nan)
        return np.asarray(100.0 * self.difference.seen / paid)

    def words(self, unit: str = "") -> str:
        """Return the comparison in sentences; `unit` is that of a cost, say " EUR"."""
        return _of_many(self) if self.cost.ndim else "\n".join(_lines(self, unit))

    def __str__(self) -> str:
        return self.words()


def declared(names: Sequence[str], scale: float | None, delta: float) -> list[Comparison]:
    """Comparisons, of which all that `compared_of` finds holds together but for delta."""
    return comparisons(names, scale=scale, delta=_AMOUNTS * delta)


class Pair(NamedTuple):
    """Cost now and difference of the other decision, by stage; NaN where no outcome came."""

    own: BoundedSeries  # (..., T) what is done now cost, and between what that had to lie
    difference: BoundedSeries  # (..., T) the other one's cost less that, likewise
    met: Array  # (..., T, 2) whether each was feasible


def compared_of(
    one: Comparison,
    state: Any,
    pair: Pair,
    sense: Sense,
    *,
    reference: str = NOW,
    at: IntArray | None = None,
    at_random: Compared | None = None,
    unrecorded: int = 0,
    in_part: int = 0,
) -> Compared:
    """Return the result of a comparison that was folded over these stages."""
    own, difference, met = pair
    rows = difference.value.reshape(-1, difference.value.shape[-1])
    came = np.asarray(~np.isnan(rows).any(axis=0))
    seen, paid = difference.value[..., came], own.value[..., came].mean(axis=-1)
    certificate = one.certificate(state)
    return Compared(
        name=one.name,
        reference=reference,
        sense=sense,
        cost=paid + seen.mean(axis=-1),
        today=paid,
        difference=one.difference(state),
        shares=_shares(one, state, pair, sense)
        if not paid.ndim and certificate.applicable
        else None,
        bootstrap=_none(seen) if in_part else _bootstrap(seen),
        feasible=met[..., came, 1].mean(axis=-1),
        feasible_today=met[..., came, 0].mean(axis=-1),
        differences=difference.value,
        at=np.arange(len(came)) if at is None else at,
        certificate=certificate,
        delta=one.delta / _AMOUNTS,
        at_random=at_random,
        unrecorded=unrecorded,
        in_part=in_part,
    )


def whatever(missing: int, in_part: int) -> str:
    """Return in words that something holds whatever outcomes were that were not seen in full.

    >>> whatever(3, 0), whatever(3, 1)
    ('whatever the 3 missing outcomes were', 'whatever the 3 outcomes not seen in full were')
    """
    what = "outcomes not seen in full" if in_part else "missing outcomes"
    return f"whatever the {missing:,} {what} were"


def _shares(one: Comparison, state: Any, pair: Pair, sense: Sense) -> tuple[float, float] | None:
    """Return the ends of the share saved; None where it is not known that anything was paid."""
    value, low, high = pair.own
    if arguments.outside(value, low, high)[np.isfinite(value)].any():
        return None
    earned = sense is Sense.MAXIMISE
    paid = BoundedSeries(-value, -high, -low) if earned else pair.own
    found = shares(pair.difference, paid, one.delta * (1.0 / _AMOUNTS - 1.0), one.scale)
    if found is None:
        return None
    amounts = one.difference(state)  # what is paid is above 0, so its sign is that of the share
    least = 0.0 if amounts.high <= 0.0 else -np.inf
    most = 0.0 if amounts.low >= 0.0 else np.inf
    return max(found[0], least), min(found[1], most)


def _none(differences: Array) -> Bootstrap:
    """Return no intervals (...) of series of differences (..., T)."""
    nan = np.full(differences.shape[:-1], np.nan)
    return Bootstrap(nan, nan, np.zeros(nan.shape))


def _bootstrap(differences: Array) -> Bootstrap:
    """Return bootstrap intervals and block lengths (...) of series of differences (..., T)."""
    rows = differences.reshape(-1, differences.shape[-1])
    lengths = [block_length(row) for row in rows]
    intervals = [one_look(row, n) for row, n in zip(rows, lengths, strict=True)]
    low, high, length = (
        np.array(part).reshape(differences.shape[:-1])
        for part in (*zip(*intervals, strict=True), lengths)
    )
    return Bootstrap(low, high, length)


def _of_many(found: Compared) -> str:
    """Return in words the means of several trials, and in how many it is surely better or worse."""
    trials, d = found.cost.size, found.difference
    known = np.isfinite(d.since) & found.certificate.applicable
    better, worse = (int((known & side).sum()) for side in (d.high <= 0, d.low >= 0))
    percent, seen = found.percent, amount(float(d.seen.mean()), found.sense)
    spread = f" ± {percent.std(ddof=1):.2g}" if trials > 1 else ""
    share = "" if np.isnan(percent).any() else f"; {percent.mean():+.2g}{spread}% in cost"
    return (
        f"{found.name} {verb(found.sense)} {seen} a stage than {found.reference} (mean of {trials} "
        f"trials{share}). It is better in {better} of them and worse in {worse}, with "
        f"{100 * (1 - found.delta):g}% confidence each."
    )


def _lines(found: Compared, unit: str) -> list[str]:
    """Return the sentences of one trial."""
    d, sense, percent = found.difference, found.sense, abs(float(found.percent))
    today = f"{found.sense.sign * float(found.today):.4g}{unit}"
    of = today if np.isnan(percent) else f"{percent:.2g}% of {today}"
    parts = found.parts
    came = found.outcomes - found.missing
    where = f", on the {found.seen} {'seen in full' if found.in_part else 'with an outcome'}"
    if parts is not None:
        where = f", on the {came} of {found.outcomes} outcomes that came"
    one = "stages" if parts is None else "decisions"
    known = f"{came} {one} whose outcome is known" if found.missing else one
    seen = f"{amount(float(d.seen), sense, unit)} a stage than {found.reference}"
    if found.in_part and np.isfinite(d.least + d.most):
        ends = between(float(d.least), float(d.most), sense, unit)
        seen = f"{ends} a stage than {found.reference}, by what was seen; {seen}"
    return [
        f"{found.name} {verb(sense)} {seen} "
        f"({of}; {found.differences.size} stages{where * bool(found.missing)}).",
        *_sure(found, unit),
        _one_look(found, unit),
        f"Feasible in {100 * float(found.feasible):.3g}% of the {known}, with {found.reference} "
        f"{100 * float(found.feasible_today):.3g}%.",
    ]


def _one_look(found: Compared, unit: str) -> str:
    if found.in_part:
        return f"For one look: {NO_SAMPLE}."
    low, high, length = (float(part) for part in found.bootstrap)
    if np.isnan(low):
        return f"For one look: {NO_BOOTSTRAP}."
    only = ", of stages with an outcome" * bool(found.missing)
    ends = between(low, high, found.sense, unit)
    return (
        f"For one look, roughly, of a mean that does not change{only}: {ends} (block bootstrap, "
        f"95%, blocks of {int(length)})."
    )


def _sure(found: Compared, unit: str, at: str = "at these stages") -> list[str]:
    """Return the sentences on what holds at all times at once, `at` some stages."""
    d, sense = found.difference, found.sense
    if not found.certificate.applicable:
        return [f"At all times: not applicable. {found.certificate.note}"]
    interval = between(float(d.low), float(d.high), sense, unit)
    if found.shares is not None:
        high, low = (-100.0 * share for share in found.shares)
        interval += f" ({between(low, high, sense, '%')})"
    anything = f"{whatever(found.missing, found.in_part)}, " * bool(found.missing)
    provided = f", provided that {RECORDED}" * bool(found.unrecorded)
    lines = [
        f"With {100 * (1 - found.delta):g}% confidence, at all times at once, {anything}expected "
        f"{at}: {interval}; {verdict(d)}{provided}."
    ]
    if found.at_random is not None:
        some = f"at {WITH_OUTCOME}" if found.parts is None else f"at these stages, {IN_SUMS}"
        lines += [
            f"If whether an outcome is missing does not depend on what it was: {line}"
            for line in _sure(found.at_random, unit, some)
        ]
    return lines
