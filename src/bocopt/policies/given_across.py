"""A policy for each of many series, which is given what a model of all series expects."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bocopt import arguments
from bocopt.abilities import ForProblem, Lockstep, TakesLaw, TakesMissing
from bocopt.core import Array, Decision, IntArray, Policy
from bocopt.models import AcrossSeries
from bocopt.wrappers import promises, says, scenarios_of

_OWNER = "GivenAcross"


@dataclass(frozen=True)
class GivenAcross:
    """A policy for each of many series, and a model of all of them beside it.

    The quantiles of `across` are the last numbers of the context that `policy` sees. A `PanelAgent`
    and the backtest of a panel fit the model to all series, and ask it before any outcome of a time
    is known. Where a case plays it, `lags` that are None are its own lags and means of outcomes.

    A series by itself, in an `Agent` or a service, has no model beside it: its quantiles are NaN.

    >>> from bocopt.models import LightMixture
    >>> from bocopt.policies import Predictive
    >>> from bocopt.problems import Newsvendor
    >>> shop = Newsvendor(unit_cost=[1.0], price=[3.0])
    >>> policy = GivenAcross(Predictive(shop, LightMixture(given=15)), AcrossSeries(trees=8))
    >>> policy.across.trees
    8
    """

    policy: Policy[Any]
    across: AcrossSeries = field(default_factory=AcrossSeries)

    def __post_init__(self) -> None:
        arguments.kind(_OWNER, "policy", self.policy, Policy)
        arguments.kind(_OWNER, "across", self.across, AcrossSeries)
        policy, levels = self.policy, self.across.levels
        if not (promises(policy, Lockstep) and promises(policy, TakesMissing)):
            expected = "one that says `lockstep` and `takes_missing`, as `Predictive` of a "
            got = type(policy).__name__
            raise arguments.wrong(_OWNER, "policy", expected + "`LightMixture`", got)
        dims = getattr(says(policy, ForProblem), "dims", None)
        if dims is not None and dims.xi != 1:
            expected = "for outcomes of one number, as those of the model across series are"
            raise arguments.wrong(_OWNER, "policy", expected, f"outcomes of {dims.xi}")
        if says(policy, TakesLaw) not in (None, levels):
            expected = (
                f"given {levels} quantiles, the number of `levels` of the model across series"
            )
            raise arguments.wrong(_OWNER, "policy", expected, policy)

    @property
    def inner(self) -> Policy[Any]:
        """The policy of each series."""
        return self.policy

    @property
    def withholds(self) -> Mapping[type, str]:
        """It has the quantiles that the policy takes."""
        return {TakesLaw: "the model across series gives it"}

    def init(self, seeds: IntArray) -> Any:
        """Return the policy's state, with the leading axes of the seeds."""
        return self.policy.init(seeds)

    def scenarios(self, state: Any, t: int, x: Array) -> tuple[Array, Array] | None:
        """The policy's, where nothing is known of other series."""
        return scenarios_of(self.policy, state, t, self._alone(x))

    def decide(self, state: Any, t: int, x: Array) -> Decision:
        """Return the decision (d) where nothing is known of other series."""
        return self.policy.decide(state, t, self._alone(x))

    def learn(self, state: Any, t: int, x: Array, decision: Decision, xi: Array) -> Any:
        """Return the state after an outcome xi (m), of which no other series said anything."""
        return self.policy.learn(state, t, self._alone(x), decision, xi)

    def _alone(self, x: Array) -> Array:
        """Return contexts (k + L) without quantiles."""
        x = np.asarray(x, float)
        return np.concatenate([x, np.full((*x.shape[:-1], self.across.levels), np.nan)], axis=-1)
