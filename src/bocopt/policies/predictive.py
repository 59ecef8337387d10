"""Decide under a model's scenarios of xi given x."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.abilities import ForOutcomes, KnowsAtOnce, LearnsParts, TakesLaw
from bocopt.core import Array, Decision, IntArray, Model, Problem
from bocopt.numeric.stacking import alike
from bocopt.policies.baselines import before_any_outcome, checked_first
from bocopt.wrappers import has, sample_at, says

_BEGUN = "with and without an outcome"


class Predicting(NamedTuple):
    """State of the model, and the number of outcomes it has seen."""

    seeds: IntArray  # ()
    outcomes: IntArray  # () so far
    model: Any

    @property
    def info(self) -> Any:
        """The model's."""
        return self.model.info


def of_problem(x: Array, policy: object) -> Array:
    """Return the context (k) of the problem: without a law (g) that is given to a policy beside."""
    given: int = says(policy, TakesLaw) or 0
    return x[..., : x.shape[-1] - given] if given else x


def can_predict(model: Model[Any], outcomes: IntArray) -> bool:
    """Return True from the first outcome on, or at once if a model says `knows_at_once`."""
    return bool(says(model, KnowsAtOnce)) or alike(_BEGUN, outcomes > 0)


@dataclass(frozen=True)
class Predictive:
    """One program under scenarios of a model's law of xi given x.

    Any `Model` will do: `Mixture`, or a forecaster of yours. Before the first outcome
    `initial_decision` is decided, or what copes with a xi of any size from 0.01 to 100; unless the
    model says `knows_at_once`, as `Informed` does.
    """

    problem: Problem
    model: Model[Any]
    initial_decision: Sequence[float] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(
            self,
            "initial_decision",
            checked_first("Predictive", self.problem, self.initial_decision),
        )
        arguments.kind("Predictive", "model", self.model, Model)
        declared = says(self.model, ForOutcomes)
        if declared not in (None, self.problem.dims.xi):
            expected = f"one of {self.problem.dims.xi} components, as the problem's xi has"
            raise arguments.wrong("Predictive", "model", expected, declared)

    @property
    def inner(self) -> Model[Any]:
        """The model."""
        return self.model

    @property
    def learns_parts(self) -> bool:
        """True if the model does."""
        model: Any = self.model
        return has(model, LearnsParts) and bool(model.learns_parts)

    def inside(self, state: Predicting, memo: Any) -> tuple[Any, Any]:
        """Return the model's state, and no memo."""
        return state.model, ()

    def init(self, seeds: IntArray) -> Predicting:
        """Return the model's state before any outcome, with the leading axes of the seeds."""
        seeds = arguments.seeds_of("Predictive", seeds)
        return Predicting(seeds, np.zeros(seeds.shape, np.int64), self.model.init(seeds))

    def scenarios(self, state: Predicting, t: int, x: Array) -> tuple[Array, Array] | None:
        """The model's; None before the first outcome, unless it knows at once."""
        if not can_predict(self.model, state.outcomes):
            return None
        return sample_at(self.model, state.model, t, x)

    def decide(self, state: Predicting, t: int, x: Array) -> Decision:
        """Return the decision (d) under the model's scenarios; without any, the initial one."""
        found = self.scenarios(state, t, x)
        if found is None:
            own, lead = of_problem(x, self.model), state.seeds.shape
            return before_any_outcome(self.problem, self.initial_decision, lead, own)
        return Decision(self.problem.solve(*found, of_problem(x, self.model)))

    def learn(
        self, state: Predicting, t: int, x: Array, decision: Decision, xi: Array
    ) -> Predicting:
        """Return the state after the model has seen outcome xi (m) at context x (k)."""
        model = self.model.step(state.model, t, x, xi)
        return state._replace(outcomes=state.outcomes + 1, model=model)
