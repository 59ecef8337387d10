"""Decide under a model's scenarios of xi given x."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.core import Array, Decision, IntArray, Model, Problem
from bocopt.numeric.stacking import alike
from bocopt.policies.baselines import before_any_outcome, checked_first

BEGUN = "with and without an outcome"


class Predicting(NamedTuple):
    """What the model knows, and of how many outcomes."""

    seeds: IntArray  # ()
    outcomes: IntArray  # () so far
    model: Any

    @property
    def info(self) -> Any:
        """The model's."""
        return self.model.info


def scenarios_of(model: Model[Any], state: Any, t: int, x: Array) -> tuple[Array, Array]:
    """A model's, at stage t: one that counts stages has to know it where outcomes are late."""
    if hasattr(model, "sample_at"):
        scenarios, w = model.sample_at(state, t, x)
        return scenarios, w
    return model.sample(state, x)


@dataclass(frozen=True)
class Predictive:
    """One program under scenarios of a model's law of xi given x.

    Any `Model` will do: `Mixture`, or a forecaster of yours. Before the first outcome `first` is
    decided, or what copes with a xi of any size from 0.01 to 100.
    """

    problem: Problem
    model: Model[Any]
    first: Sequence[float] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "first", checked_first("Predictive", self.problem, self.first))
        arguments.kind("Predictive", "model", self.model, Model)
        declared = getattr(self.model, "dim_xi", None)
        if declared not in (None, self.problem.dims.xi):
            expected = f"one of {self.problem.dims.xi} components, as the problem's xi has"
            raise arguments.wrong("Predictive", "model", expected, declared)

    @property
    def lockstep(self) -> bool:
        """Where the model is."""
        return arguments.lockstep(self.model)

    @property
    def takes_missing(self) -> bool:
        """Where the model does."""
        return arguments.takes_missing(self.model)

    def init(self, seeds: IntArray) -> Predicting:
        seeds = arguments.seeds_of("Predictive", seeds)
        return Predicting(seeds, np.zeros(seeds.shape, np.int64), self.model.init(seeds))

    def scenarios(self, state: Predicting, t: int, x: Array) -> tuple[Array, Array] | None:
        """The model's; None before the first outcome."""
        begun = alike(BEGUN, state.outcomes > 0)
        return scenarios_of(self.model, state.model, t, x) if begun else None

    def decide(self, state: Predicting, t: int, x: Array) -> Decision:
        found = self.scenarios(state, t, x)
        if found is None:
            return before_any_outcome(self.problem, self.first, state.seeds.shape, x)
        return Decision(self.problem.solve(x, *found))

    def learn(
        self, state: Predicting, t: int, x: Array, decision: Decision, xi: Array
    ) -> Predicting:
        model = self.model.step(state.model, t, x, xi)
        return state._replace(outcomes=state.outcomes + 1, model=model)
