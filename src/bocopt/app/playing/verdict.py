"""Comparisons of policies on a series with what is done now."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bocopt.app.features.series import Series
from bocopt.app.findings import Played
from bocopt.compared import RECORDED, Compared, Pair, compared_of, declared
from bocopt.core import Array, Bounds, IntArray, Problem, is_ranged
from bocopt.guarantees import Comparison, Evidence, range_of
from bocopt.guarantees.certificate import Shadow, folded
from bocopt.guarantees.ratios import BoundedSeries
from bocopt.problems.ranges import range_of_difference, within

Flags = NDArray[np.bool_]

AT_RANDOM = "whether an outcome is missing does not depend on what it was"


def compared(
    problem: Problem,
    series: Series,
    reference: str,
    played: Mapping[str, Played],
    *,
    warm_up: int,
    scale: float | None,
    delta: float,
) -> dict[str, Compared]:
    """Return comparisons of the others with the reference, where both decided after the warm-up.

    All hold together but for a chance of delta, which they share. Outcomes that never came, or of
    which a part was seen, count at their worst; there is then a second comparison, without those
    that never came. Stages are folded in their order,
    so an expected difference is that of who knows all outcomes before it, however late they came.
    Nothing is said where fewer than two outcomes can be compared.
    """
    others = [name for name in played if name != reference]
    now, found = played[reference], {}
    for one in declared(others, scale, delta) if others else []:
        stages = both(problem, series, now, played[one.name], warm_up)
        if stages.shown.sum() >= 2:
            found[one.name] = _judged(replace(one, shadow=0), stages, problem, reference)
    return found


class Both(NamedTuple):
    """Stages at which two policies decided; (n) each."""

    at: IntArray
    pair: Pair
    others: Array  # cost of the second
    came: Flags  # whether the outcome did, in full or in part
    least: Array  # least that the difference can have been, by what was seen; NaN: costs show it
    most: Array
    possible: Flags  # whether it was one that ranges are meant for
    unrecorded: int  # stages that are left out, as one of the two has no decision

    @property
    def shown(self) -> Flags:
        """Return whether (n) costs show the difference."""
        return np.asarray(np.isnan(self.least))

    def where(self, which: Flags) -> "Both":
        """Return the stages of a mask (n)."""
        own, difference = (BoundedSeries(*(part[which] for part in each)) for each in self.pair[:2])
        pair = Pair(own, difference, self.pair.met[which])
        ends = self.least[which], self.most[which]
        rest = self.others[which], self.came[which], *ends, self.possible[which]
        return Both(self.at[which], pair, *rest, self.unrecorded)


def both(problem: Problem, series: Series, now: Played, other: Played, warm_up: int) -> Both:
    """Return the stages after the warm-up at which two policies decided, and both costs."""
    decided = np.asarray(np.isfinite(now.z + other.z).all(axis=-1))
    at = np.flatnonzero(decided[warm_up:]) + warm_up
    x, z, others, came = series.x[at], now.z[at], other.z[at], series.came[at]
    full, possible = np.isfinite(series.xi[at]).all(axis=-1), np.ones(len(at), bool)
    if is_ranged(problem) and full.any():
        possible[full] = problem.possible(x[full], series.xi[at][full])
    low, high = range_of_difference(problem, x, z, others)
    least, most = low.copy(), high.copy()
    part = came & ~full
    if part.any():
        assert series.seen is not None  # something was seen of these
        seen = within(problem, Bounds(*(end[at][part] for end in series.seen)))
        least[part], most[part] = seen.range_of_difference(x[part], others[part], z[part])
        possible[part] = np.logical_or(*seen.verdicts(x[part], z[part]))
    met = np.stack([now.feasible[at], other.feasible[at]], axis=-1)
    difference = np.where(np.isfinite(met).all(axis=-1), (other.cost - now.cost)[at], np.nan)
    pair = Pair(
        BoundedSeries(now.cost[at], *range_of(problem, x, z)),
        BoundedSeries(difference, low, high),
        met,
    )
    least, most = (np.where(np.isfinite(difference), np.nan, end) for end in (least, most))
    unrecorded = int((~decided[warm_up:]).sum())
    return Both(at, pair, other.cost[at], came, least, most, possible, unrecorded)


def _judged(one: Comparison, stages: Both, problem: Problem, reference: str) -> Compared:
    """Return the comparison at these stages, and that at those alone whose outcome came."""
    known = None
    if not stages.came.all():
        known = _judged(one, stages.where(stages.came), problem, reference)
        assumptions = (AT_RANDOM, *known.certificate.assumptions)
        known = known._replace(certificate=known.certificate._replace(assumptions=assumptions))
    found = compared_of(
        one,
        folded(one, _evidence(stages)),
        stages.pair,
        problem.sense,
        reference=reference,
        at=stages.at,
        at_random=known,
        unrecorded=stages.unrecorded,
        in_part=bool((stages.came & ~stages.shown).any()),
    )
    if not stages.unrecorded:
        return found
    certificate = found.certificate
    rests = (RECORDED, *certificate.assumptions)
    return found._replace(certificate=certificate._replace(assumptions=rests))


def _evidence(stages: Both) -> Iterator[Evidence]:
    own, difference, _ = stages.pair
    rows = zip(
        stages.others, difference.low, difference.high, stages.least, stages.most, strict=True
    )
    for i, row in enumerate(rows):
        yield Evidence(own.value[i], possible=stages.possible[i], shadows=(Shadow(*row),))
