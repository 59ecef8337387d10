"""Policies for what is done today: a rule, or the decisions that were taken."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from bocopt import arguments
from bocopt.core import Array, Decision, IntArray
from bocopt.policies.baselines import Seeded, given


class _Unlearned:
    """It never learns."""

    def init(self, seeds: IntArray) -> Seeded:
        """Return the state, which is the seeds alone."""
        return Seeded(arguments.seeds_of(type(self).__name__, seeds))

    def learn(self, state: Seeded, t: int, x: Array, decision: Decision, xi: Array) -> Seeded:
        """Return the state as it is."""
        return state


@dataclass(frozen=True)
class Rule(_Unlearned):
    """Decides by a function of the context alone, (k) -> (d).

    >>> rule = Rule(lambda x: [2.0 * x[0]])
    >>> rule.decide(rule.init(0), 0, np.array([1.5])).solution.z
    array([3.])
    """

    lockstep: ClassVar[bool] = True
    function: Callable[[Array], ArrayLike]

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise arguments.wrong("Rule", "function", "a function of x", self.function)

    def decide(self, state: Seeded, t: int, x: Array) -> Decision:
        """Return the decision (d) of the function at context x (k), trial by trial."""
        lead = state.seeds.shape
        contexts = np.broadcast_to(x, (*lead, x.shape[-1]))
        found = [self._one(contexts[trial]) for trial in np.ndindex(lead)]
        return given(np.array(found).reshape(*lead, -1), lead)

    def _one(self, x: Array) -> Array:
        z = np.asarray(self.function(x), float)
        if z.ndim != 1:
            raise arguments.wrong("the rule", "z", "one decision (d)", z, arguments.RETURNED)
        return z


@dataclass(frozen=True)
class Recorded(_Unlearned):
    """The decisions that were taken, (T, d), a row a stage; there must be enough of them.

    >>> taken = Recorded([[3.0], [4.0]])
    >>> taken.decide(taken.init(0), 1, np.zeros(1)).solution.z
    array([4.])
    """

    lockstep: ClassVar[bool] = True
    decisions: ArrayLike

    def __post_init__(self) -> None:
        taken = arguments.array("Recorded", "decisions", self.decisions, (None, None)).copy()
        if taken.ndim != 2:
            raise arguments.wrong("Recorded", "decisions", "a table (T, d)", taken.shape)
        taken.setflags(write=False)
        object.__setattr__(self, "decisions", taken)

    def decide(self, state: Seeded, t: int, x: Array) -> Decision:
        """Return the decision (d) that was taken at stage t."""
        taken = np.asarray(self.decisions)
        if np.max(t) >= len(taken):
            raise ValueError(f"Recorded has {len(taken)} decisions; stage {np.max(t)} has none.")
        return given(taken[t], state.seeds.shape)
