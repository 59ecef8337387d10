"""Gradients of losses that are smooth in the parameters: where a chain is pushed.

A drift only shapes the proposals of a `MetropolisHastings` chain, whose ratio corrects for it. So
it may be any loss's gradient, and need not be that of the loss in the posterior.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bocopt import arguments
from bocopt.core import Array, Differentiable, Problem
from bocopt.problems.hindsight import decide_as_if


class Drift(Protocol):
    """The gradient of a loss in theta."""

    def gradient(self, theta: Array, x: Array, xi: Array) -> Array:
        """(p), (k), (m) -> (p)."""
        ...


@dataclass(frozen=True)
class TowardsOutcome:
    """Gradient of strength |m(x; theta) - xi|^2 / 2: towards parameters that predict well.

    `strength` says how much of the task's loss comes with a squared error of 1.

    >>> from bocopt.paper import Linear
    >>> drift = TowardsOutcome(Linear(dim_x=1, dim_xi=1), strength=2.0)
    >>> drift.gradient(np.array([1.0, 0.5]), np.array([3.0]), np.array([3.0])).tolist()
    [3.0, 1.0]
    """

    predictor: Differentiable
    strength: float = 1.0

    def __post_init__(self) -> None:
        arguments.kind("TowardsOutcome", "predictor", self.predictor, Differentiable)
        arguments.number("TowardsOutcome", "strength", self.strength, "(0, inf)")

    def gradient(self, theta: Array, x: Array, xi: Array) -> Array:
        """Return the gradient (p) at theta (p), for a context (k) and an outcome (m)."""
        predicted = self.predictor.sample(theta, x, np.empty(self.predictor.dim_noise))
        return self.predictor.pullback(theta, x, self.strength * (predicted - xi))


@dataclass(frozen=True)
class TowardsDecision:
    """Subgradient of strength times the SPO+ loss: towards parameters that decide well, where costs
    are xi'z.

    A subgradient in the prediction p is 2 (P(xi) - P(2 p - xi)), with P(.) the best decision for
    given costs; where xi'z is a reward, the sign turns. Two programs a stage.

    Reference: Elmachtoub, Grigas (2022), Smart "predict, then optimize", Management Science.
    """

    problem: Problem
    predictor: Differentiable
    strength: float = 1.0

    def __post_init__(self) -> None:
        arguments.kind("TowardsDecision", "problem", self.problem, Problem)
        arguments.kind("TowardsDecision", "predictor", self.predictor, Differentiable)
        arguments.number("TowardsDecision", "strength", self.strength, "(0, inf)")
        dims = self.problem.dims
        if dims.z != dims.xi:
            expected = "one whose cost is xi'z, with a xi and a z of one size"
            raise arguments.wrong("TowardsDecision", "problem", expected, dims)

    def gradient(self, theta: Array, x: Array, xi: Array) -> Array:
        """Return a subgradient (p) at theta (p), for a context (k) and an outcome (m)."""
        predicted = self.predictor.sample(theta, x, np.empty(self.predictor.dim_noise))
        best = decide_as_if(self.problem, x, xi).z
        tempted = decide_as_if(self.problem, x, 2 * predicted - xi).z
        factor = 2 * self.strength * self.problem.sense.sign
        return self.predictor.pullback(theta, x, factor * (best - tempted))
