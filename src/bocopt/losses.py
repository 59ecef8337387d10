"""Losses that drive the posterior: how bad the decision was that a parameter would have made."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from bocopt import arguments
from bocopt.core import Array, Density, Loss, Predictor, Problem
from bocopt.problems.hindsight import hindsight, regret


@dataclass(frozen=True)
class DecisionRegret:
    """l(theta, d) = c'(P(m(x; theta)); xi) - min over z of c(z; xi), with d = (x, xi)."""

    problem: Problem
    predictor: Predictor
    lower: ClassVar[float] = 0.0
    regret: ClassVar[bool] = True

    def __post_init__(self) -> None:
        arguments.kind("DecisionRegret", "problem", self.problem, Problem)
        arguments.kind("DecisionRegret", "predictor", self.predictor, Predictor)

    @property
    def dim_noise(self) -> int:
        """Number n of noise inputs, that of the predictor."""
        return self.predictor.dim_noise

    def __call__(self, theta: Array, x: Array, xi: Array, u: Array) -> Array:
        """Return the regret () of theta (p) at x (k), xi (m), with the predictor's noise (n)."""
        return regret(self.problem, x, self.predictor.sample(theta, x, u), xi)


@dataclass(frozen=True)
class Clipped:
    """A loss cut at `at`: what the theorems need, where a loss has no upper bound (E15).

    >>> from bocopt.paper import SigmoidLinear
    >>> from bocopt.problems import Knapsack
    >>> problem = Knapsack(value=[12], capacity=[8], salvage=[3])
    >>> loss = Clipped(DecisionRegret(problem, SigmoidLinear(dim_x=1, dim_xi=1)), at=100.0)
    >>> float(loss(np.zeros(2), np.zeros(1), np.array([1e-2]), np.zeros(0)))  # 9600 in hindsight
    100.0
    """

    loss: Loss
    at: float

    def __post_init__(self) -> None:
        arguments.kind("Clipped", "loss", self.loss, Loss)
        arguments.number("Clipped", "at", self.at, "(-inf, inf)")

    @property
    def lower(self) -> float:
        """Lower bound of the cut loss."""
        return min(self.loss.lower, self.at)

    @property
    def upper(self) -> float:
        """Upper bound of the cut loss: `at`."""
        return self.at

    @property
    def inner(self) -> Loss:
        """The loss: what it is stays, where it is cut."""
        return self.loss

    @property
    def dim_noise(self) -> int:
        """Number n of noise inputs, that of the loss."""
        return self.loss.dim_noise

    def __call__(self, theta: Array, x: Array, xi: Array, u: Array) -> Array:
        """Return the cut loss () of theta (p) at x (k) and xi (m), with noise (n)."""
        return np.minimum(self.loss(theta, x, xi, u), self.at)


@dataclass(frozen=True)
class LogScore:
    """-log density of the outcome: the posterior at lam 1 is Bayes' own."""

    predictor: Density
    lower: ClassVar[float] = -np.inf
    dim_noise: ClassVar[int] = 0

    def __post_init__(self) -> None:
        arguments.kind("LogScore", "predictor", self.predictor, Density)

    def __call__(self, theta: Array, x: Array, xi: Array, u: Array) -> Array:
        """Return -log density () of xi (m) at x (k) under theta (p); there is no noise (0)."""
        return -self.predictor.log_density(theta, x, xi)


@dataclass(frozen=True)
class _ByDraws:
    """Losses of a whole law, known by `draws` scenarios with the noise that all particles share."""

    predictor: Predictor
    draws: int = field(default=20, kw_only=True)
    lower: ClassVar[float] = 0.0
    _least_draws: ClassVar[int] = 1

    def __post_init__(self) -> None:
        name = type(self).__name__
        arguments.kind(name, "predictor", self.predictor, Predictor)
        arguments.integer(name, "draws", self.draws, f"[{self._least_draws}, inf)")

    @property
    def dim_noise(self) -> int:
        """Number n of noise inputs: those of the predictor for each draw."""
        return self.draws * self.predictor.dim_noise

    def _scenarios(self, theta: Array, x: Array, u: Array) -> Array:
        """Return scenarios (s, m) of the law of theta (p) at x (k), from noise (n)."""
        each = u.reshape(*u.shape[:-1], self.draws, self.predictor.dim_noise)
        scenarios = self.predictor.sample(theta[..., None, :], x[..., None, :], each)
        return np.broadcast_to(
            scenarios, (*scenarios.shape[:-2], self.draws, scenarios.shape[-1])
        )  # all alike where the predictor has no noise


@dataclass(frozen=True)
class EnergyScore(_ByDraws):
    """E|X - xi| - E|X - X'| / 2 with X, X' from the law: the continuous ranked probability score
    in one dimension. An unbiased estimate from the draws, which may be negative.

    Reference: Gneiting, Raftery (2007), Strictly proper scoring rules, prediction, and estimation.
    """

    lower: ClassVar[float] = -np.inf
    _least_draws: ClassVar[int] = 2

    def __call__(self, theta: Array, x: Array, xi: Array, u: Array) -> Array:
        """Return the estimated score () of theta (p) at x (k) and xi (m), from noise (n)."""
        scenarios = self._scenarios(theta, x, u)
        off = np.linalg.norm(scenarios - xi[..., None, :], axis=-1).mean(axis=-1)
        distances = np.linalg.norm(scenarios[..., :, None, :] - scenarios[..., None, :, :], axis=-1)
        score: Array = off - distances.sum(axis=(-1, -2)) / (2 * self.draws * (self.draws - 1))
        return score


@dataclass(frozen=True)
class PinballScore(_ByDraws):
    """Pinball loss of the law's quantiles at these levels, summed over levels and components.

    Reference: Koenker, Bassett (1978), Regression quantiles.
    """

    levels: Sequence[float] = (0.1, 0.25, 0.5, 0.75, 0.9)

    def __post_init__(self) -> None:
        super().__post_init__()
        levels = arguments.numbers("PinballScore", "levels", self.levels, "(0, 1)")
        object.__setattr__(self, "levels", levels)

    def __call__(self, theta: Array, x: Array, xi: Array, u: Array) -> Array:
        """Return the summed loss () of theta (p) at x (k) and xi (m), from noise (n)."""
        levels = np.array(self.levels)
        quantiles = np.quantile(self._scenarios(theta, x, u), levels, axis=-2)
        above = xi - quantiles  # (levels, ..., m)
        tilt = levels.reshape(-1, *[1] * (above.ndim - 1))
        score: Array = np.maximum(tilt * above, (tilt - 1) * above).sum(axis=-1).sum(axis=0)
        return score


@dataclass(frozen=True)
class ScenarioRegret(_ByDraws):
    """Decision regret where each parameter decides with its own law: one program per particle.

    c'(P(law of m(x; theta)); xi) - min over z of c(z; xi)
    """

    problem: Problem
    regret: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        arguments.kind("ScenarioRegret", "problem", self.problem, Problem)

    def __call__(self, theta: Array, x: Array, xi: Array, u: Array) -> Array:
        """Return the regret () of theta (p) at x (k) and xi (m), from noise (n)."""
        equal = np.full(self.draws, 1.0 / self.draws)
        z = self.problem.solve(self._scenarios(theta, x, u), equal, x).z
        return self.problem.cost(x, z, xi) - hindsight(self.problem, x, xi).cost
