"""Ways to decide from a belief: aggregate it (BMA), draw from it (BGS), and three more."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Generic

import numpy as np

from bocopt import arguments
from bocopt.abilities import KnowsWidth, TakesMissing
from bocopt.core import Array, B, Decision, IntArray, Predictor, Problem, Sampler, Solution, Status
from bocopt.numeric import noise
from bocopt.numeric.weights import multinomial
from bocopt.problems.hindsight import decide_as_if
from bocopt.wrappers import says


@dataclass(frozen=True)
class FromBelief(ABC, Generic[B]):
    """A policy whose state is the sampler's belief."""

    withholds: ClassVar[Mapping[type, str]] = {TakesMissing: "the predictor reads the context"}
    problem: Problem
    predictor: Predictor
    sampler: Sampler[B]

    def __post_init__(self) -> None:
        name = type(self).__name__
        arguments.kind(name, "problem", self.problem, Problem)
        arguments.kind(name, "predictor", self.predictor, Predictor)
        arguments.kind(name, "sampler", self.sampler, Sampler)

    @property
    def parts(self) -> tuple[Sampler[B]]:
        """The sampler."""
        return (self.sampler,)

    @abstractmethod
    def decide(self, state: B, t: int, x: Array) -> Decision:
        """Return the decision (d) from the belief at context x (k)."""
        ...

    def init(self, seeds: IntArray) -> B:
        """Return the sampler's belief before any stage, with the leading axes of the seeds."""
        belief = self.sampler.init(seeds)
        if belief.theta.shape[-1] != self.predictor.dim:
            expected = f"one over {self.predictor.dim} parameters, as the predictor has"
            raise arguments.wrong(type(self).__name__, "sampler", expected, belief.theta.shape[-1])
        return belief

    def learn(self, state: B, t: int, x: Array, decision: Decision, xi: Array) -> B:
        """Return the sampler's belief after outcome xi (m) at context x (k)."""
        return self.sampler.step(state, t, x, xi)

    def scenarios(self, state: B, t: int, x: Array) -> tuple[Array, Array]:
        """Return the predictions (N, m) of the particles, and their weights (N)."""
        return self._predictions(state, t, x), np.exp(state.log_w)

    def _predictions(self, state: B, t: int, x: Array) -> Array:
        """(N, m): what each particle predicts."""
        seen = says(state, KnowsWidth)  # of the contexts so far, where the belief knows it
        if seen is not None:
            x = arguments.inner(f"{type(self).__name__}.decide", "x", x, seen)
        shape = (state.theta.shape[-2], self.predictor.dim_noise)
        u = noise.normal(state.seeds, t, "predictive", shape)
        return self.predictor.sample(state.theta, x[..., None, :], u)


@dataclass(frozen=True)
class BMA(FromBelief[B]):
    """Bayesian model averaging, z_t = P(m(x_t; pi_t)): one program under the whole belief.

    Every particle's prediction is a scenario with the particle's weight.
    """

    def decide(self, state: B, t: int, x: Array) -> Decision:
        """Return the decision (d) under the weighted predictions of all particles."""
        return Decision(self.problem.solve(*self.scenarios(state, t, x), x))


@dataclass(frozen=True)
class BGS(FromBelief[B]):
    """One particle drawn from the belief, I ~ Cat(w), decides alone: z_t = P(m(x_t; theta_I)).

    With the same seed it holds the same posterior as BMA, bit for bit.
    """

    def decide(self, state: B, t: int, x: Array) -> Decision:
        """Return the best decision (d) for the prediction of a particle drawn by weight."""
        scenarios = self._predictions(state, t, x)
        drawn = multinomial(np.exp(state.log_w), noise.uniform(state.seeds, t, "bgs.draw", (1,)))
        scenario = np.take_along_axis(scenarios, drawn[..., None], axis=-2)[..., 0, :]
        return Decision(decide_as_if(self.problem, x, scenario))


@dataclass(frozen=True)
class MostProbable(FromBelief[B]):
    """The particle with the highest density (as far as the sampler knows it) decides alone."""

    def decide(self, state: B, t: int, x: Array) -> Decision:
        """Return the best decision (d) for the prediction of the particle of highest density."""
        scenarios = self._predictions(state, t, x)
        best = state.score.argmax(axis=-1)[..., None, None]
        return Decision(
            decide_as_if(self.problem, x, np.take_along_axis(scenarios, best, axis=-2)[..., 0, :])
        )


@dataclass(frozen=True)
class MeanPrediction(FromBelief[B]):
    """The program for the belief's mean prediction: z_t = P(E m(x_t; theta))."""

    def decide(self, state: B, t: int, x: Array) -> Decision:
        """Return the best decision (d) for the weighted mean (m) of the particles' predictions."""
        scenarios = self._predictions(state, t, x)
        mean = np.matmul(np.exp(state.log_w)[..., None, :], scenarios)[..., 0, :]
        return Decision(decide_as_if(self.problem, x, mean))


@dataclass(frozen=True)
class Vote(FromBelief[B]):
    """Each particle decides alone, and the decision with the most weight behind it is taken.

    Among equal ones the lexicographically smallest. Its value is the expected cost under the
    predictions of all particles; its gap is unknown.
    """

    def decide(self, state: B, t: int, x: Array) -> Decision:
        """Return the decision (d) with the most weight among those of the particles."""
        scenarios = self._predictions(state, t, x)
        w = np.exp(state.log_w)
        decisions = decide_as_if(self.problem, x[..., None, :], scenarios).z
        z = _winner(decisions, w)
        cost = self.problem.cost(x[..., None, :], z[..., None, :], scenarios)
        lead = state.seeds.shape
        status = np.full(lead, Status.POOL, np.int64)
        return Decision(Solution(z, (w * cost).sum(axis=-1), status, np.full(lead, np.inf)))


def _most_weight(decisions: Array, w: Array) -> Array:
    """(N, d), (N) -> (d)."""
    candidates, which = np.unique(decisions, axis=0, return_inverse=True)
    chosen: Array = candidates[np.bincount(which.ravel(), weights=w).argmax()]
    return chosen


_winner = np.vectorize(_most_weight, signature="(n,d),(n)->(d)", otypes=[np.float64])
