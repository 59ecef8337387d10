"""Decide under a model's scenarios, spread so that misses keep to 1 - alpha."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.core import Array, Decision, IntArray, Model, Problem
from bocopt.policies.baselines import before_any_outcome
from bocopt.policies.charges import prices_infeasibility
from bocopt.policies.predictive import Predictive, can_predict
from bocopt.wrappers import sample_at

_MOST = float(np.log(1000.0))  # beyond, numbers overflow rather than help


class SpreadInfo(NamedTuple):
    """Factor of the scenarios, and whether the last decision was infeasible."""

    spread: Array  # () the factor, for the next decision
    missed: Array  # () 1 where the last decision was infeasible
    of_model: Any


class Spreading(NamedTuple):
    """State of the model, the number of outcomes, and the log factor of its scenarios."""

    seeds: IntArray  # ()
    outcomes: IntArray  # () so far
    model: Any
    log_spread: Array  # ()
    info: SpreadInfo


@dataclass(frozen=True)
class SpreadControl:
    """`Predictive`, with scenarios that are moved from their mean by a factor which learns.

    A law that is too narrow misses its constraints too often, one that is too wide pays for
    caution that nobody asked for. The factor exp(s) follows what is measured:

        s' = s + rate (missed - (1 - alpha)),    from log(narrowest) to log(1000).

    So after T stages the misses are at most (1 - alpha) T + s_T / rate, on any stream that leaves
    exp(s), which `info.spread` shows, below 1000. If scenarios spread by exp(b) never miss, s_T is
    at most b + rate, and

        share of misses  <=  1 - alpha + (b / rate + 1) / T.

    It is exactly 1 - alpha + s_T / (rate T) while s is above its least value. A large rate follows
    changes soon, and decides less steadily.

    Where the problem prices infeasibility, misses below 1 - alpha are no fault, and scenarios are
    never narrowed. What has the same sign in all scenarios keeps it. Means stay as they are, so
    that costs linear in xi are not distorted.

    Reference: Gibbs, Candes (2021), Adaptive conformal inference under distribution shift;
    Angelopoulos, Candes, Tibshirani (2023), Conformal PID control for time series prediction.
    """

    problem: Problem
    model: Model[Any]
    initial_decision: Sequence[float] | None = None
    rate: float = 0.05
    narrowest: float = 0.2

    def __post_init__(self) -> None:
        checked = Predictive(self.problem, self.model, self.initial_decision)
        object.__setattr__(self, "initial_decision", checked.initial_decision)
        arguments.number("SpreadControl", "rate", self.rate, "(0, 1]")
        arguments.number("SpreadControl", "narrowest", self.narrowest, "(0, 1]")
        if self.problem.risk.alpha is None:
            expected = "one whose risk has an alpha, for misses to be counted"
            raise arguments.wrong("SpreadControl", "problem", expected, self.problem.risk)

    @property
    def inner(self) -> Model[Any]:
        """The model."""
        return self.model

    def inside(self, state: Spreading, memo: Any) -> tuple[Any, Any]:
        """Return the model's state, and no memo."""
        return state.model, ()

    @property
    def _allowed(self) -> float:
        """The share of misses."""
        alpha = self.problem.risk.alpha
        assert alpha is not None  # checked at the start
        return 1.0 - alpha

    @property
    def _least(self) -> float:
        """Least logarithm of the factor."""
        return 0.0 if prices_infeasibility(self.problem) else float(np.log(self.narrowest))

    def init(self, seeds: IntArray) -> Spreading:
        """Return the model's state and a factor of 1, with the leading axes of the seeds."""
        seeds = arguments.seeds_of("SpreadControl", seeds)
        model, even = self.model.init(seeds), np.zeros(seeds.shape)
        info = SpreadInfo(np.exp(even), np.full(seeds.shape, np.nan), model.info)
        return Spreading(seeds, np.zeros(seeds.shape, np.int64), model, even, info)

    def scenarios(self, state: Spreading, t: int, x: Array) -> tuple[Array, Array] | None:
        """The model's, spread; None before the first outcome, unless it knows at once."""
        if not can_predict(self.model, state.outcomes):
            return None
        scenarios, w = sample_at(self.model, state.model, t, x)
        return stretched(scenarios, w, state.info.spread), w

    def decide(self, state: Spreading, t: int, x: Array) -> Decision:
        """Return the decision (d) under the stretched scenarios; without any, the initial one."""
        found = self.scenarios(state, t, x)
        if found is None:
            return before_any_outcome(self.problem, self.initial_decision, state.seeds.shape, x)
        return Decision(self.problem.solve(*found, x))

    def learn(self, state: Spreading, t: int, x: Array, decision: Decision, xi: Array) -> Spreading:
        """Return the state after outcome (m): a miss raises the factor, else it is lowered."""
        model = self.model.step(state.model, t, x, xi)
        missed = (self.problem.violation(x, decision.solution.z, xi) > 0).astype(np.float64)
        moved = state.log_spread + self.rate * (missed - self._allowed)
        log_spread = np.clip(moved, self._least, _MOST)
        info = SpreadInfo(np.exp(log_spread), missed, model.info)
        return Spreading(state.seeds, state.outcomes + 1, model, log_spread, info)


def stretched(scenarios: Array, w: Array, factor: Array) -> Array:
    """(s, m), (s), () -> (s, m): the same mean, `factor` times as far from it.

    What has one sign in all scenarios keeps it.

    >>> stretched(np.array([[1.0], [3.0]]), np.array([0.5, 0.5]), np.array(1.5)).tolist()
    [[0.5], [3.5]]
    """
    share = w / w.sum(axis=-1, keepdims=True)
    mean = np.cumsum(share[..., None] * scenarios, axis=-2)[
        ..., -1:, :
    ]  # in order: same in batches
    moved = mean + factor[..., None, None] * (scenarios - mean)
    low = np.where(scenarios.min(axis=-2, keepdims=True) >= 0, 0.0, -np.inf)
    high = np.where(scenarios.max(axis=-2, keepdims=True) <= 0, 0.0, np.inf)
    return np.asarray(np.clip(moved, low, high))
