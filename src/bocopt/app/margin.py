"""Rule of now, with a margin that is learned: the fairest rival that a rule can be."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bocopt import arguments
from bocopt.core import Array, Decision, IntArray, Problem, judge
from bocopt.policies.baselines import NoInfo, given

_MOST_NAMES = 20  # in an error
_MARGINS = tuple(round(0.8 + 0.05 * step, 2) for step in range(25))  # up to 2


class Named(dict[str, float]):
    """A context by name, as a rule sees it."""

    def __missing__(self, name: str) -> float:
        listed = ", ".join(f"'{one}'" for one in list(self)[:_MOST_NAMES])
        more = f" and {len(self) - _MOST_NAMES} more" if len(self) > _MOST_NAMES else ""
        raise ValueError(
            f"A rule asks for {name!r}, which the context does not have. It has: {listed}{more}."
        )


def named(names: Sequence[str], x: Array) -> Named:
    """Return the numbers (k) of a context by name.

    >>> named(["price"], np.array([2.5]))["price"]
    2.5
    """
    return Named(zip(names, x.tolist(), strict=True))


@dataclass(frozen=True)
class BestMargin:
    """A rule with a margin, for `problem.py`: a study that names it plays the best one so far.

    rule        decides by the context, by name, and by a `margin` that has a default
    margins     that are tried on every outcome
    """

    rule: Callable[..., ArrayLike]
    margins: Sequence[float] = _MARGINS

    def __post_init__(self) -> None:
        if not callable(self.rule):
            expected = "a function of the context and of a margin"
            raise arguments.wrong("BestMargin", "rule", expected, self.rule)
        margins = arguments.numbers("BestMargin", "margins", self.margins, "(-inf, inf)")
        object.__setattr__(self, "margins", margins)

    def policy(self, problem: Problem, x_names: tuple[str, ...]) -> "TunedRule":
        """Return the policy that a study plays."""
        return TunedRule(problem, self.rule, tuple(self.margins), x_names)


class Tried(NamedTuple):
    """State of a `TunedRule`: what each margin would have come to, so far."""

    seeds: IntArray  # ()
    outcomes: Array  # () at which margins differed
    paid: Array  # (margins)
    met: Array  # (margins) how often it was feasible
    info: NoInfo = NoInfo()


@dataclass(frozen=True)
class TunedRule:
    """Follows the margin that would have cost the least so far, of those that met the target.

    Where none met it, the one that came nearest; before the first outcome, the rule's own. Outcomes
    at which all margins decide alike say nothing of them.
    """

    lockstep: ClassVar[bool] = True
    problem: Problem
    rule: Callable[..., ArrayLike]
    margins: tuple[float, ...]
    x_names: tuple[str, ...]

    def init(self, seeds: IntArray) -> Tried:
        """Return the state before any outcome, with the leading axes of the seeds."""
        seeds = arguments.seeds_of("TunedRule", seeds)
        nothing = np.zeros((*seeds.shape, len(self.margins)))
        return Tried(seeds, np.zeros(seeds.shape), nothing, nothing)

    def decide(self, state: Tried, t: int, x: Array) -> Decision:
        """Return decisions (..., d) at a context (k), by the best margin of each seed."""
        lead = state.seeds.shape
        contexts, best = np.broadcast_to(x, (*lead, x.shape[-1])), self._best(state)
        found = [
            self._one(contexts[trial], {"margin": self.margins[best[trial]]} if seen else {})
            for trial, seen in np.ndenumerate(state.outcomes)
        ]
        return given(np.array(found).reshape(*lead, -1), lead)

    def learn(self, state: Tried, t: int, x: Array, decision: Decision, xi: Array) -> Tried:
        """Return the state with what each margin would have paid at an outcome (m)."""
        lead = state.seeds.shape
        contexts = np.broadcast_to(x, (*lead, x.shape[-1]))
        rows = [
            [self._one(contexts[trial], {"margin": margin}) for margin in self.margins]
            for trial in np.ndindex(lead)
        ]
        z = np.array(rows).reshape(*lead, len(self.margins), -1)
        x, xi = x[..., None, :], xi[..., None, :]
        # Where all decide alike, as before the past that a rule reads is known, none has failed.
        tells = (z != z[..., :1, :]).any(axis=(-2, -1))
        cost, violation = judge(self.problem, x, z, xi)
        return state._replace(
            outcomes=state.outcomes + tells,
            paid=state.paid + tells[..., None] * cost,
            met=state.met + (tells[..., None] & (violation <= 0)),
        )

    def _best(self, state: Tried) -> IntArray:
        """Return the number () of the best margin; of equals the first."""
        alpha = self.problem.risk.alpha
        target = 0.0 if alpha is None else alpha * state.outcomes[..., None] - 1e-9
        reached = np.minimum(state.met, np.maximum(target, 0.0))
        enough = reached >= reached.max(axis=-1, keepdims=True)
        return np.asarray(np.where(enough, state.paid, np.inf).argmin(axis=-1), np.int64)

    def _one(self, x: Array, margin: Mapping[str, Any]) -> Array:
        """Return the decision (d) of the rule at a context (k)."""
        z = np.asarray(self.rule(named(self.x_names, x), **margin), float)
        if z.ndim != 1:
            raise arguments.wrong("the rule", "z", "one decision (d)", z, arguments.RETURNED)
        return z
