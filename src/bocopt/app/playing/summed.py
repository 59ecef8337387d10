"""Comparisons of policies on a whole panel: at each time, what all its series paid.

What series cost at one time may depend on each other in any way. Their sum is one outcome, which
lies between the sums of their ranges; so a comparison of sums needs nothing else than one of a
series.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from bocopt.app.features.series import Panel
from bocopt.app.findings import Played
from bocopt.app.playing.verdict import AT_RANDOM, Both, Flags, both
from bocopt.compared import RECORDED, Compared, Pair, Parts, compared_of, declared
from bocopt.core import Array, Problem
from bocopt.guarantees import Comparison, Evidence
from bocopt.guarantees.certificate import Shadow, folded
from bocopt.guarantees.ratios import BoundedSeries

_ROUNDING, _OF_COSTS = 1e-9, 1e-12  # of a range, and of costs: so far outside is rounding


def compared_in_all(
    problem: Problem,
    panel: Panel,
    reference: str,
    each: Sequence[Mapping[str, Played]],
    *,
    scale: float | None,
    delta: float,
) -> dict[str, Compared]:
    """Return comparisons of all others with the reference; a stage is a time, summed over series.

    A time has the series at which both decided, after the warm-up. All comparisons hold together
    but for a chance of delta, which they share, however series depend on each other at one time. An
    outcome that never came counts at its worst; there is then a second comparison, without them.

    scale       about how far two sums are apart, declared in advance
    """
    others, found = [name for name in each[0] if name != reference], dict[str, Compared]()
    for one in declared(others, scale, delta) if others else []:
        pairs = [
            both(problem, series, played[reference], played[one.name], series.warm_up)
            for series, played in zip(panel.series, each, strict=True)
        ]
        sums = _summed(panel, pairs)
        if (sums.known > 0).sum() >= 2:
            found[one.name] = _judged(replace(one, shadow=0), panel, pairs, problem, reference)
    return found


class _Sums(NamedTuple):
    """Sums over all series, at each time (M)."""

    decided: Array  # how many were
    known: Array  # of them, those whose outcome came
    own: Array  # what the reference paid, where outcomes came
    difference: Array  # what the other one paid more, likewise
    met: Array  # (M, 2) how many decisions were feasible
    own_low: Array  # least that the reference can have paid, in all
    own_high: Array
    low: Array  # least that the difference can have been, in all
    high: Array
    open_low: Array  # least that it can have been where outcomes never came
    open_high: Array
    possible: Flags  # whether all were within what ranges are meant for

    def at(self, which: Flags) -> "_Sums":
        """Return the sums at the times of a mask (M)."""
        parts = self._asdict()
        possible = parts.pop("possible")[which]
        return _Sums(**{name: part[which] for name, part in parts.items()}, possible=possible)


def _summed(panel: Panel, pairs: Sequence[Both]) -> _Sums:
    many = len(panel.time)
    sums = {name: np.zeros(many) for name in _Sums._fields if name != "possible"}
    sums["met"], possible = np.zeros((many, 2)), np.ones(many, bool)
    for at, stages in zip(panel.at, pairs, strict=True):
        times, came, part = at[stages.at], stages.in_full, stages.in_part
        own, difference, met = stages.pair
        costs = np.abs(own.value) + np.abs(stages.others)
        rounding = _ROUNDING * (difference.high - difference.low) + _OF_COSTS * costs
        outside = (difference.value < difference.low - rounding) | (
            difference.value > difference.high + rounding
        )
        parts = {
            "decided": np.ones(len(times)),
            "known": came.astype(float),
            "own": np.where(came, own.value, 0.0),
            "difference": np.where(came, difference.value, 0.0),
            "met": np.where(came[:, None], met, 0.0),
            "own_low": own.low,
            "own_high": own.high,
            "low": difference.low,
            "high": difference.high,
            "open_low": np.where(came, 0.0, stages.least),
            "open_high": np.where(came, 0.0, stages.most),
        }
        for name, term in parts.items():
            sums[name][times] += term  # a series has a time once
        possible[times] &= ~(came | part) | (stages.possible & ~(came & outside))
    return _Sums(**sums, possible=possible)


def _judged(
    one: Comparison, panel: Panel, pairs: Sequence[Both], problem: Problem, reference: str
) -> Compared:
    """Return the comparison of all decisions, and of those whose outcome came, if some did not."""
    sums, at_random = _summed(panel, pairs), None
    missing = int((sums.decided - sums.known).sum())
    in_part = sum(int(stages.in_part.sum()) for stages in pairs)
    if missing and not in_part:
        known = [stages.where(stages.came) for stages in pairs]
        at_random = _judged(one, panel, known, problem, reference)
        assumptions = (AT_RANDOM, *at_random.certificate.assumptions)
        certificate = at_random.certificate._replace(assumptions=assumptions)
        at_random = at_random._replace(certificate=certificate)
    at = np.flatnonzero(sums.decided > 0)
    sums = sums.at(sums.decided > 0)
    none = sums.known == 0
    own = BoundedSeries(np.where(none, np.nan, sums.own), sums.own_low, sums.own_high)
    difference = BoundedSeries(np.where(none, np.nan, sums.difference), sums.low, sums.high)
    met = sums.met / np.maximum(sums.known, 1.0)[:, None]
    found = compared_of(
        one,
        _state(one, sums),
        Pair(own, difference, met),
        problem.sense,
        reference=reference,
        at=at,
        at_random=at_random,
        in_part=in_part,
    )
    unrecorded = sum(stages.unrecorded for stages in pairs)
    rests = (*[RECORDED] * bool(unrecorded), *found.certificate.assumptions)
    feasible = sums.met.sum(axis=0) / max(sums.known.sum(), 1.0)
    return found._replace(
        certificate=found.certificate._replace(assumptions=rests),
        feasible=feasible[1],
        feasible_today=feasible[0],
        parts=Parts(int(sums.decided.sum()), missing),
        unrecorded=unrecorded,
        shares=None if missing else found.shares,  # which are of stages whose outcomes are whole
    )


def _state(one: Comparison, sums: _Sums) -> Array:
    """Return the state after all times; outcomes that never came are at the worst for each side."""
    most, least = (
        folded(one, _evidence(sums, missing)) for missing in (sums.open_high, sums.open_low)
    )
    none = np.array(float((sums.known == 0).sum()))
    own, other = sums.own.sum(), (sums.own + sums.difference).sum()
    return one.with_parts_missing(most, least, own, other, none)


def _evidence(sums: _Sums, missing: Array) -> Iterator[Evidence]:
    for own, difference, rest, low, high, possible in zip(
        sums.own, sums.difference, missing, sums.low, sums.high, sums.possible, strict=True
    ):
        shadow = Shadow(own + difference + rest, low, high)
        yield Evidence(cost=own, possible=possible, shadows=(shadow,))
