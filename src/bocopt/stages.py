"""What one stage showed: of a decision, of its outcome, and of those that were not taken.

An outcome may be seen in part. Then there are ends where there were numbers: between what was paid,
and between what each shadow cost more.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.core import (
    Array,
    BoolArray,
    Bounds,
    Decision,
    Problem,
    Report,
    ShadowReport,
    judge,
)
from bocopt.problems.hindsight import hindsight as in_hindsight
from bocopt.problems.ranges import within
from bocopt.state import flatten

_ROUNDING = 1e-12  # of a cost: ends that are no further apart are one number


class ShadowOutcomes(NamedTuple):
    """Costs and feasibility of the decisions of policies that are not followed."""

    cost: Array  # (shadows)
    feasible: BoolArray  # (shadows)


class PricedWithin(NamedTuple):
    """What an outcome that was seen in part says of a decision.

    Where it may have been neither feasible nor infeasible, no possible outcome is like what was
    seen. Of shadows there are the ends of what each cost more than what was paid.
    """

    least: Array  # () that was paid
    most: Array  # ()
    may_fit: BoolArray  # () whether it may have been feasible
    may_miss: BoolArray  # () and whether infeasible
    shadows_least: Array  # (shadows)
    shadows_most: Array  # (shadows)


class Stage(NamedTuple):
    """Everything that one stage showed, with the leading axes of the seeds."""

    t: int
    x: Array  # (k)
    decision: Decision
    xi: Array  # (m)
    cost: Array  # () what was paid; NaN where what was seen does not show it
    feasible: BoolArray  # () whether it surely was
    hindsight: Array  # () the least cost, had xi been known; NaN where it was not asked for
    solvable: Array | BoolArray  # () whether any decision would have been feasible; NaN likewise
    info: Mapping[str, Array]  # what the policy learned about the stage, by name
    reports: tuple[Report, ...] = ()  # those of it that guarantees look for
    shadows: ShadowOutcomes | None = None  # of those whose decisions are reported
    names: Mapping[str, tuple[str, ...]] | None = None  # of the numbers of x, z, xi and weights
    seen: Bounds | None = None  # of the outcome, where it was not seen in full
    within: PricedWithin | None = None  # what that says of the decision

    @property
    def undecided(self) -> BoolArray:
        """Whether () what was seen does not show if the decision was feasible."""
        if self.within is None:
            return np.zeros(np.shape(self.cost), bool)
        return np.asarray(self.within.may_fit == self.within.may_miss)


def review(
    problem: Problem,
    t: int,
    x: Array,
    decision: Decision,
    xi: Array,
    info: Any,
    hindsight: bool,
    seen: Bounds | None = None,
) -> Stage:
    """Return the stage that came of a decision and of its lesson, beside what could have come.

    `seen` is given of an outcome of which only bounds are known: what rests on numbers that were
    made up for the rest, xi among them, is then left out.
    """
    reports = tuple(reports_of(info))
    if seen is not None and not seen.is_exact:
        return _seen_in_part(problem, t, x, decision, info, seen)
    cost, feasible, shadows = _outcomes(problem, x, decision.solution.z, xi, reports)
    unknown = np.full(cost.shape, np.nan)
    best, solvable = in_hindsight(problem, x, xi) if hindsight else (unknown, unknown)
    return Stage(
        t=t,
        x=x,
        decision=decision,
        xi=xi,
        cost=cost,
        feasible=feasible,
        hindsight=best,
        solvable=solvable,
        info=_by_name(info),
        reports=reports,
        shadows=shadows,
    )


def _outcomes(
    problem: Problem, x: Array, z: Array, xi: Array, reports: tuple[Report, ...]
) -> tuple[Array, BoolArray, ShadowOutcomes | None]:
    """Cost and feasibility of a decision, and of its shadows: priced at once."""
    others = shadow_decisions(problem, reports)
    if others is None:
        cost, violation = judge(problem, x, z, xi)
        return cost, violation <= 0, None
    everyone = np.concatenate([z[..., None, :], others], axis=-2)
    cost, violation = judge(problem, x[..., None, :], everyone, xi[..., None, :])
    if not np.shape(cost) == np.shape(violation) == everyone.shape[:-1]:
        shapes = f"{np.shape(cost)} and {np.shape(violation)}"
        expected = f"of shape {everyone.shape[:-1]}"
        raise arguments.wrong("the problem", "cost or violation", expected, shapes)
    feasible = violation <= 0
    return cost[..., 0], feasible[..., 0], ShadowOutcomes(cost[..., 1:], feasible[..., 1:])


def _seen_in_part(
    problem: Problem, t: int, x: Array, decision: Decision, info: Any, seen: Bounds
) -> Stage:
    """Return the stage of an outcome that was seen in part: ends where there were numbers."""
    shadows = tuple([each for each in reports_of(info) if isinstance(each, ShadowReport)])
    z = decision.solution.z[..., None, :]
    others = shadow_decisions(problem, shadows)
    everyone = z if others is None else np.concatenate([z, others], axis=-2)
    found = within(problem, Bounds(*(end[..., None, :] for end in seen)))
    least, most = found.range(x[..., None, :], everyone)
    fits, misses = found.verdicts(x[..., None, :], everyone)
    none = np.zeros((*z.shape[:-2], 0))
    ends = (none, none) if others is None else found.range_of_difference(x[..., None, :], others, z)
    size = np.maximum(np.abs(least), np.abs(most))
    with np.errstate(invalid="ignore"):  # infinite ends
        cost = np.where(most - least <= _ROUNDING * size, most, np.nan)
    surely = fits & ~misses
    unknown = np.full(cost.shape[:-1], np.nan)
    return Stage(
        t=t,
        x=x,
        decision=decision,
        xi=np.where(seen.exact, seen.low, np.nan),
        cost=cost[..., 0],
        feasible=surely[..., 0],
        hindsight=unknown,
        solvable=unknown,
        info=_by_name(info),
        reports=shadows,
        shadows=None if others is None else ShadowOutcomes(cost[..., 1:], surely[..., 1:]),
        seen=seen,
        within=PricedWithin(least[..., 0], most[..., 0], fits[..., 0], misses[..., 0], *ends),
    )


def shadow_decisions(problem: Problem, reports: Iterable[Report]) -> Array | None:
    """Return what shadows decided (shadows, d), checked; None where no report has it."""
    for report in reports:
        if isinstance(report, ShadowReport):
            shape = (None, problem.dims.z)
            z = report.shadow_z
            return arguments.array("a shadow", "z", z, shape, arguments.RETURNED)
    return None


def reports_of(info: Any) -> Iterator[Report]:
    """Yield the reports in an info, however deep."""
    for part in info:
        if isinstance(part, Report):
            yield part
        elif isinstance(part, tuple):
            yield from reports_of(part)


def _by_name(info: Any) -> dict[str, Array]:
    """Its numbers by the last part of their path, or by all of it where that is taken."""
    found: dict[str, Array] = {}
    for path, leaf in flatten(info, "info").items():
        _, *parts = path.split(".")
        name = parts[-1]
        found[".".join(parts) if name in found or name.isdecimal() else name] = leaf
    return found
