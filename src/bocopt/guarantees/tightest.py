"""The tightest of several guarantees, valid although it was chosen after the fact."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bocopt import arguments
from bocopt.guarantees.certificate import Certificate, Evidence, Guarantee
from bocopt.guarantees.decisions import Betting


@dataclass(frozen=True)
class Tightest:
    """The tightest of several guarantees for the same risk, of those that apply, trial by trial.

    All hold together but for a chance of the sum of their deltas, which is therefore its own.
    """

    guarantees: Sequence[Guarantee[Any]]

    def __post_init__(self) -> None:
        given = tuple(arguments.each("Tightest", "guarantees", self.guarantees, Guarantee))
        if not given:
            raise arguments.wrong("Tightest", "guarantees", "at least one", self.guarantees)
        object.__setattr__(self, "guarantees", given)

    @property
    def parts(self) -> Sequence[Guarantee[Any]]:
        """The guarantees, of which the tightest is taken."""
        return self.guarantees

    def init(self, lead: tuple[int, ...]) -> tuple[Any, ...]:
        """Return the state of each guarantee before any stage, with leading axes `lead`."""
        return tuple(guarantee.init(lead) for guarantee in self.guarantees)

    def step(self, state: tuple[Any, ...], evidence: Evidence) -> tuple[Any, ...]:
        """Return the state of each guarantee after one more stage."""
        pairs = zip(self.guarantees, state, strict=True)
        return tuple([guarantee.step(part, evidence) for guarantee, part in pairs])

    def certificate(self, state: tuple[Any, ...]) -> Certificate:
        """Return the certificate with the least bound of those that apply, trial by trial."""
        tried = [g.certificate(part) for g, part in zip(self.guarantees, state, strict=True)]
        if len({found.risk for found in tried}) > 1:
            risks = ", ".join(found.risk for found in tried)
            raise arguments.wrong("Tightest", "guarantees", "for one and the same risk", risks)
        delta = sum(found.delta for found in tried)
        if delta >= 1:
            raise arguments.wrong("Tightest", "guarantees", "of deltas with a sum below 1", delta)
        bounds = np.stack([found.bound for found in tried])
        best = np.where(np.isnan(bounds), np.inf, bounds).argmin(axis=0)
        parts = {
            name: np.take_along_axis(
                np.stack([getattr(found, name) for found in tried]), best[None], axis=0
            )[0]
            for name in ("value", "bound", "slack", "vacuous", "applicable")
        }
        chosen = {i: (best == i) & found.applicable for i, found in enumerate(tried)}
        by = [
            f"{tried[i].name}{f' in {int(w.sum())} of {w.size} trials' * (w.ndim > 0)}"
            for i, w in chosen.items()
            if w.any()
        ]
        alone = len(by) == 1  # then its note follows its name, which is not said again
        notes = [
            found.note if alone and chosen[i].any() else f"{found.name}: {found.note}"
            for i, found in sorted(enumerate(tried), key=lambda each: not chosen[each[0]].any())
            if found.note and (chosen[i] | ~found.applicable).any()
        ]
        return Certificate(
            name="headline",
            risk=tried[0].risk,
            reward=tried[0].reward,
            delta=delta,
            assumptions=tuple(
                dict.fromkeys(a for i in chosen if chosen[i].any() for a in tried[i].assumptions)
            ),
            note=" ".join([*[f"By {', '.join(by)}."] * bool(by), *notes]),
            **parts,
        )


def headline(scale: float | None = None, delta: float = 0.05) -> Tightest:
    """Return the guarantee for the expected cost of the decisions taken: tighter with a `scale`,
    declared in advance, that few ranges exceed.
    """
    return Tightest([Betting(scale=scale, delta=delta)])
