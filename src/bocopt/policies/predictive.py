"""Decide under a model's scenarios of xi given x."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.core import Array, Decision, IntArray, Model, Problem
from bocopt.models import Mixture
from bocopt.policies.baselines import before_any_outcome, checked_first


class Predicting(NamedTuple):
    """What the model knows, and of how many outcomes."""

    seeds: IntArray  # ()
    outcomes: IntArray  # () so far, the same for all trials
    model: Any

    @property
    def info(self) -> Any:
        """The model's."""
        return self.model.info


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
        if isinstance(self.model, Mixture) and self.model.dim_xi != self.problem.dims.xi:
            expected = f"one of {self.problem.dims.xi} components, as the problem's xi has"
            raise arguments.wrong("Predictive", "model", expected, self.model.dim_xi)

    def init(self, seeds: IntArray) -> Predicting:
        seeds = arguments.seeds_of("Predictive", seeds)
        return Predicting(seeds, np.array(0), self.model.init(seeds))

    def decide(self, state: Predicting, t: int, x: Array) -> Decision:
        if not state.outcomes:
            return before_any_outcome(self.problem, self.first, state.seeds.shape, x)
        return Decision(self.problem.solve(x, *self.model.sample(state.model, x)))

    def learn(
        self, state: Predicting, t: int, x: Array, decision: Decision, xi: Array
    ) -> Predicting:
        model = self.model.step(state.model, t, x, xi)
        return state._replace(outcomes=state.outcomes + 1, model=model)
