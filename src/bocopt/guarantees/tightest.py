"""The tightest of several guarantees, valid although it was chosen after the fact."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bocopt import arguments
from bocopt.core import BoolArray
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
        delta = _sum_of_deltas(tried)
        bounds = np.stack([found.bound for found in tried])
        best = np.where(np.isnan(bounds), np.inf, bounds).argmin(axis=0)
        parts = {
            name: np.take_along_axis(
                np.stack([getattr(found, name) for found in tried]), best[None], axis=0
            )[0]
            for name in ("value", "least", "bound", "slack", "vacuous", "applicable")
        }
        trials = [(best == i) & found.applicable for i, found in enumerate(tried)]
        used = [found for found, where in zip(tried, trials, strict=True) if where.any()]
        return Certificate(
            name="headline",
            risk=tried[0].risk,
            reward=tried[0].reward,
            delta=delta,
            assumptions=tuple(dict.fromkeys(a for found in used for a in found.assumptions)),
            note=_note(tried, trials),
            **parts,
        )


def _sum_of_deltas(tried: Sequence[Certificate]) -> float:
    if len({found.risk for found in tried}) > 1:
        risks = ", ".join(found.risk for found in tried)
        raise arguments.wrong("Tightest", "guarantees", "for one and the same risk", risks)
    delta = sum(found.delta for found in tried)
    if delta >= 1:
        raise arguments.wrong("Tightest", "guarantees", "of deltas with a sum below 1", delta)
    return delta


def _note(tried: Sequence[Certificate], trials: Sequence[BoolArray]) -> str:
    """Return which are the tightest in which trials, then their notes, then those of others."""
    pairs = sorted(zip(tried, trials, strict=True), key=lambda pair: not pair[1].any())
    used = [_named(*pair) for pair in pairs if pair[1].any()]
    notes = [f"By {', '.join(used)}."] if used else []
    for found, where in pairs:
        if found.note and (where | ~found.applicable).any():
            alone = len(used) == 1 and where.any()  # then its note follows its name
            notes.append(found.note if alone else f"{found.name}: {found.note}")
    return " ".join(notes)


def _named(found: Certificate, trials: BoolArray) -> str:
    many = f" in {int(trials.sum())} of {trials.size} trials" if trials.ndim else ""
    return f"{found.name}{many}"


def headline(scale: float | None = None, delta: float = 0.05) -> Tightest:
    """Return the guarantee for the expected cost of the decisions taken: tighter with a `scale`,
    declared in advance, that few ranges exceed.
    """
    return Tightest([Betting(scale=scale, delta=delta)])
