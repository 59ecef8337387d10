"""The paper's two ways to decide from a belief: aggregate it (BMA) or draw from it (BGS)."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Generic

import numpy as np

from bocopt import arguments, noise
from bocopt.core import Array, B, Decision, IntArray, Predictor, Problem, Sampler
from bocopt.losses import decide_as_if
from bocopt.smc.resample import multinomial


@dataclass(frozen=True)
class FromBelief(ABC, Generic[B]):
    """A policy whose state is the sampler's belief."""

    problem: Problem
    predictor: Predictor
    sampler: Sampler[B]

    @abstractmethod
    def decide(self, state: B, t: int, x: Array) -> Decision: ...

    def init(self, seeds: IntArray) -> B:
        belief = self.sampler.init(seeds)
        if belief.theta.shape[-1] != self.predictor.dim:
            expected = f"one over {self.predictor.dim} parameters, as the predictor has"
            raise arguments.wrong(type(self).__name__, "sampler", expected, belief.theta.shape[-1])
        return belief

    def learn(self, state: B, t: int, x: Array, decision: Decision, xi: Array) -> B:
        return self.sampler.step(state, t, x, xi)


@dataclass(frozen=True)
class BMA(FromBelief[B]):
    """Bayesian model averaging, z_t = P(m(x_t; pi_t)): one program under the whole belief.

    Every particle's prediction is a scenario with the particle's weight.
    """

    def decide(self, state: B, t: int, x: Array) -> Decision:
        scenarios = _predictions(self.predictor, state, t, x)
        return Decision(self.problem.solve(x, scenarios, np.exp(state.log_w)))


@dataclass(frozen=True)
class BGS(FromBelief[B]):
    """One particle drawn from the belief, I ~ Cat(w), decides alone: z_t = P(m(x_t; theta_I)).

    With the same seed it holds the same posterior as BMA, bit for bit.
    """

    def decide(self, state: B, t: int, x: Array) -> Decision:
        scenarios = _predictions(self.predictor, state, t, x)
        drawn = multinomial(np.exp(state.log_w), noise.uniform(state.seeds, t, "bgs.draw", (1,)))
        scenario = np.take_along_axis(scenarios, drawn[..., None], axis=-2)[..., 0, :]
        return Decision(decide_as_if(self.problem, x, scenario))


def _predictions(predictor: Predictor, state: B, t: int, x: Array) -> Array:
    """(N, m): what each particle predicts."""
    size = state.theta.shape[-2]
    u = noise.normal(state.seeds, t, "predictive", (size, predictor.dim_noise))
    return predictor.sample(state.theta, x[..., None, :], u)
