"""Sample averages that read the context: by weights on past outcomes, or by their residuals."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, Protocol

import numpy as np

from bocopt import arguments
from bocopt.core import Array, Decision, IntArray, Problem
from bocopt.models.design import design, with_one
from bocopt.numeric.history import History, empty
from bocopt.policies.baselines import NoInfo, before_any_outcome, checked_first


class PairHistory(NamedTuple):
    """Contexts and outcomes so far, or the latest of them."""

    seeds: IntArray  # ()
    x: History  # (n, k)
    xi: History  # (n, m)
    info: NoInfo = NoInfo()


class Nearness(Protocol):
    """Weights of past outcomes, by how near their contexts are."""

    def __call__(self, distance: Array, dim_x: int) -> Array:
        """(n) squared distances of standardised contexts -> (n) weights, not all zero."""
        ...


@dataclass(frozen=True)
class Nearest:
    """The ceil(n^power) nearest count alike."""

    power: float = 0.85

    def __post_init__(self) -> None:
        arguments.number("Nearest", "power", self.power, "(0, 1]")

    def __call__(self, distance: Array, dim_x: int) -> Array:
        n = distance.shape[-1]
        last = min(n, int(np.ceil(n**self.power))) - 1
        edge = np.partition(distance, last, axis=-1)[..., last, None]
        return np.asarray((distance <= edge).astype(np.float64))


@dataclass(frozen=True)
class Near:
    """A Gaussian kernel of width `width` n^(-1/(k + 4)), in sd of the contexts."""

    width: float = 1.5

    def __post_init__(self) -> None:
        arguments.number("Near", "width", self.width, "(0, inf)")

    def __call__(self, distance: Array, dim_x: int) -> Array:
        width = self.width * distance.shape[-1] ** (-1.0 / (dim_x + 4))
        least = distance.min(axis=-1, keepdims=True)  # the nearest always counts
        return np.asarray(np.exp(-0.5 * (distance - least) / width**2))


@dataclass(frozen=True)
class _FromPairs:
    """Base of policies that keep the latest pairs of context and outcome, and start without any."""

    lockstep: ClassVar[bool] = True
    problem: Problem
    initial_decision: Sequence[float] | None = None
    latest: int = 1000

    def __post_init__(self) -> None:
        name = type(self).__name__
        object.__setattr__(
            self, "initial_decision", checked_first(name, self.problem, self.initial_decision)
        )
        arguments.integer(name, "latest", self.latest, "[1, inf)")

    def init(self, seeds: IntArray) -> PairHistory:
        """Return the state before any pair, with the leading axes of the seeds."""
        seeds = arguments.seeds_of(type(self).__name__, seeds)
        return PairHistory(seeds, empty(seeds.shape, 0), empty(seeds.shape, self.problem.dims.xi))

    def _checked_context(self, where: str, state: PairHistory, x: Array) -> Array:
        """(k), as many numbers as before."""
        size = state.x.rows.shape[-1] if state.xi.size else ...
        return arguments.finite_and_squarable(f"{type(self).__name__}.{where}", "x", x, size)

    def learn(
        self, state: PairHistory, t: int, x: Array, decision: Decision, xi: Array
    ) -> PairHistory:
        """Return the state with one more pair (k) and (m), of which the latest are kept."""
        name = f"{type(self).__name__}.learn"
        xi = arguments.finite_and_squarable(name, "xi", xi, self.problem.dims.xi)
        x = self._checked_context("learn", state, x)
        past = state.x if state.xi.size else empty(state.seeds.shape, x.shape[-1])
        return state._replace(
            x=past.append(x).at_most(self.latest), xi=state.xi.append(xi).at_most(self.latest)
        )


@dataclass(frozen=True)
class WeightedSampleAverage(_FromPairs):
    """The program under past outcomes, weighted by how near their contexts are.

    Reference: Bertsimas, Kallus (2020), From predictive to prescriptive analytics.
    """

    nearness: Nearness = field(default_factory=Nearest)

    def __post_init__(self) -> None:
        super().__post_init__()
        arguments.kind("WeightedSampleAverage", "nearness", self.nearness, Nearness)

    def decide(self, state: PairHistory, t: int, x: Array) -> Decision:
        """Return the decision (d) under past outcomes (n, m), weighted by nearness to x (k)."""
        x = self._checked_context("decide", state, x)
        if not state.xi.size:
            return before_any_outcome(self.problem, self.initial_decision, state.seeds.shape, x)
        past = design(state.x.rows, state.xi.rows, 1.0)
        here = past.regression.standard(x)
        weight = self.nearness(((past.x - here[..., None, :]) ** 2).sum(axis=-1), x.shape[-1])
        weight = weight / weight.sum(axis=-1, keepdims=True)
        return Decision(self.problem.solve(state.xi.rows, weight, x))


@dataclass(frozen=True)
class ResidualSampleAverage(_FromPairs):
    """The program under a regression's prediction plus each of its past residuals (ER-SAA).

    Where none of these outcomes was negative, no scenario is.

    Reference: Kannan, Bayraksan, Luedtke (2025), Data-driven sample average approximation with
    covariate information.
    """

    def decide(self, state: PairHistory, t: int, x: Array) -> Decision:
        """Return the decision (d) under the prediction at x (k) plus each past residual (m)."""
        x = self._checked_context("decide", state, x)
        if not state.xi.size:
            return before_any_outcome(self.problem, self.initial_decision, state.seeds.shape, x)
        past = design(state.x.rows, state.xi.rows, 1.0)
        ground = past.regression
        phi = with_one(ground.standard(x))[..., None, :]
        location = ground.mean[..., None, :] + np.matmul(phi, ground.coefficients)
        low = np.where(state.xi.rows.min(axis=-2) >= 0, 0.0, -np.inf)[..., None, :]
        scenarios = np.maximum(location + past.residual, low)
        n = scenarios.shape[-2]
        return Decision(self.problem.solve(scenarios, np.full(n, 1.0 / n), x))
