"""The default learner: a mixture of models, and a hedge between it and simpler policies."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np

from bocopt import arguments, noise
from bocopt.core import Array, Decision, IntArray, Policy, Problem, Solution
from bocopt.models import Mixture
from bocopt.models.design import checked_size
from bocopt.models.guard import tell
from bocopt.policies.baselines import SampleAverage, checked_first
from bocopt.policies.predictive import Predictive
from bocopt.smc.resample import multinomial
from bocopt.smc.weights import log_total, normalised

_LATEST = 1000  # outcomes that the running average keeps

Rule = Literal["sample", "leader"]
T = TypeVar("T")


class EnsembleInfo(NamedTuple):
    """What the last outcome said about the arms, and about the members of the mixture."""

    arm_weights: Array  # (A) after the outcome
    arm_cost: Array  # (A) what each arm would have paid; where it failed, the most of all
    arm_failed: Array  # (A) 1 where an arm could not decide or learn
    chosen: Array  # () the arm whose decision was taken
    arm_mean: Array  # () what a draw by the weights before the outcome would have paid on average
    arm_bound: Array  # () such costs so far are at most the best arm's and this; NaN: no guarantee
    arm_stages: Array  # () how many outcomes these are
    weights: Array  # (M) of the members
    log_score: Array  # (M)
    mixture_score: Array  # ()
    probability: Array  # (m) of a smaller outcome: uniform if the mixture is calibrated
    failed: Array  # (M)


class EnsembleState(NamedTuple):
    """What every arm knows, and what it has cost."""

    seeds: IntArray  # ()
    arms: tuple[Any, ...]
    cost: Array  # (A) so far
    gap: Array  # () sum of mixability gaps
    info: EnsembleInfo


@dataclass(frozen=True)
class Ensemble:
    """Good from the first stage, near the best achievable soon, never far behind simple methods.

    The first arm decides under a mixture of models of xi given x (`Mixture`), the second is the
    average of the latest 1000 outcomes; `arms` adds any policies of yours. AdaHedge weighs them by
    what their decisions would have cost: w is proportional to prior exp(-eta cost), where the
    mixture has the prior weight `trust` and the others share the rest, eta is
    log(1 / least prior) / gap, and gap sums how much mixing lost against the mix loss.

    - `rule` "leader": the arm with the most weight decides. No guarantee.
    - `rule` "sample": an arm is drawn by weight. Its expected cost is at most that of the best arm
      plus 2 gap, which `info.arm_bound` shows.

    An arm that raises an error is warned about and pays as much as the worst of the others, whose
    first decides in its place. Bad input is an error all the same: no arm can take it.

    Nothing but the problem is needed; contexts may be of any length, but of one.

    >>> from bocopt import Agent, Knapsack
    >>> problem = Knapsack(value=[12.0], capacity=[8.0], salvage=[3.0])
    >>> agent = Agent(Ensemble(problem), problem)
    >>> for x, xi in [(0.1, 1.2), (0.2, 1.3), (0.3, 1.2), (0.4, 1.1)]:
    ...     stage = agent.observe(agent.decide([x]).id, [xi])
    >>> bool(stage.feasible)
    True

    Reference: de Rooij, van Erven, Grunwald, Koolen (2014), Follow the leader if you can, hedge if
    you must.
    """

    problem: Problem
    model: Mixture | None = None
    arms: Sequence[Policy[Any]] = ()
    rule: Rule = "sample"
    first: Sequence[float] | None = None
    trust: float = 0.9

    def __post_init__(self) -> None:
        arguments.number("Ensemble", "trust", self.trust, "(0, 1)")
        if self.rule not in ("sample", "leader"):
            raise arguments.wrong("Ensemble", "rule", "'sample' or 'leader'", self.rule)
        object.__setattr__(self, "first", checked_first("Ensemble", self.problem, self.first))
        arms = tuple(arguments.each("Ensemble", "arms", self.arms, Policy))
        object.__setattr__(self, "arms", arms)
        if any(isinstance(arm, Ensemble) for arm in self.arms):
            raise arguments.wrong("Ensemble", "arms", "policies other than ensembles", self.arms)
        if self.model is not None:
            arguments.kind("Ensemble", "model", self.model, Mixture)
        object.__setattr__(self, "model", self._mixture)  # so that a checkpoint knows which it was
        Predictive(self.problem, self._mixture)  # checks that they fit together

    @property
    def guarantee(self) -> str:
        """In words."""
        if self.rule == "sample":
            return "expected cost at most the best arm's plus info.arm_bound"
        return "no guarantee"

    @property
    def _mixture(self) -> Mixture:
        return self.model or Mixture(dim_xi=self.problem.dims.xi)

    @cached_property
    def _arms(self) -> list[Policy[Any]]:
        return [
            Predictive(self.problem, self._mixture, self.first),
            SampleAverage(self.problem, self.first, latest=_LATEST),
            *self.arms,
        ]

    @property
    def _prior(self) -> Array:
        """(A) weights before any outcome."""
        others = 1 + len(self.arms)
        return np.array([self.trust, *[(1.0 - self.trust) / others] * others])

    def init(self, seeds: IntArray) -> EnsembleState:
        states = tuple(arm.init(seeds) for arm in self._arms)
        seeds = arguments.seeds_of("Ensemble.init", seeds)
        many = (*seeds.shape, len(states))
        return EnsembleState(
            seeds=seeds,
            arms=states,
            cost=np.zeros(many),
            gap=np.zeros(seeds.shape),
            info=EnsembleInfo(
                arm_weights=np.broadcast_to(self._prior, many),
                arm_cost=np.full(many, np.nan),
                arm_failed=np.zeros(many),
                chosen=np.full(seeds.shape, np.nan),
                arm_mean=np.full(seeds.shape, np.nan),
                arm_bound=np.full(seeds.shape, np.nan),
                arm_stages=np.zeros(seeds.shape),
                **states[0].info._asdict(),
            ),
        )

    def decide(self, state: EnsembleState, t: int, x: Array) -> Decision:
        """The memo holds what every arm decided: see `_Memo`."""
        x = self._mixture.checked_context("Ensemble.decide", state.arms[0], x)
        pairs = zip(self._arms, state.arms, strict=True)
        tried = [_tried(arm, partial(arm.decide, before, t, x)) for arm, before in pairs]
        working = [decision for decision in tried if decision is not None]
        if not working:
            raise RuntimeError("No arm of the ensemble can decide.")
        decisions = [decision or working[0] for decision in tried]  # one steps in for another
        w = np.exp(hedge(state.cost, state.gap, self._prior))
        if self.rule == "sample":
            draw = noise.uniform(state.seeds, t, "ensemble.arm", (1,))
            chosen = multinomial(w, draw)[..., 0]
        else:
            chosen = w.argmax(axis=-1)
        parts = zip(*(decision.solution for decision in decisions), strict=True)
        z, value, status, gap = (np.stack(part, axis=len(state.seeds.shape)) for part in parts)
        solution = Solution(
            np.take_along_axis(z, chosen[..., None, None], -2)[..., 0, :],
            *(
                np.take_along_axis(part, chosen[..., None], -1)[..., 0]
                for part in (value, status, gap)
            ),
        )
        memo = _Memo(
            chosen=chosen.astype(np.float64),
            failed=np.broadcast_to([float(d is None) for d in tried], value.shape),
            lengths=np.broadcast_to([float(len(d.memo)) for d in decisions], value.shape),
            z=z,
            value=value,
            status=status.astype(np.float64),
            gap=gap,
        )
        return Decision(solution, (*memo, *(part for d in decisions for part in d.memo)))

    def learn(
        self, state: EnsembleState, t: int, x: Array, decision: Decision, xi: Array
    ) -> EnsembleState:
        x = self._mixture.checked_context("Ensemble.learn", state.arms[0], x)
        xi = checked_size("Ensemble.learn", "xi", xi, self.problem.dims.xi)
        size = len(_Memo._fields)
        memo, rest = _Memo(*decision.memo[:size]), decision.memo[size:]
        after, failed = [], memo.failed.copy()
        for a, (arm, before) in enumerate(zip(self._arms, state.arms, strict=True)):
            own, rest = memo.of(a, rest)
            learned = _tried(arm, partial(arm.learn, before, t, x, own, xi))
            after.append(before if learned is None else learned)
            failed[..., a] += learned is None
        paid = self.problem.cost(x[..., None, :], memo.z, xi[..., None, :])
        paid = np.where(memo.failed > 0, paid.max(axis=-1, keepdims=True), paid)
        cost = state.cost + paid
        gap = state.gap + mixability_gap(state.cost, state.gap, self._prior, paid)
        before = np.exp(hedge(state.cost, state.gap, self._prior))
        sampled = self.rule == "sample"
        return EnsembleState(
            seeds=state.seeds,
            arms=tuple(after),
            cost=cost,
            gap=gap,
            info=EnsembleInfo(
                arm_weights=np.exp(hedge(cost, gap, self._prior)),
                arm_cost=paid,
                arm_failed=np.minimum(failed, 1.0),
                chosen=memo.chosen,
                arm_mean=(before * paid).sum(axis=-1),
                arm_bound=2 * gap if sampled else np.full(gap.shape, np.nan),
                arm_stages=state.info.arm_stages + 1.0,
                **after[0].info._asdict(),
            ),
        )


class _Memo(NamedTuple):
    """What every arm decided; after these come the memos of the arms."""

    chosen: Array  # ()
    failed: Array  # (A)
    lengths: Array  # (A) of the arms' memos, the same in every trial
    z: Array  # (A, d)
    value: Array  # (A)
    status: Array  # (A)
    gap: Array  # (A)

    def of(self, a: int, memos: tuple[Array, ...]) -> tuple[Decision, tuple[Array, ...]]:
        """The decision of one arm, and the memos of those after it."""
        own = Solution(
            self.z[..., a, :],
            self.value[..., a],
            self.status[..., a].astype(np.int64),
            self.gap[..., a],
        )
        length = int(self.lengths[..., a].reshape(-1)[0])
        return Decision(own, memos[:length]), memos[length:]


def _tried(arm: Policy[Any], action: Callable[[], T]) -> T | None:
    """Its result, or None with a warning where it fails: the other arms carry on."""
    try:
        return action()
    except Exception as error:
        tell(f"The arm {type(arm).__name__} failed", error)
        return None


def hedge(cost: Array, gap: Array, prior: Array) -> Array:
    """(A) log weights of AdaHedge after these total costs; with no gap yet, only the leaders'."""
    behind = cost - cost.min(axis=-1, keepdims=True)
    with np.errstate(over="ignore", invalid="ignore"):
        steep = np.where(behind > 0, _eta(gap, prior)[..., None] * behind, 0.0)
    return normalised(np.log(prior) - steep)


def mixability_gap(cost: Array, gap: Array, prior: Array, paid: Array) -> Array:
    """How much more the weighted mean of what is paid is than the mix loss, in logs throughout."""
    log_w, eta = hedge(cost, gap, prior), _eta(gap, prior)
    low = paid.min(axis=-1)
    with np.errstate(over="ignore", invalid="ignore"):
        mix = low - log_total(log_w - eta[..., None] * (paid - low[..., None])) / eta
    leading = (cost + paid).min(axis=-1) - cost.min(axis=-1)
    mean = (np.exp(log_w) * paid).sum(axis=-1)
    missed: Array = mean - np.where(np.isfinite(eta), mix, leading)
    return np.maximum(missed, 0.0)


def _eta(gap: Array, prior: Array) -> Array:
    """log(1 / least prior weight) / gap, infinite at first."""
    with np.errstate(over="ignore", divide="ignore"):
        eta: Array = -np.log(prior.min()) / gap
    return eta
