"""One policy decides, others decide beside it and are never followed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.core import Array, Decision, IntArray, Policy, ShadowReport, Solution


class ShadowedInfo(NamedTuple):
    own: Any  # of the policy that decides
    shadows: ShadowReport


class ShadowedState(NamedTuple):
    own: Any
    shadows: tuple[Any, ...]
    info: ShadowedInfo


@dataclass(frozen=True)
class Shadowed:
    """`policy` decides; each of `shadows`, by name, sees the same and decides for itself.

    Outcomes are seen in full, so what the shadows' decisions would have cost is known. A monitor
    compares them with those taken, live and at all times: see `Comparison`.

    >>> from bocopt.policies import Constant, SampleAverage
    >>> from bocopt.problems import Knapsack
    >>> problem = Knapsack(value=[12.0], capacity=[8.0], salvage=[3.0])
    >>> policy = Shadowed(Constant([5]), {"running average": SampleAverage(problem)})
    >>> list(policy.shadows)
    ['running average']
    """

    policy: Policy[Any]
    shadows: Mapping[str, Policy[Any]]

    def __post_init__(self) -> None:
        arguments.kind("Shadowed", "policy", self.policy, Policy)
        if not isinstance(self.shadows, Mapping) or not self.shadows:
            raise arguments.wrong("Shadowed", "shadows", "policies by name", self.shadows)
        for name, shadow in self.shadows.items():
            if not isinstance(name, str) or not name:
                raise arguments.wrong("Shadowed", "shadows", "policies by name", name)
            arguments.kind("Shadowed", f"shadows[{name!r}]", shadow, Policy)
        object.__setattr__(self, "shadows", dict(self.shadows))

    @property
    def inner(self) -> Policy[Any]:
        """The policy that decides."""
        return self.policy

    @property
    def parts(self) -> tuple[Policy[Any], ...]:
        """It and its shadows."""
        return self.policy, *self.shadows.values()

    def inside(self, state: ShadowedState, memo: tuple[Any, ...]) -> tuple[Any, Any]:
        """The state and the memo of the policy that decides."""
        return state.own, memo[0] if memo else ()

    def shadow_decisions(self, memo: tuple[Any, ...]) -> list[tuple[str, Array]]:
        """The name of each shadow and the z that it decided, by the memo of a decision."""
        _, others = memo
        pairs = zip(self.shadows, others, strict=True)
        return [(name, solution[0]) for name, (solution, _) in pairs]

    def init(self, seeds: IntArray) -> ShadowedState:
        """Return the states of the policy and its shadows, with the leading axes of the seeds."""
        own = self.policy.init(seeds)
        shadows = tuple(shadow.init(seeds) for shadow in self.shadows.values())
        nothing = np.full((*np.shape(seeds), len(shadows), 0), np.nan)
        return ShadowedState(own, shadows, ShadowedInfo(own.info, ShadowReport(nothing)))

    def decide(self, state: ShadowedState, t: int, x: Array) -> Decision:
        """Return the decision (d) of the policy; those of the shadows are in its memo."""
        taken = self.policy.decide(state.own, t, x)
        pairs = zip(self.shadows.values(), state.shadows, strict=True)
        others = tuple(tuple(shadow.decide(own, t, x)) for shadow, own in pairs)
        return taken._replace(memo=(taken.memo, others))

    def learn(
        self, state: ShadowedState, t: int, x: Array, decision: Decision, xi: Array
    ) -> ShadowedState:
        """Return the states after outcome xi (m), from which each learns with its own decision."""
        memo, others = decision.memo
        own = self.policy.learn(state.own, t, x, decision._replace(memo=memo), xi)
        decisions = [Decision(Solution(*solution), kept) for solution, kept in others]
        trios = zip(self.shadows.values(), state.shadows, decisions, strict=True)
        shadows = tuple(shadow.learn(old, t, x, taken, xi) for shadow, old, taken in trios)
        z = np.stack([taken.solution.z for taken in decisions], axis=-2)
        return ShadowedState(own, shadows, ShadowedInfo(own.info, ShadowReport(z)))
