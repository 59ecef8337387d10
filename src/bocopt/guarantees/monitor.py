"""Watch a stream live: every certificate after every stage, in constant memory."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bocopt import arguments
from bocopt.core import Problem
from bocopt.guarantees.certificate import Certificate, Evidence, Guarantee
from bocopt.guarantees.sequences import EmpiricalBernstein, HoeffdingMixture
from bocopt.run import Stage


def evidence_of(problem: Problem, stage: Stage) -> Evidence:
    """What a stage shows; ranges come from a problem that is `Ranged`."""
    nan = np.full(stage.cost.shape, np.nan)
    low, high = nan, nan
    if hasattr(problem, "range"):
        low, high = problem.range(stage.x, stage.decision.solution.z)
    known = stage.info
    return Evidence(
        cost=stage.cost,
        low=low,
        high=high,
        feasible=stage.feasible,
        loss=stage.cost - stage.hindsight,
        mean_loss=known.get("mean_loss", nan),
        mix_loss=known.get("mix_loss", nan),
        largest_loss=known.get("largest_loss", nan),
        moved=np.asarray(known.get("rejuvenated", np.zeros(stage.cost.shape)) > 0),
    )


def for_decisions(scale: float | None = None, delta: float = 0.05) -> list[Guarantee[Any]]:
    """Certificates for the risk of the decisions taken, with delta shared out among them.

    With a `scale` declared in advance, empirical Bernstein is one of them.
    """
    if scale is None:
        return [HoeffdingMixture(delta=delta)]
    return [
        HoeffdingMixture(delta=delta / 2),
        EmpiricalBernstein(scale=scale, delta=delta / 2),
    ]


class Monitor:
    """Folds guarantees over stages as they come: the same numbers as `certify`, bit for bit.

    >>> from bocopt import Knapsack, PaperStream, SampleAverage, run
    >>> problem = Knapsack(value=[12] * 4, capacity=[8] * 3, salvage=[3] * 3)
    >>> monitor = Monitor(problem, for_decisions(scale=160.0))
    >>> for stage in run(SampleAverage(problem), problem, PaperStream(), seeds=0, horizon=200):
    ...     monitor.observe(stage)
    >>> headline = monitor.headline()
    >>> headline.name, bool(headline.vacuous)
    ('empirical Bernstein', False)
    """

    def __init__(self, problem: Problem, guarantees: Sequence[Guarantee[Any]]) -> None:
        if not guarantees:
            raise arguments.wrong("Monitor", "guarantees", "at least one", guarantees)
        self._problem, self._guarantees = problem, tuple(guarantees)
        self._states: list[Any] | None = None

    def observe(self, stage: Stage) -> None:
        """One more stage."""
        evidence = evidence_of(self._problem, stage)
        states = self._states or [g.init(evidence.cost.shape) for g in self._guarantees]
        pairs = zip(self._guarantees, states, strict=True)
        self._states = [guarantee.step(state, evidence) for guarantee, state in pairs]

    def certificates(self) -> list[Certificate]:
        """What each guarantee says now."""
        if self._states is None:
            raise ValueError("The monitor has not seen a stage yet.")
        pairs = zip(self._guarantees, self._states, strict=True)
        return [guarantee.certificate(state) for guarantee, state in pairs]

    def headline(self) -> Certificate:
        """The tightest that applies, for one trial: all that were tried are paid for.

        Its delta is the sum of theirs. For guarantees that bound the same risk.
        """
        tried = self.certificates()
        if any(found.bound.ndim for found in tried):
            raise ValueError("Monitor.headline is for one trial; many have certificates().")
        applicable = [found for found in tried if found.applicable]
        if not applicable:
            return tried[0]
        best = min(applicable, key=lambda found: float(found.bound))
        return best._replace(delta=sum(found.delta for found in tried))
