"""What a guarantee says, and the contract of everything that says it."""

from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from bocopt.core import Array, BoolArray


class Evidence(NamedTuple):
    """What one stage shows; leading axes are free, NaN where there is nothing."""

    cost: Array  # () what was paid
    low: Array  # () least that could have been paid, known before xi
    high: Array  # () most, likewise
    feasible: BoolArray  # ()
    loss: Array  # () regret of the decision taken
    mean_loss: Array  # () E_pi loss under the belief before xi
    mix_loss: Array  # () -(1/lam) log E_pi exp(-lam loss), at the policy's own lam
    largest_loss: Array  # () of all particles
    moved: BoolArray  # () whether particles were moved after the stage


class Certificate(NamedTuple):
    """An upper bound on an average risk, which holds but for a chance of delta.

    Numbers are per stage. Where the guarantee does not apply, `bound` and `slack` are NaN and
    `reason` says why.
    """

    name: str
    value: Array  # () what was seen
    bound: Array  # ()
    slack: Array  # () bound - value
    delta: float
    assumptions: tuple[str, ...]
    vacuous: BoolArray  # () whether the bound says no more than the range does
    applicable: BoolArray  # ()
    reason: str = ""


S = TypeVar("S")


class Guarantee(Protocol[S]):
    """One fold over stages: the same live and afterwards, bit for bit."""

    def init(self, lead: tuple[int, ...]) -> S: ...
    def step(self, state: S, evidence: Evidence) -> S: ...
    def certificate(self, state: S) -> Certificate: ...


def certify(guarantee: Guarantee[Any], stages: Iterable[Evidence]) -> Certificate:
    """The certificate after all these stages, at least one."""
    state = None
    for evidence in stages:
        if state is None:
            state = guarantee.init(evidence.cost.shape)
        state = guarantee.step(state, evidence)
    if state is None:
        raise ValueError("There are no stages to certify.")
    return guarantee.certificate(state)


def certificate(
    name: str,
    *,
    value: Array,
    slack: Array,
    trivial: Array,
    delta: float,
    assumptions: tuple[str, ...],
    applicable: BoolArray,
    reason: str,
) -> Certificate:
    """value + slack, or nothing where it does not apply."""
    bound = np.where(applicable, value + slack, np.nan)
    return Certificate(
        name=name,
        value=value,
        bound=bound,
        slack=np.where(applicable, slack, np.nan),
        delta=delta,
        assumptions=assumptions,
        vacuous=np.asarray(bound >= trivial),
        applicable=applicable,
        reason="" if applicable.all() else reason,
    )
