"""Watch a stream live: every certificate after every stage, in constant memory."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bocopt import arguments
from bocopt.core import ArmsReport, Array, BeliefReport, Problem, Ranged
from bocopt.fingerprint import fingerprint
from bocopt.guarantees.certificate import NO_ARMS, NO_BELIEF, Certificate, Evidence, Guarantee
from bocopt.guarantees.feasibility import Feasibility
from bocopt.guarantees.tightest import headline
from bocopt.run import Stage


def range_of(problem: Problem, x: Array, z: Array) -> tuple[Array, Array]:
    """(k), (d) -> (), (): between what the cost must lie, where the problem is `Ranged`."""
    if isinstance(problem, Ranged):
        low, high = (np.asarray(end, float) for end in problem.range(x, z))
        if not low.shape == high.shape == z.shape[:-1]:
            shapes = f"{low.shape} and {high.shape}"
            raise arguments.wrong("the problem", "range", f"two ends {z.shape[:-1]}", shapes)
        return low, high
    unknown = np.full(z.shape[:-1], np.nan)
    return unknown, unknown


def evidence_of(
    problem: Problem,
    stage: Stage,
    *,
    cost_range: tuple[Array, Array] | None = None,
    stale: bool = False,
    late: bool = False,
) -> Evidence:
    """What a stage shows; `cost_range` is that of `range_of`, if it was asked before.

    `stale`: whether the policy learned anything between the decision and its outcome. `late`: that,
    or whether it decided while outcomes of earlier decisions were unknown.
    """
    arguments.kind("evidence_of", "stage", stage, Stage)
    z, lead = stage.decision.solution.z, stage.cost.shape
    low, high = cost_range or range_of(problem, stage.x, z)
    beliefs = [report for report in stage.reports if isinstance(report, BeliefReport)]
    arms = [report for report in stage.reports if isinstance(report, ArmsReport)]
    possible = np.ones(lead, bool)
    if isinstance(problem, Ranged):
        possible = problem.possible(stage.x, stage.xi)
    return Evidence(
        cost=stage.cost,
        low=low,
        high=high,
        possible=possible,
        feasible=stage.feasible,
        loss=stage.cost - stage.hindsight,
        belief=beliefs[0] if beliefs else NO_BELIEF,
        arms=arms[0] if arms else NO_ARMS,
        stale=np.full(lead, stale),
        late=np.full(lead, late),
    )


class Monitor:
    """Folds guarantees over stages as they come: the same numbers as `certify`, bit for bit.

    Always watched are the headline, for the cost of the decisions taken, and their feasibility;
    `guarantees` adds more. `scale`, declared in advance, makes the headline tighter: a range that
    the costs of few decisions can exceed. Each holds with confidence 1 - delta (the `guarantees`:
    with their own).

    >>> from bocopt import Knapsack, PaperStream, SampleAverage, run
    >>> problem = Knapsack(value=[12] * 4, capacity=[8] * 3, salvage=[3] * 3)
    >>> monitor = Monitor(problem, scale=160.0)
    >>> for stage in run(SampleAverage(problem), problem, PaperStream(), seeds=0, horizon=200):
    ...     monitor.observe(stage)
    >>> monitor.headline().words(problem.sense)  # doctest: +ELLIPSIS
    'headline: With 95% confidence the average ... reward ... at least 78.25 (seen: 87.08)...'
    """

    def __init__(
        self,
        problem: Problem,
        guarantees: Sequence[Guarantee[Any]] = (),
        *,
        scale: float | None = None,
        delta: float = 0.05,
    ) -> None:
        arguments.kind("Monitor", "problem", problem, Problem)
        feasibility = Feasibility(alpha=problem.risk.alpha, delta=delta)
        self.guarantees: tuple[Guarantee[Any], ...] = (
            headline(scale, delta),
            feasibility,
            *arguments.each("Monitor", "guarantees", guarantees, Guarantee),
        )
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
        self.states, self._lead = self.after(self.states, evidence), lead

    def after(self, states: tuple[Any, ...] | None, evidence: Evidence) -> tuple[Any, ...]:
        """The states after one more stage; None before any."""
        before = self.begun(evidence.cost.shape) if states is None else states
        pairs = zip(self.guarantees, before, strict=True)
        return tuple(guarantee.step(state, evidence) for guarantee, state in pairs)

    def begun(self, lead: tuple[int, ...]) -> tuple[Any, ...]:
        """The states before any stage."""
        return tuple(guarantee.init(lead) for guarantee in self.guarantees)

    def certificates(self) -> list[Certificate]:
        """What each guarantee says now, the headline first."""
        return [self._certificate(i) for i in range(len(self.guarantees))]

    def _certificate(self, i: int) -> Certificate:
        if self.states is None:
            raise ValueError("The monitor has not seen a stage yet.")
        return self.guarantees[i].certificate(self.states[i])

    def headline(self) -> Certificate:
        """The tightest bound on the cost of the decisions taken that applies now."""
        return self._certificate(0)

    def __str__(self) -> str:
        """What each guarantee says now, a line each."""
        return "\n".join(found.words(self._problem.sense) for found in self.certificates())
