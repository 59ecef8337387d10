"""Decide under a model's scenarios of xi given x."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bocopt import arguments
from bocopt.core import Array, Decision, IntArray, Problem
from bocopt.models import Mixture
from bocopt.models.mixture import MixtureState
from bocopt.policies.baselines import before_any_outcome, checked_first


@dataclass(frozen=True)
class Predictive:
    """One program under scenarios of the model's law of xi given x.

    Before the first outcome `first` is decided, or what copes with a xi of any size from 0.01 to
    100.
    """

    problem: Problem
    model: Mixture
    first: Sequence[float] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "first", checked_first("Predictive", self.problem, self.first))
        arguments.kind("Predictive", "model", self.model, Mixture)
        if self.model.dim_xi != self.problem.dims.xi:
            expected = f"one of {self.problem.dims.xi} components, as the problem's xi has"
            raise arguments.wrong("Predictive", "model", expected, self.model.dim_xi)

    def init(self, seeds: IntArray) -> MixtureState:
        return self.model.init(seeds)

    def decide(self, state: MixtureState, t: int, x: Array) -> Decision:
        if not self.model.seen(state):
            return before_any_outcome(self.problem, self.first, state.seeds.shape, x)
        scenarios, size = self.model.sample(state, x), self.model.scenarios
        return Decision(self.problem.solve(x, scenarios, np.full(size, 1.0 / size)))

    def learn(
        self, state: MixtureState, t: int, x: Array, decision: Decision, xi: Array
    ) -> MixtureState:
        return self.model.step(state, t, x, xi)
