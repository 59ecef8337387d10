"""Abilities of parts beside their contracts: optional, and never looked for by a class.

An ability is a protocol of at most three members. A part has it by having them: nothing is
inherited, nothing is registered. `bocopt.wrappers` says how abilities are asked, and how wrappers
give them on. Each docstring says what is promised, and who asks.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol

from bocopt.core import (
    Array,
    Bounds,
    DeviceProblem,
    Policy,
    Problem,
    Ranged,
    RangedDifference,
    Within,
)


class Lockstep(Protocol):
    """Trials may be at different stages: t may be an array with the leading axes of the seeds.

    So streams can be played by one call. Asked by `live/stacked.py`, `live/series_states.py`,
    `policies/given_across.py` and `checks/policies.py`.
    """

    @property
    def lockstep(self) -> bool: ...


class TakesMissing(Protocol):
    """A context may have NaN in it.

    Asked by `loop.py`, `trace.py`, `policies/ensemble.py`, `policies/given_across.py`,
    `interop/incremental.py` and `app/service/history.py`.
    """

    @property
    def takes_missing(self) -> bool: ...


class UnderScenarios(Protocol):
    """Decides under scenarios (s, m) with weights (s), and tells them; None where there are none.

    So decisions are explained. Asked by `live/explanation.py`, `interop/incremental.py`,
    `live/agent.py`, `live/panel.py`, `policies/given_across.py`, `checks/policies.py`,
    `live/coupled_laws.py`, `live/coupled_program.py`, `live/fold.py` and
    `policies/partly_seen.py`.
    """

    def scenarios(self, state: Any, t: int, x: Array) -> tuple[Array, Array] | None: ...


class HoldsOutcomes(Protocol):
    """Knows nothing but its outcomes, and can be given others in their place.

    So those that were not seen in full are completed anew as more is known.

    Asked by `policies/partly_seen.py`.
    """

    def outcomes(self, state: Any) -> Array:
        """Return the outcomes (n, m) that it knows, the oldest first."""
        ...

    def with_outcomes(self, state: Any, outcomes: Array) -> Any:
        """Return the state that knows as many others (n, m)."""
        ...


class LearnsParts(Protocol):
    """An outcome may have NaN in it: a component that was not seen teaches nothing.

    Asked by `policies/partly_seen.py` and `policies/predictive.py`.
    """

    @property
    def learns_parts(self) -> bool: ...


class HasArms(Protocol):
    """Takes the decision of one of several arms (A), by weights `arm_weights` (A) in its info.

    Scenarios are those of the first arm. Asked by `policies/names.py`,
    `app/service/stream_template.py`, `live/explanation.py` and `policies/partly_seen.py`.
    """

    @property
    def arm_names(self) -> Sequence[str]: ...
    def arm_decisions(self, memo: Any) -> Sequence[tuple[str, Array]]:
        """The name of each arm and the z (d) that it decided, by the memo of a decision."""
        ...

    def arm_taken(self, memo: Any) -> str:
        """The name of the arm whose decision was taken."""
        ...


class HasShadows(Protocol):
    """Has policies beside it that are never followed; its info has a `ShadowReport` of them.

    Asked by `live/fold.py`, `app/service/stream_template.py` and `live/explanation.py`.
    """

    @property
    def shadows(self) -> Mapping[str, Any]: ...
    def shadow_decisions(self, memo: Any) -> Sequence[tuple[str, Array]]:
        """The name of each shadow and the z (d) that it decided, by the memo of a decision."""
        ...


class LooksUp(Protocol):
    """Decides otherwise than the policy in it at times, to see more of what comes.

    Asked by `live/explanation.py`.
    """

    def look_up_price(self, memo: Any, z: Array) -> Array | None:
        """How much more () z (d) was expected to cost than the policy's own, which is in the memo;
        None where it is that.
        """
        ...


class ForProblem(Protocol):
    """Decides for one problem, which need not be given beside it; it is refused on another.

    A problem may solve another one, its `problem`, in another way. Asked by `policies/matching.py`,
    `policies/given_across.py` and `live/coupled_program.py`.
    """

    @property
    def problem(self) -> Any: ...


class MakesPolicy(Protocol):
    """Makes a policy of a problem and the names of the context.

    Asked by `app/user_code.py`.
    """

    def policy(self, problem: Problem, x_names: tuple[str, ...]) -> Policy[Any]: ...


class HasLaws(Protocol):
    """Weighs several laws of xi, by `weights` (L) in its info.

    Asked by `policies/names.py` and `app/service/stream_template.py`.
    """

    @property
    def law_names(self) -> Sequence[str]: ...


class SamplesAt(Protocol):
    """Counts stages: it is asked for scenarios at stage t, where outcomes may be late.

    It takes the place of `sample`. Asked by `policies/predictive.py`, `policies/spread.py`,
    `models/remembering.py` and `interop/incremental.py`.
    """

    def sample_at(self, state: Any, t: Any, x: Array) -> tuple[Array, Array]: ...


class KnowsAtOnce(Protocol):
    """Has scenarios before the first outcome.

    Asked by `policies/predictive.py`, `models/remembering.py` and `live/gpu.py`.
    """

    @property
    def knows_at_once(self) -> bool: ...


class TakesLaw(Protocol):
    """Takes the last `given` numbers of a context for a law that somebody else predicts.

    A problem does not see them. Asked by `policies/predictive.py` and `policies/given_across.py`.
    """

    @property
    def given(self) -> int: ...


class ForOutcomes(Protocol):
    """Is made for outcomes of so many numbers.

    Asked by `policies/predictive.py` and `live/coupled_program.py`.
    """

    @property
    def dim_xi(self) -> int | None: ...


class PricesInfeasibility(Protocol):
    """Its `cost` has in it what it costs to be infeasible: an ensemble charges nothing more.

    Asked by `policies/charges.py`.
    """

    @property
    def prices_infeasibility(self) -> bool: ...


class RunsOnDevice(Protocol):
    """Its best decision follows from one quantile of a single outcome, so that a graphics processor
    can decide and pay; None where it does not.

    Asked by `live/gpu.py`.
    """

    @property
    def on_device(self) -> DeviceProblem | None: ...


class HasTailMeans(Protocol):
    """Its value is a sum of means of worst outcomes: pairs of a weight and of their share, in
    (0, 1], or 0 for the worst one alone. So declared programs can write it.

    Asked by `problems/risk.py`.
    """

    @property
    def tail_means(self) -> Sequence[tuple[float, float]]: ...


class HasWorstWeights(Protocol):
    """Its value is the largest expected cost over other weights of the scenarios, less a penalty of
    these weights: it is convex. So declared programs can be cut under it.

    Asked by `problems/risk.py`.
    """

    def worst_weights(self, costs: Array, w: Array) -> tuple[Array, float]:
        """(s), (s) -> (s), (): weights, none negative, of sum 1, that attain it; their penalty."""
        ...


class SmallestOfTies(Protocol):
    """`solve` answers with the lexicographically smallest of all optimal z.

    Asked by `checks/problems.py`.
    """

    @property
    def smallest_of_ties(self) -> bool: ...


class HasSupport(Protocol):
    """Knows the ends (low, high), each of m numbers, between which xi lies: no scenario is outside.

    Asked by `problems/ranges.py`, for ensembles.
    """

    @property
    def support(self) -> Any: ...


class RangedWithin(Protocol):
    """Knows its ranges and its verdicts where only bounds (m) of the outcome are known.

    So a decision is priced by what was seen of its outcome. Asked by `problems/ranges.py` and
    `checks/problems.py`.
    """

    def within(self, bounds: Bounds) -> Within: ...


class NamesColumns(Protocol):
    """Names the numbers of its contexts (k) and of its outcomes (m); () where they have no names.

    Asked by `loop.py`.
    """

    @property
    def x_names(self) -> Sequence[str]: ...
    @property
    def xi_names(self) -> Sequence[str]: ...


class NamesDecisions(Protocol):
    """Names the numbers of a decision: z (d) by name, each of any shape.

    Asked by `problems/names.py` and `live/coupled_layout.py`.
    """

    def named(self, z: Array) -> Mapping[str, Array]: ...


class SaysWhyUnranged(Protocol):
    """Says what to do where its `range` has no finite ends.

    Asked by `problems/ranges.py`.
    """

    @property
    def why_unranged(self) -> str: ...


class BoundedAbove(Protocol):
    """A loss is at most so much.

    Asked by `beliefs/update.py`.
    """

    @property
    def upper(self) -> float: ...


class IsRegret(Protocol):
    """A loss is what a decision cost above hindsight.

    Asked by `beliefs/update.py`.
    """

    @property
    def regret(self) -> bool: ...


class WatchesShadow(Protocol):
    """Is about the shadow of this number: other decisions than those compared are left out.

    Asked by `live/fold.py`.
    """

    @property
    def shadow(self) -> int: ...


class WeighsShadow(WatchesShadow, Protocol):
    """Has evidence that a shadow is better on average, as the log of an e-value.

    Asked by `app/service/compared.py`.
    """

    @property
    def name(self) -> str: ...
    def log_evidence(self, state: Any) -> Array: ...


class AlarmsOfShadow(WatchesShadow, Protocol):
    """Has alarms where a shadow costs more lately.

    Asked by `app/service/compared.py`.
    """

    def alarm(self, state: Any) -> Array:
        """() the compared stage of the latest alarm; NaN where there is none, or it is over."""
        ...

    def stages(self, state: Any) -> int:
        """The number of stages that were compared."""
        ...


class NeedsOutcomes(Protocol):
    """Has too few outcomes where they are discounted by less than this: there is no such copy.

    Asked by `models/member.py`.
    """

    @property
    def least_discount(self) -> float: ...


class SlowToFit(Protocol):
    """Is only fitted again where this share of the outcomes is new.

    Asked by `models/member.py`.
    """

    @property
    def renewed_at(self) -> float: ...


class LearnsShape(Protocol):
    """Reads the shape of the particles.

    Asked by `beliefs/kernels.py`.
    """

    @property
    def learns_shape(self) -> bool: ...


class HasName(Protocol):
    """Has a name of its own, by which errors call it.

    Asked by `policies/matching.py`.
    """

    @property
    def name(self) -> str: ...


class KnowsWidth(Protocol):
    """Knows how many numbers a context has; None before the first one.

    Asked by `policies/bayes.py`.
    """

    @property
    def dim_x(self) -> int | None: ...


class Ragged(Protocol):
    """A NamedTuple whose arrays may have room at the end; streams with other sizes can be stacked.

    Asked by `numeric/stacking.py`.
    """

    def trimmed(self) -> Any:
        """The same without room that it does not need."""
        ...


#: All of them, by the kind of part that may have them.
ABILITIES: Mapping[str, tuple[type, ...]] = MappingProxyType(
    {
        "any part": (Lockstep, TakesMissing),
        "policy": (
            *(UnderScenarios, HoldsOutcomes, LearnsParts, HasArms, HasShadows, LooksUp, ForProblem),
        ),
        "maker of policies": (MakesPolicy,),
        "model": (LearnsParts, SamplesAt, KnowsAtOnce, HasLaws, TakesLaw, ForOutcomes),
        "problem": (
            *(Ranged, RangedDifference, RangedWithin, SaysWhyUnranged, HasSupport),
            *(PricesInfeasibility, SmallestOfTies, NamesDecisions, HasName, RunsOnDevice),
        ),
        "risk": (HasTailMeans, HasWorstWeights),
        "stream": (NamesColumns,),
        "loss": (BoundedAbove, IsRegret),
        "guarantee": (WatchesShadow, WeighsShadow, AlarmsOfShadow),
        "member": (NeedsOutcomes, SlowToFit),
        "kernel": (LearnsShape,),
        "belief": (KnowsWidth,),
        "fit": (Ragged,),
    }
)

#: Promises: of a part made of others, they hold where all of these make them.
PROMISES: frozenset[type] = frozenset({Lockstep, TakesMissing})
#: Abilities that stand beside a method: one that has this method must have its own, or has none.
OWN: Mapping[type, str] = MappingProxyType(
    {
        SamplesAt: "sample",
        Ranged: "cost",
        RangedDifference: "cost",
        RangedWithin: "cost",
        SmallestOfTies: "solve",
        RunsOnDevice: "solve",
    }
)
