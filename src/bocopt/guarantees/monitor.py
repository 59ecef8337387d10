"""Watch a stream live: every certificate after every stage, in constant memory."""

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from bocopt import arguments
from bocopt.core import (
    ArmsReport,
    Array,
    BeliefReport,
    BoolArray,
    Problem,
    Report,
    is_ranged,
)
from bocopt.fingerprint import fingerprint
from bocopt.guarantees.certificate import (
    NO_ARMS,
    NO_BELIEF,
    NO_RANGE,
    Certificate,
    Evidence,
    Guarantee,
    Shadow,
    Summed,
    nan_is_no_news,
)
from bocopt.guarantees.comparison import comparisons
from bocopt.guarantees.feasibility import Feasibility
from bocopt.guarantees.phrases import together
from bocopt.guarantees.tightest import headline
from bocopt.problems.ranges import range_of, range_of_difference, why_unranged
from bocopt.stages import Stage, shadow_decisions

_YES = np.array(True)[()]


def _shadows(problem: Problem, stage: Stage) -> tuple[Shadow, ...]:
    """Return the cost of each shadow, and the range in which its difference had to lie."""
    z = shadow_decisions(problem, stage.reports)
    if z is None or stage.shadows is None:
        return ()
    x, taken = stage.x[..., None, :], stage.decision.solution.z[..., None, :]
    low, high = range_of_difference(problem, x, taken, z)
    cost = stage.shadows.cost
    if not np.shape(low) == np.shape(high) == z.shape[:-1]:
        shapes = f"{np.shape(low)} and {np.shape(high)}"
        expected = f"of shape {z.shape[:-1]}"
        raise arguments.wrong("the problem", "range_of_difference", expected, shapes)
    each = range(z.shape[-2])
    if stage.within is None:
        return tuple([Shadow(cost[..., i], low[..., i], high[..., i]) for i in each])
    known = np.isfinite(cost + stage.cost[..., None])  # else what was seen has the ends
    ends = stage.within.shadows_least, stage.within.shadows_most
    parts = cost, low, high, *(np.where(known, np.nan, end) for end in ends)
    return tuple([Shadow(*(part[..., i] for part in parts)) for i in each])


R = TypeVar("R", bound=Report)


def _report(stage: Stage, report_class: type[R]) -> R | None:
    """Return the first report of this kind; None where there is none."""
    for report in stage.reports:
        if isinstance(report, report_class):
            return report
    return None


def evidence_of(
    problem: Problem,
    stage: Stage,
    *,
    cost_range: tuple[Array, Array] | None = None,
    stale: bool | BoolArray = False,
    late: bool | BoolArray = False,
) -> Evidence:
    """Return the evidence of a stage; `cost_range` is that of `range_of`, if it was asked before.

    `stale`: whether the policy learned anything between the decision and its outcome. `late`: that,
    or whether it decided while outcomes of earlier decisions were unknown. Of all trials, or of
    each.
    """
    arguments.kind("evidence_of", "stage", stage, Stage)
    return arguments.checked(_evidence, problem, stage, cost_range, stale, late)


def _evidence(
    problem: Problem,
    stage: Stage,
    cost_range: tuple[Array, Array] | None,
    stale: bool | BoolArray,
    late: bool | BoolArray,
) -> Evidence:
    low, high = cost_range or range_of(problem, stage.x, stage.decision.solution.z)
    in_part = stage.within is not None
    possible = _YES
    if is_ranged(problem) and not in_part:
        possible = np.asarray(problem.possible(stage.x, stage.xi), bool)[()]
    cost = stage.cost[()]  # [()]: of one trial, numbers, which are quicker than arrays
    evidence = Evidence(
        cost=cost,
        low=low[()],
        high=high[()],
        possible=possible,
        feasible=stage.feasible[()],
        loss=cost - stage.hindsight[()],
        belief=_report(stage, BeliefReport) or NO_BELIEF,
        arms=_report(stage, ArmsReport) or NO_ARMS,
        shadows=_shadows(problem, stage),
        stale=np.asarray(stale)[()],
        late=np.asarray(late)[()],
    )
    return _of_a_part(evidence, stage) if in_part else evidence


def _of_a_part(evidence: Evidence, stage: Stage) -> Evidence:
    """Return the evidence of an outcome that was seen in part: ends where its cost is not known."""
    assert stage.within is not None
    least, most, fits, misses, *_ = stage.within
    known = np.isfinite(evidence.cost)
    return evidence._replace(
        least=np.where(known, np.nan, least)[()],
        most=np.where(known, np.nan, most)[()],
        possible=(fits | misses)[()],
        undecided=stage.undecided[()],
        in_part=np.ones(known.shape, bool)[()],
    )


class Monitor:
    """Folds guarantees over stages as they come: the same numbers as `certify`, bit for bit.

    Always watched are the headline, for the cost of the decisions taken, and their feasibility;
    `shadows`, the names of those of a `Shadowed` policy, adds a comparison with each, and
    `guarantees` adds more. `scale`, declared in advance, makes the headline tighter: a range that
    the costs of few decisions can exceed; `difference_scale`, likewise of how far decisions lie
    apart, those of the comparisons. Each holds with confidence 1 - delta, the comparisons
    all together (the `guarantees`: with their own); the last line says how sure all of it is.

    >>> from bocopt import SampleAverage, run
    >>> from bocopt.paper import PaperStream
    >>> from bocopt.problems import Knapsack
    >>> problem = Knapsack(value=[12] * 4, capacity=[8] * 3, salvage=[3] * 3)
    >>> monitor = Monitor(problem, scale=160.0)
    >>> for stage in run(SampleAverage(problem), PaperStream(), seeds=0, horizon=200):
    ...     monitor.observe(stage)
    >>> monitor.headline().words(problem.sense)  # doctest: +ELLIPSIS
    'headline: With 95% confidence the average ... reward ... at least 81.91 (seen: 87.08)...'
    """

    def __init__(
        self,
        problem: Problem,
        guarantees: Sequence[Guarantee[Any]] = (),
        *,
        shadows: Sequence[str] = (),
        scale: float | None = None,
        difference_scale: float | None = None,
        delta: float = 0.05,
    ) -> None:
        arguments.kind("Monitor", "problem", problem, Problem)
        names = tuple(arguments.each("Monitor", "shadows", shadows, str))
        feasibility = Feasibility(alpha=problem.risk.alpha, delta=delta)
        self.guarantees: tuple[Guarantee[Any], ...] = (
            headline(scale, delta),
            feasibility,
            *comparisons(names, scale=difference_scale, delta=delta),
            *arguments.each("Monitor", "guarantees", guarantees, Guarantee),
        )
        sums = [g.sums if isinstance(g, Summed) else (i,) for i, g in enumerate(self.guarantees)]
        self._same = [sums.index(own) for own in sums]
        self.states: tuple[Any, ...] | None = None  # of the guarantees; None before any stage
        self._problem = problem
        self._lead: tuple[int, ...] | None = None
        self._claimed = False

    def claim(self, problem: Problem) -> None:
        """Reserve it for one agent, on the problem that it was made for."""
        if self.states is not None or self._claimed:
            raise arguments.wrong("Agent", "monitor", "one that nobody has used", self.guarantees)
        if self._problem is not problem and fingerprint(self._problem) != fingerprint(problem):
            raise arguments.wrong("Agent", "monitor", "one for the agent's problem", self._problem)
        self._claimed = True

    def restore(self, states: tuple[Any, ...] | None) -> None:
        """Go on from the states of one trial."""
        self.states, self._lead = states, None if states is None else ()

    def observe(
        self,
        stage: Stage,
        *,
        cost_range: tuple[Array, Array] | None = None,
        stale: bool = False,
        late: bool = False,
    ) -> None:
        """One more stage; the rest as in `evidence_of`."""
        evidence = evidence_of(self._problem, stage, cost_range=cost_range, stale=stale, late=late)
        lead = evidence.cost.shape
        if self._lead not in (None, lead):
            raise arguments.wrong("Monitor.observe", "stage", f"of trials {self._lead}", lead)
        self.states, self._lead = self.update(self.states, evidence), lead

    def update(self, states: tuple[Any, ...] | None, evidence: Evidence) -> tuple[Any, ...]:
        """The states after one more stage; None before any."""
        before = self.initial(evidence.cost.shape) if states is None else states
        found: list[Any] = []
        with nan_is_no_news():
            for i, same in enumerate(self._same):
                known = same < i  # the sums of one before it
                found.append(found[same] if known else self.guarantees[i].step(before[i], evidence))
        return tuple(found)

    def initial(self, lead: tuple[int, ...]) -> tuple[Any, ...]:
        """The states before any stage."""
        return tuple(guarantee.init(lead) for guarantee in self.guarantees)

    def certificates(self) -> list[Certificate]:
        """Return the certificate of each guarantee now, the headline first."""
        return [self._certificate(i) for i in range(len(self.guarantees))]

    def _certificate(self, i: int) -> Certificate:
        if self.states is None:
            raise ValueError("The monitor has not seen a stage yet.")
        found = self.guarantees[i].certificate(self.states[i])
        cure = f"{NO_RANGE} ({why_unranged(self._problem)})"
        return found._replace(note=found.note.replace(NO_RANGE, cure))

    def headline(self) -> Certificate:
        """The tightest bound on the cost of the decisions taken that applies now."""
        return self._certificate(0)

    def __repr__(self) -> str:
        """Return what it watches; `str` says what is guaranteed."""
        names = ", ".join(type(each).__name__ for each in self.guarantees)
        return f"<Monitor of {type(self._problem).__name__}: {names}>"

    def words(self, unit: str = "") -> list[str]:
        """Return a sentence on each certificate, and last with what confidence all hold.

        `unit` is that of costs, such as "EUR".
        """
        found = self.certificates()
        lines = [each.words(self._problem.sense, unit) for each in found]
        said = together(each.delta for each in found if (each.applicable | each.refuted).any())
        return [*lines, *[said] * bool(said)]

    def __str__(self) -> str:
        """Return the certificates in words, one a line, and with what confidence all hold."""
        return "\n".join(self.words())
