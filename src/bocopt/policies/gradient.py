"""One model, learned by online gradient steps on the error of its predictions or decisions."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple
from warnings import warn

import numpy as np

from bocopt import arguments
from bocopt.core import Array, Decision, Differentiable, IntArray, Prior, Problem
from bocopt.numeric import noise
from bocopt.problems.hindsight import decide_as_if, regret


class AdamState(NamedTuple):
    """Running moments of the gradient."""

    first: Array  # (p)
    second: Array  # (p)
    steps: IntArray  # () gradients so far


@dataclass(frozen=True)
class Adam:
    """Adam with a step-decayed learning rate: rate * decay^floor(n / decay_every) (E17).

    n is the number of gradients so far.

    Reference: Kingma, Ba (2015), Adam: a method for stochastic optimization.
    """

    rate: float = 0.1
    decay: float = 0.99
    decay_every: int = 100
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8

    def __post_init__(self) -> None:
        arguments.number("Adam", "rate", self.rate, "(0, inf)")
        arguments.number("Adam", "decay", self.decay, "(0, 1]")
        arguments.integer("Adam", "decay_every", self.decay_every, "[1, inf)")
        arguments.number("Adam", "beta1", self.beta1, "[0, 1)")
        arguments.number("Adam", "beta2", self.beta2, "[0, 1)")
        arguments.number("Adam", "epsilon", self.epsilon, "(0, inf)")

    def init(self, theta: Array) -> AdamState:
        """Return moments (p) of zero, before any gradient."""
        none = np.zeros(theta.shape[:-1], np.int64)
        return AdamState(np.zeros_like(theta), np.zeros_like(theta), none)

    def step(self, state: AdamState, theta: Array, g: Array) -> tuple[Array, AdamState]:
        """The parameters after one more gradient."""
        n = np.asarray(state.steps)
        first = self.beta1 * state.first + (1 - self.beta1) * g
        second = self.beta2 * state.second + (1 - self.beta2) * g * g
        unbiased = first / (1 - _powers(self.beta1, n + 1))
        scale = np.sqrt(second / (1 - _powers(self.beta2, n + 1))) + self.epsilon
        rate = self.rate * _powers(self.decay, n // self.decay_every)
        return theta - rate * unbiased / scale, AdamState(first, second, n + 1)


def _powers(number: float, exponents: IntArray) -> Array:
    """() -> (1): one by one, as arrays and numbers are raised to powers with other bits."""
    found = [number ** int(n) for n in exponents.reshape(-1)]
    return np.array(found).reshape(*exponents.shape, 1)


class GradientInfo(NamedTuple):
    """Error of the last prediction; NaN before the first."""

    squared_error: Array  # () mean squared error of the prediction


class GradientState(NamedTuple):
    """One model."""

    seeds: IntArray  # ()
    theta: Array  # (p)
    adam: AdamState
    info: GradientInfo


@dataclass(frozen=True, kw_only=True)
class OneModel(ABC):
    """Start from a draw of the prior, decide with the prediction, follow a gradient of it.

    A step that would leave a number that is not finite is left out, with a warning.
    """

    problem: Problem
    predictor: Differentiable
    prior: Prior
    adam: Adam = field(default_factory=Adam)

    def __post_init__(self) -> None:
        name = type(self).__name__
        arguments.kind(name, "problem", self.problem, Problem)
        arguments.kind(name, "predictor", self.predictor, Differentiable)
        arguments.kind(name, "prior", self.prior, Prior)
        arguments.kind(name, "adam", self.adam, Adam)
        if self.prior.dim != self.predictor.dim:
            raise arguments.wrong(
                name, "prior", f"of dimension {self.predictor.dim}", self.prior.dim
            )
        if self.predictor.dim_noise:
            raise arguments.wrong(name, "predictor", "one without noise", self.predictor)

    @abstractmethod
    def gradient(self, seeds: IntArray, t: int, x: Array, predicted: Array, xi: Array) -> Array:
        """The gradient of the policy's loss in the prediction, (m)."""

    def init(self, seeds: IntArray) -> GradientState:
        """Return a draw (p) of the prior before any stage, with the leading axes of the seeds."""
        seeds = arguments.seeds_of(type(self).__name__, seeds)
        theta = self.prior.sample(noise.normal(seeds, 0, "prior", (self.prior.dim,)))
        info = GradientInfo(np.full(seeds.shape, np.nan))
        return GradientState(seeds, theta, self.adam.init(theta), info)

    def decide(self, state: GradientState, t: int, x: Array) -> Decision:
        """Return the best decision (d) for the prediction (m) at context x (k)."""
        predicted = self.predictor.sample(state.theta, x, np.empty(0))
        return Decision(decide_as_if(self.problem, x, predicted))

    def learn(
        self, state: GradientState, t: int, x: Array, decision: Decision, xi: Array
    ) -> GradientState:
        """Return the state after one gradient step, at context x (k) and outcome xi (m)."""
        xi = arguments.inner(type(self).__name__, "xi", xi, self.problem.dims.xi)
        with np.errstate(over="ignore", invalid="ignore"):  # such a step is not taken
            predicted = self.predictor.sample(state.theta, x, np.empty(0))
            g = self.gradient(state.seeds, t, x, predicted, xi)
            g_theta = self.predictor.pullback(state.theta, x, g)
            theta, adam = self.adam.step(state.adam, state.theta, g_theta)
            info = GradientInfo(((predicted - xi) ** 2).mean(axis=-1))
        return self._kept_finite(state, GradientState(state.seeds, theta, adam, info))

    def _kept_finite(self, old: GradientState, new: GradientState) -> GradientState:
        """The new state, but for trials where a number would be lost for ever."""
        parts = (new.theta, new.adam.first, new.adam.second)
        fine = np.all([np.isfinite(part).all(axis=-1) for part in parts], axis=0)
        if fine.all():
            return new
        name = type(self).__name__
        warn(f"A step of {name} was not finite, and was left out. It goes on.", stacklevel=3)
        first, second, theta = (
            np.where(fine[..., None], after, before)
            for after, before in (
                (new.adam.first, old.adam.first),
                (new.adam.second, old.adam.second),
                (new.theta, old.theta),
            )
        )
        return new._replace(theta=theta, adam=new.adam._replace(first=first, second=second))


@dataclass(frozen=True, kw_only=True)
class PtO(OneModel):
    """Predict, then optimise: descend the root of the summed squared error |predicted - xi|."""

    lockstep: ClassVar[bool] = True

    def gradient(self, seeds: IntArray, t: int, x: Array, predicted: Array, xi: Array) -> Array:
        """Return the error of the prediction divided by its length (m); 0 where there is none."""
        error = predicted - xi
        root = np.sqrt((error**2).sum(axis=-1, keepdims=True))
        unit: Array = np.divide(error, root, out=np.zeros_like(error), where=root > 0)  # E22
        return unit


@dataclass(frozen=True, kw_only=True)
class DFL(OneModel):
    """Decision-focused learning: descend the regret of the decision, by its score function.

        g = (1/K) sum_k regret(P(predicted + e_k)) e_k,   e_k ~ N(0, I)

    `floor`, where given, clips the perturbed predictions from below: weights near or under zero
    make the program unbounded but for its box (E18).
    """

    lockstep: ClassVar[bool] = True
    perturbations: int = 20
    floor: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        arguments.integer("DFL", "perturbations", self.perturbations, "[1, inf)")
        if self.floor is not None:
            arguments.number("DFL", "floor", self.floor, "(-inf, inf)")

    def gradient(self, seeds: IntArray, t: int, x: Array, predicted: Array, xi: Array) -> Array:
        """Return the estimate (m) of the regret's gradient, from random perturbations."""
        e = noise.normal(seeds, t, "dfl.perturbation", (self.perturbations, predicted.shape[-1]))
        perturbed = predicted[..., None, :] + e
        if self.floor is not None:
            perturbed = np.maximum(perturbed, self.floor)
        loss = regret(self.problem, x[..., None, :], perturbed, xi[..., None, :])
        g: Array = np.matmul(loss[..., None, :], e)[..., 0, :] / self.perturbations
        return g
