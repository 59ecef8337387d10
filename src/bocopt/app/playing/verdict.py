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
from bocopt.guarantees import Comparison, Evidence
from bocopt.guarantees.certificate import Shadow, folded
from bocopt.guarantees.ratios import BoundedSeries
from bocopt.problems.ranges import range_of, range_of_difference, within

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

    All hold together but for a chance of delta, which they share. Outcomes that never came count at
    their worst; there is then a second comparison, without them. Stages are folded in their order,
    so an expected difference is that of who knows all outcomes before it, however late they came.
    Nothing is said where fewer than two outcomes can be compared.
    """
    others = [name for name in played if name != reference]
    now, found = played[reference], {}
    for one in declared(others, scale, delta) if others else []:
        stages = both(problem, series, now, played[one.name], warm_up)
        if stages.in_full.sum() >= 2:
            found[one.name] = _judged(replace(one, shadow=0), stages, problem, reference)
    return found


class Both(NamedTuple):
    """Stages at which two policies decided; (n) each."""

    at: IntArray
    pair: Pair
    others: Array  # cost of the second
    came: Flags  # whether the outcome did, in full or in part
    in_part: Flags  # whether it was seen in part
    least: Array  # the least that the difference can have been; NaN where it was seen in full
    most: Array  # the most
    possible: Flags  # whether it was one that ranges are meant for
    unrecorded: int  # stages that are left out, as one of the two has no decision

    @property
    def in_full(self) -> Flags:
        """Return at which stages (n) the outcome was seen in full."""
        return self.came & ~self.in_part

    def where(self, which: Flags) -> "Both":
        """Return the stages of a mask (n)."""
        own, difference = (BoundedSeries(*(part[which] for part in each)) for each in self.pair[:2])
        pair = Pair(own, difference, self.pair.met[which])
        return Both(
            at=self.at[which],
            pair=pair,
            others=self.others[which],
            came=self.came[which],
            in_part=self.in_part[which],
            least=self.least[which],
            most=self.most[which],
            possible=self.possible[which],
            unrecorded=self.unrecorded,
        )

    @property
    def ends(self) -> tuple[Array, Array]:
        """Return the ends (n), (n) of what the differences can have been."""
        return self.least, self.most


def both(problem: Problem, series: Series, now: Played, other: Played, warm_up: int) -> Both:
    """Return the stages after the warm-up at which two policies decided, and both costs."""
    decided = np.asarray(np.isfinite(now.z + other.z).all(axis=-1))
    at = np.flatnonzero(decided[warm_up:]) + warm_up
    x, xi, z, others = series.x[at], series.xi[at], now.z[at], other.z[at]
    in_full, in_part = np.asarray(np.isfinite(xi).all(axis=-1)), series.in_part[at]
    possible = np.ones(len(at), bool)
    if is_ranged(problem) and in_full.any():
        possible[in_full] = problem.possible(x[in_full], xi[in_full])
    low, high = range_of_difference(problem, x, z, others)
    least, most = (np.where(in_full, np.nan, end) for end in (low, high))
    for i in np.flatnonzero(in_part).tolist():
        least[i], most[i], possible[i] = _ends(problem, series, at[i], z[i], others[i])
    pair = Pair(
        BoundedSeries(now.cost[at], *range_of(problem, x, z)),
        BoundedSeries((other.cost - now.cost)[at], low, high),
        np.stack([now.feasible[at], other.feasible[at]], axis=-1),
    )
    unrecorded = int((~decided[warm_up:]).sum())
    came = series.came[at]
    return Both(at, pair, other.cost[at], came, in_part, least, most, possible, unrecorded)


def _ends(
    problem: Problem, series: Series, stage: int, z: Array, other: Array
) -> tuple[Array, Array, bool]:
    """Return between what the other decision (d) costs more, by what was seen of an outcome.

    And whether an outcome is possible that is like that.
    """
    seen, x = series.seen_at(stage), series.x[stage]
    assert isinstance(seen, Bounds)
    there = within(problem, seen)
    fits, misses = there.verdicts(x, z)
    return *there.range_of_difference(x, other, z), bool(fits | misses)


def _judged(one: Comparison, stages: Both, problem: Problem, reference: str) -> Compared:
    """Return the comparison at these stages, and that at those alone whose outcome came."""
    known, in_part = None, int(stages.in_part.sum())
    if not (stages.came.all() or in_part):
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
        in_part=in_part,
    )
    if not stages.unrecorded:
        return found
    certificate = found.certificate
    rests = (RECORDED, *certificate.assumptions)
    return found._replace(certificate=certificate._replace(assumptions=rests))


def _evidence(stages: Both) -> Iterator[Evidence]:
    own, difference, _ = stages.pair
    for i, cost in enumerate(own.value):
        shadow = Shadow(*(part[i] for part in (stages.others, *difference[1:], *stages.ends)))
        yield Evidence(cost=cost, possible=stages.possible[i], shadows=(shadow,))
