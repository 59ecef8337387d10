"""The default learner: a mixture of models, and a hedge between it and simpler policies."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np

from bocopt import arguments
from bocopt.abilities import TakesMissing
from bocopt.core import ArmsReport, Array, Decision, IntArray, Model, Policy, Problem, Solution
from bocopt.models import Mixture
from bocopt.models.guard import warn_once
from bocopt.numeric import noise
from bocopt.numeric.weights import multinomial
from bocopt.policies.baselines import SampleAverage, checked_first
from bocopt.policies.charges import (
    Charges,
    allowed_misses,
    book,
    charged,
    cost_bound,
    no_charges,
    outcomes,
    price,
)
from bocopt.policies.hedge import hedge, mixability_gap
from bocopt.policies.predictive import Predictive
from bocopt.policies.spread import SpreadControl
from bocopt.problems.ranges import support_of
from bocopt.wrappers import promises

_LATEST = 1000  # outcomes that the running average keeps

Selection = Literal["sample", "leader"]
Calibration = Literal["declared", "adaptive"]
T = TypeVar("T")


class EnsembleInfo(NamedTuple):
    """Costs, weights and failures of the arms at the last outcome, and the info of each."""

    arms: ArmsReport
    arm_weights: Array  # (A) after the outcome
    arm_failed: Array  # (A) 1 where an arm could not decide or learn
    arm_missed: Array  # (A) 1 where an arm's decision was infeasible, if the hedge counts it
    miss_price: Array  # () what a miss was charged with
    chosen: Array  # () the arm whose decision was taken
    of_arms: tuple[Any, ...]  # the info of each


class EnsembleState(NamedTuple):
    """States of all arms, and what they were charged."""

    seeds: IntArray  # ()
    arms: tuple[Any, ...]
    width: IntArray  # () how many numbers a context has; -1 before the first outcome
    cost: Array  # (A) charged so far
    gap: Array  # () sum of mixability gaps
    charges: Charges
    info: EnsembleInfo


@dataclass(frozen=True)
class Ensemble:
    """Good from the first stage, near the best achievable soon, never far behind simple methods.

    The first arm decides under a model of xi given x (`Mixture`, or any `Model` of yours), the
    second is the average of the latest 1000 outcomes; `arms` adds any policies of yours. AdaHedge
    weighs them by what their decisions would have cost: w is proportional to prior exp(-eta cost),
    where the first has the prior weight `prior_weight` and the others share the rest, eta is
    log(1 / least prior) / gap, and gap sums how much mixing lost against the mix loss.

    - `selection` "leader": the arm with the most weight decides. No guarantee.
    - `selection` "sample": an arm is drawn by weight. Its expected cost is at most that of the best
      arm plus `info.arm_bound`, which is 2 gap where costs are all that is charged.

    Where the problem has a chance constraint, arms are charged for decisions that turn out
    infeasible, at a price that rises while the ensemble misses more than 1 - alpha of its stages.
    With "sample", alpha is met in the long run if an arm meets it and costs settle. Not so where
    the problem says `prices_infeasibility`: its costs count. Under other risks than the mean, an
    arm is charged what a cost adds to the risk of its costs so far (`policies/charges.py`).

    `calibration` "adaptive" has the model's scenarios spread until measured misses are 1 - alpha
    (`SpreadControl`): for a model that is too sure of itself, or not sure enough.

    An arm that raises an error is warned about and pays as much as the worst of the others, whose
    first decides in its place. Bad input is an error all the same: no arm can take it.

    Nothing but the problem is needed; contexts may be of any length, but of one.

    >>> from bocopt import Agent
    >>> from bocopt.problems import Knapsack
    >>> problem = Knapsack(value=[12.0], capacity=[8.0], salvage=[3.0])
    >>> agent = Agent(Ensemble(problem))
    >>> for x, xi in [(0.1, 1.2), (0.2, 1.3), (0.3, 1.2), (0.4, 1.1)]:
    ...     stage = agent.observe(agent.decide([x]).id, [xi])
    >>> bool(stage.feasible)
    True

    Reference: de Rooij, van Erven, Grunwald, Koolen (2014), Follow the leader if you can, hedge if
    you must.
    """

    problem: Problem
    model: Model[Any] | None = None
    arms: Sequence[Policy[Any]] = ()
    selection: Selection = "sample"
    initial_decision: Sequence[float] | None = None
    prior_weight: float = 0.9
    calibration: Calibration = "declared"

    def __post_init__(self) -> None:
        arguments.number("Ensemble", "prior_weight", self.prior_weight, "(0, 1)")
        if self.selection not in ("sample", "leader"):
            raise arguments.wrong("Ensemble", "selection", "'sample' or 'leader'", self.selection)
        if self.calibration not in ("declared", "adaptive"):
            raise arguments.wrong(
                "Ensemble", "calibration", "'declared' or 'adaptive'", self.calibration
            )
        object.__setattr__(
            self, "initial_decision", checked_first("Ensemble", self.problem, self.initial_decision)
        )
        arms = tuple(arguments.each("Ensemble", "arms", self.arms, Policy))
        object.__setattr__(self, "arms", arms)
        if any(isinstance(arm, Ensemble) for arm in self.arms):
            raise arguments.wrong("Ensemble", "arms", "policies other than ensembles", self.arms)
        model = _default_model(self.problem) if self.model is None else self.model
        arguments.kind("Ensemble", "model", model, Model)
        object.__setattr__(self, "model", model)  # so that a checkpoint knows which it was
        self._modelled()  # checks that they fit together

    @property
    def guarantee(self) -> str:
        """Sentence that says what is promised of cost and feasibility."""
        if self.selection != "sample":
            return "no guarantee"
        cost = "expected cost at most the best arm's plus info.arm_bound"
        if allowed_misses(self.problem) is None:
            return cost
        return f"{cost}; alpha is met in the long run if an arm meets it and costs settle"

    @property
    def inner(self) -> Policy[Any]:
        """The first arm, which has the model."""
        return self._arms[0]

    @property
    def parts(self) -> tuple[Policy[Any], ...]:
        """It and all `arms`; the running average makes all promises and reads no context."""
        return self._arms[0], *self.arms

    def inside(self, state: EnsembleState, memo: tuple[Any, ...]) -> tuple[Any, Any]:
        """The state of the first arm, and its memo."""
        return state.arms[0], _Memo(*memo).decisions[0][1] if memo else ()

    @cached_property
    def _arms(self) -> list[Policy[Any]]:
        average = SampleAverage(self.problem, self.initial_decision, latest=_LATEST)
        return [self._modelled(), average, *self.arms]

    @property
    def arm_names(self) -> list[str]:
        """The names of the arms, in the order of their weights."""
        return ["model", "running average", *(type(arm).__name__ for arm in self.arms)]

    def _modelled(self) -> Predictive | SpreadControl:
        """The first arm."""
        assert self.model is not None  # made when none was given
        policy_class = Predictive if self.calibration == "declared" else SpreadControl
        return policy_class(self.problem, self.model, self.initial_decision)

    @property
    def _prior(self) -> Array:
        """(A) weights before any outcome."""
        others = 1 + len(self.arms)
        return np.array([self.prior_weight, *[(1.0 - self.prior_weight) / others] * others])

    def init(self, seeds: IntArray) -> EnsembleState:
        """Return the states of all arms before any stage, with the leading axes of the seeds."""
        seeds = arguments.seeds_of("Ensemble.init", seeds)
        states = tuple(arm.init(seeds) for arm in self._arms)
        many, nan = (*seeds.shape, len(states)), np.full(seeds.shape, np.nan)
        return EnsembleState(
            seeds=seeds,
            arms=states,
            width=np.array(-1),
            cost=np.zeros(many),
            gap=np.zeros(seeds.shape),
            charges=no_charges(seeds.shape, len(states)),
            info=EnsembleInfo(
                arms=ArmsReport(nan, np.full(many, np.nan), nan, np.zeros(seeds.shape)),
                arm_weights=np.broadcast_to(self._prior, many),
                arm_failed=np.zeros(many),
                arm_missed=np.zeros(many),
                miss_price=np.zeros(seeds.shape),
                chosen=nan,
                of_arms=tuple(state.info for state in states),
            ),
        )

    def arm_decisions(self, memo: tuple[Any, ...]) -> list[tuple[str, Array]]:
        """Return the name of each arm and its decision z (d), by the memo of a decision."""
        pairs = zip(self.arm_names, _Memo(*memo).decisions, strict=True)
        return [(name, solution[0]) for name, (solution, _) in pairs]

    def arm_taken(self, memo: tuple[Any, ...]) -> str:
        """Return the name of the arm whose decision was taken, by the memo of a decision."""
        return self.arm_names[int(_Memo(*memo).chosen)]

    def decide(self, state: EnsembleState, t: int, x: Array) -> Decision:
        """The memo holds what every arm decided: see `_Memo`."""
        x = self._context("decide", state, x)
        pairs = zip(self._arms, state.arms, strict=True)
        tried = [_tried(arm, partial(arm.decide, before, t, x)) for arm, before in pairs]
        working = [decision for decision in tried if decision is not None]
        if not working:
            raise RuntimeError("No arm of the ensemble can decide.")
        decisions = tuple(decision or working[0] for decision in tried)  # one steps in for another
        w = np.exp(hedge(state.cost, state.gap, self._prior))
        if self.selection == "sample":
            draw = noise.uniform(state.seeds, t, "ensemble.arm", (1,))
            chosen = multinomial(w, draw)[..., 0]
        else:
            chosen = w.argmax(axis=-1)
        solution = _taken([decision.solution for decision in decisions], chosen)
        failed = np.broadcast_to([float(decision is None) for decision in tried], w.shape)
        return Decision(solution, _Memo(chosen, failed, decisions))

    def learn(
        self, state: EnsembleState, t: int, x: Array, decision: Decision, xi: Array
    ) -> EnsembleState:
        """Return the state after outcome (m): arms learn, and are charged for their decisions."""
        x = self._context("learn", state, x)
        xi = arguments.finite_and_squarable("Ensemble.learn", "xi", xi, self.problem.dims.xi)
        memo = _Memo(*decision.memo)
        own = [Decision(Solution(*solution), more) for solution, more in memo.decisions]
        learned = self._taught(state, t, x, own, xi)
        failed = memo.failed + [float(after is None) for after in learned]
        pairs = zip(state.arms, learned, strict=True)
        arms = tuple(before if after is None else after for before, after in pairs)
        z = np.stack([each.solution.z for each in own], axis=-2)
        both = outcomes(self.problem, x, z, xi)
        paid, misses = (_as_the_worst(memo.failed, part) for part in both)
        charge = charged(self.problem, state.charges, paid, misses)
        cost = state.cost + charge
        gap = state.gap + mixability_gap(state.cost, state.gap, self._prior, charge)
        before = np.exp(hedge(state.cost, state.gap, self._prior))
        sampled = self.selection == "sample"
        took = before if sampled else np.eye(before.shape[-1])[memo.chosen]
        charges = book(self.problem, state.charges, took, paid, misses, charge)
        return EnsembleState(
            seeds=state.seeds,
            arms=arms,
            width=np.array(x.shape[-1]),
            cost=cost,
            gap=gap,
            charges=charges,
            info=EnsembleInfo(
                arms=ArmsReport(
                    arm_mean=(before * paid).sum(axis=-1),
                    arm_cost=paid,
                    arm_bound=cost_bound(charges, cost, gap)
                    if sampled
                    else np.full(gap.shape, np.nan),
                    arm_stages=state.info.arms.arm_stages + 1.0,
                ),
                arm_weights=np.exp(hedge(cost, gap, self._prior)),
                arm_failed=np.minimum(failed, 1.0),
                arm_missed=misses,
                miss_price=price(state.charges),
                chosen=memo.chosen.astype(np.float64),
                of_arms=tuple(arm.info for arm in arms),
            ),
        )

    def _context(self, where: str, state: EnsembleState, x: Array) -> Array:
        """Check the context (k), as long as before: a bad one is an error, no failure of an arm."""
        size = int(state.width) if state.width >= 0 else ...
        return arguments.finite_and_squarable(
            f"Ensemble.{where}", "x", x, size, gaps=promises(self, TakesMissing)
        )

    def _taught(
        self, state: EnsembleState, t: int, x: Array, own: list[Decision], xi: Array
    ) -> list[Any]:
        """Return the state of each arm after the outcome; None for one that failed."""
        trios = zip(self._arms, state.arms, own, strict=True)
        return [_tried(arm, partial(arm.learn, before, t, x, z, xi)) for arm, before, z in trios]


def _taken(solutions: Sequence[Solution], chosen: IntArray) -> Solution:
    """Return the solution of the arm that was chosen, trial by trial."""
    parts = zip(*solutions, strict=True)
    z, *numbers = (np.stack(part, axis=chosen.ndim) for part in parts)
    return Solution(
        np.take_along_axis(z, chosen[..., None, None], -2)[..., 0, :],
        *(np.take_along_axis(part, chosen[..., None], -1)[..., 0] for part in numbers),
    )


def _default_model(problem: Problem) -> Mixture:
    """Outcomes lie where the problem says, if it says so by a `support`."""
    return Mixture(dim_xi=problem.dims.xi, support=support_of(problem))


class _Memo(NamedTuple):
    """Decisions of all arms, and the number of the one that was taken."""

    chosen: IntArray  # ()
    failed: Array  # (A)
    decisions: tuple[Any, ...]  # of each arm; of one that failed, that of the first that did not


def _as_the_worst(failed: Array, losses: Array) -> Array:
    """(A), (A) -> (A): an arm that failed is held to have lost as much as any."""
    return np.where(failed > 0, losses.max(axis=-1, keepdims=True), losses)


def _tried(arm: Policy[Any], action: Callable[[], T]) -> T | None:
    """Its result, or None with a warning where it fails: the other arms carry on."""
    try:
        return action()
    except Exception as error:
        warn_once(f"The arm {type(arm).__name__} failed", error)
        return None
