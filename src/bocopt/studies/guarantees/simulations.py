"""Simulations with known conditional risk, to test certificates on."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bocopt import Knapsack, SampleAverage, arguments, run
from bocopt.beliefs import for_horizon
from bocopt.beliefs.update import gibbs_update
from bocopt.core import Array, BeliefReport, IntArray, LossBounds, LossReport
from bocopt.guarantees import (
    Certificate,
    Corollary35,
    Direct,
    EmpiricalBernstein,
    Evidence,
    Feasibility,
    Guarantee,
    HoeffdingMixture,
    Theorem32,
    Theorem33,
    evidence_of,
    headline,
)
from bocopt.guarantees.decisions import Watched
from bocopt.numeric import noise
from bocopt.numeric.weights import uniform

COST, INFEASIBLE, UPDATED, ONE_DRAW, AGGREGATED = (
    "cost",
    "infeasible",
    "updated",
    "one draw",
    "aggregated",
)
Shown = tuple[Evidence, Mapping[str, Array]]  # a stage, and the true conditional risks there
LAM = 0.5  # of the beliefs simulated here
_PARAMETERS = 5
PEEKING, NORMAL = "control: Hoeffding for one time", "control: normal interval for one time"


class Simulation(ABC):
    """Runs (a leading axis) whose risks are known, and the certificates to test on them."""

    @abstractmethod
    def stages(self, seeds: IntArray, horizon: int) -> Iterator[Shown]: ...

    @abstractmethod
    def guarantees(self, horizon: int, delta: float) -> Mapping[str, tuple[str, Guarantee[Any]]]:
        """By name: the risk that it bounds, and the guarantee."""


class Peeking(HoeffdingMixture):
    """For one time, and watched at all times: a control that must fail.

    sum R_t <= sum c_t + sqrt(sum C_t^2 log(1/delta) / 2)
    """

    def certificate(self, state: Watched) -> Certificate:
        slack = state.own.unit * np.sqrt(state.own.square * np.log(1 / self.delta) / 2)
        return self._of(PEEKING, state, slack)


class Normal(EmpiricalBernstein):
    """Mean plus quantile times standard error, as a script would have it: another control."""

    def certificate(self, state: Watched) -> Certificate:
        from scipy.special import ndtri

        slack = self.scale * ndtri(1 - self.delta) * np.sqrt(state.own.square)
        return self._of(NORMAL, state, slack)


class _Decisions(Simulation):
    """Costs in [0, `scale`] of decisions."""

    scale: ClassVar[float] = 1.0

    def guarantees(self, horizon: int, delta: float) -> Mapping[str, tuple[str, Guarantee[Any]]]:
        return {
            "direct": (COST, Direct(lam=for_horizon(horizon, self.scale, delta), delta=delta)),
            "Hoeffding mixture": (COST, HoeffdingMixture(delta=delta)),
            "empirical Bernstein": (COST, EmpiricalBernstein(scale=self.scale, delta=delta)),
            "headline": (COST, headline(self.scale, delta)),
            "feasibility": (INFEASIBLE, Feasibility(delta=delta)),
            PEEKING: (COST, Peeking(delta=delta)),
            NORMAL: (COST, Normal(scale=self.scale, delta=delta)),
        }


@dataclass(frozen=True)
class Coin(_Decisions):
    """A cost of 1 with this chance, else 0; infeasible with the same."""

    chance: float

    def stages(self, seeds: IntArray, horizon: int) -> Iterator[Shown]:
        for t in range(horizon):
            paid = noise.uniform(seeds, t, "coin", ()) < self.chance
            risk = np.full(seeds.shape, self.chance)
            yield _bounded(paid.astype(float)), {COST: risk, INFEASIBLE: risk}


@dataclass(frozen=True)
class Power(_Decisions):
    """U^9: mean 1/10, many small costs and few large ones. Above 1/2 they are infeasible."""

    def stages(self, seeds: IntArray, horizon: int) -> Iterator[Shown]:
        for t in range(horizon):
            cost = noise.uniform(seeds, t, "power", ()) ** 9
            risks = {
                COST: np.full(seeds.shape, 0.1),
                INFEASIBLE: np.full(seeds.shape, 1 - 0.5 ** (1 / 9)),
            }
            yield _bounded(cost)._replace(feasible=cost <= 0.5), risks


@dataclass(frozen=True)
class Gambler(_Decisions):
    """Plays with rare large costs while lucky, and at even chances to get lucky again."""

    def stages(self, seeds: IntArray, horizon: int) -> Iterator[Shown]:
        ahead = np.zeros(seeds.shape)
        for t in range(horizon):
            risk = np.where(ahead < 0, 0.5, 0.05)
            cost = (noise.uniform(seeds, t, "gambler", ()) < risk).astype(float)
            ahead += risk - cost
            yield _bounded(cost), {COST: risk, INFEASIBLE: risk}


@dataclass(frozen=True)
class Stakes(_Decisions):
    """Even chances for a stake that is known before: raised while unlucky, lowered while lucky."""

    def stake(self, ahead: Array) -> Array:
        return np.where(ahead > 0, 0.05, np.minimum(1.0, 0.1 - ahead / 2))

    def stages(self, seeds: IntArray, horizon: int) -> Iterator[Shown]:
        ahead = np.zeros(seeds.shape)
        for t in range(horizon):
            stake = self.stake(ahead)
            paid = noise.uniform(seeds, t, "stakes", ()) < 0.5
            cost, risk = np.where(paid, stake, 0.0), stake / 2
            ahead += risk - cost
            shown = _bounded(cost)._replace(high=stake, feasible=~paid)
            yield shown, {COST: risk, INFEASIBLE: np.full(seeds.shape, 0.5)}


@dataclass(frozen=True)
class Wide(Stakes):
    """Two stakes, of which the one while unlucky is twice as wide as declared."""

    def stake(self, ahead: Array) -> Array:
        return np.where(ahead > 0, 0.5, 1.0)

    def guarantees(self, horizon: int, delta: float) -> Mapping[str, tuple[str, Guarantee[Any]]]:
        forgiving = EmpiricalBernstein(scale=0.5, delta=delta, strict=False)
        return {
            "empirical Bernstein, not strict": (COST, forgiving),
            "headline": (COST, headline(0.5, delta)),
        }


@dataclass(frozen=True)
class Warehouse(_Decisions):
    """A policy on a problem: a knapsack of one item, whose weight is uniform given x."""

    scale: ClassVar[float] = 144.0  # 12 z + 3 b for up to ten items
    problem: ClassVar[Knapsack] = Knapsack(value=[12], capacity=[8], salvage=[3], upper=10)

    def stages(self, seeds: IntArray, horizon: int) -> Iterator[Shown]:
        policy = SampleAverage(self.problem, latest=30)
        for stage in run(policy, self.problem, UniformWeights(), seeds=seeds, horizon=horizon):
            z = stage.decision.solution.z[..., 0]
            lightest, heaviest = UniformWeights.ends(stage.x[..., 0])
            with np.errstate(divide="ignore"):
                fits = np.clip(8.0 / z, lightest, heaviest)  # the heaviest that is feasible
            chance = (fits - lightest) / (heaviest - lightest)
            reward = chance * (12 * z + 24 - 1.5 * z * (fits + lightest))
            yield evidence_of(self.problem, stage), {COST: -reward, INFEASIBLE: 1 - chance}


@dataclass(frozen=True)
class UniformWeights:
    """x uniform on [0, 1], and a weight that is uniform between ends that depend on it."""

    @staticmethod
    def ends(x: Array) -> tuple[Array, Array]:
        return 0.8 + x, 1.2 + 2 * x

    def stages(self, seeds: IntArray) -> Iterator[tuple[Array, Array]]:
        """Endless."""
        seeds, t = arguments.seeds_of("UniformWeights.stages", seeds), 0
        while True:
            x, u = np.split(noise.uniform(seeds, t, "warehouse", (2,)), 2, axis=-1)
            low, high = self.ends(x)
            yield x, low + u * (high - low)
            t += 1


class _Beliefs(Simulation):
    def guarantees(self, horizon: int, delta: float) -> Mapping[str, tuple[str, Guarantee[Any]]]:
        best = for_horizon(horizon, 1.0, delta)
        return {
            "Theorem 3.2, own lam": (UPDATED, Theorem32(lam=LAM, scale=1.0, delta=delta)),
            "Theorem 3.2, lam*": (UPDATED, Theorem32(lam=best, scale=1.0, delta=delta)),
            "Theorem 3.3, own lam": (ONE_DRAW, Theorem33(lam=LAM, scale=1.0, delta=delta)),
            "Theorem 3.3, lam*": (ONE_DRAW, Theorem33(lam=best, scale=1.0, delta=delta)),
        }


@dataclass(frozen=True)
class FiniteBelief(_Beliefs):
    """Exact Gibbs weights on losses of 0 or 1.

    `coins`: one for all parameters, so that all are lucky together, or one for each, so that the
    posterior follows luck. `restless`: after a lucky stage the weights start again, and the
    likeliest parameter has a rare loss; both depend on the past.
    """

    coins: int = 1
    restless: bool = False

    def stages(self, seeds: IntArray, horizon: int) -> Iterator[Shown]:
        size = (*seeds.shape, _PARAMETERS)
        log_w, chances = uniform(seeds.shape, _PARAMETERS), np.linspace(0.4, 0.6, _PARAMETERS)
        for t in range(horizon):
            chance = np.broadcast_to(chances, size)
            if self.restless:
                likeliest = np.arange(_PARAMETERS) == log_w.argmax(axis=-1)[..., None]
                chance = np.where(likeliest, 0.03, chance)
            loss = (noise.uniform(seeds, t, "finite", (self.coins,)) < chance).astype(float)
            update = gibbs_update(log_w, loss, LAM)
            before, after = np.exp(log_w), np.exp(update.log_w)
            lucky = (update.losses.mean_loss < 0.2) & self.restless
            intact = np.where(lucky, 0.0, 1.0)
            yield (
                _belief(loss[..., 0], losses=update.losses, intact=intact),
                {
                    ONE_DRAW: (before * chance).sum(axis=-1),
                    UPDATED: (after * chance).sum(axis=-1),
                },
            )
            log_w = np.where(lucky[..., None], -np.log(_PARAMETERS), update.log_w)


@dataclass(frozen=True)
class Squared(_Beliefs):
    """Squared errors of forecasts up to `highest`, decided by the mean: mixable at LAM = 1/2.

    The chance of the outcome 1 is even while the forecaster is lucky, and `otherwise` if not. Where
    all forecasts are near 0, mixability is nearly an equality.
    """

    highest: float = 1.0
    otherwise: float = 0.05

    def guarantees(self, horizon: int, delta: float) -> Mapping[str, tuple[str, Guarantee[Any]]]:
        best = for_horizon(horizon, 1.0, delta)
        corollary = Corollary35(lam=best, scale=1.0, delta=delta)
        return {
            **super().guarantees(horizon, delta),
            "Corollary 3.5, lam*": (AGGREGATED, corollary),
        }

    def stages(self, seeds: IntArray, horizon: int) -> Iterator[Shown]:
        theta = np.linspace(0.0, self.highest, _PARAMETERS)
        log_w, ahead = uniform(seeds.shape, _PARAMETERS), np.zeros(seeds.shape)
        for t in range(horizon):
            chance = np.where(ahead > 0, 0.5, self.otherwise)
            outcome = (noise.uniform(seeds, t, "squared", ()) < chance).astype(float)
            forecast = (np.exp(log_w) * theta).sum(axis=-1)
            loss = (theta - outcome[..., None]) ** 2
            risk = chance[..., None] * (theta - 1) ** 2 + (1 - chance[..., None]) * theta**2
            own = (forecast - outcome) ** 2
            expected = chance * (forecast - 1) ** 2 + (1 - chance) * forecast**2
            update = gibbs_update(log_w, loss, LAM)
            ahead += expected - own
            yield (
                _belief(own, loss=own, losses=update.losses, intact=np.ones(seeds.shape)),
                {
                    ONE_DRAW: (np.exp(log_w) * risk).sum(axis=-1),
                    UPDATED: (np.exp(update.log_w) * risk).sum(axis=-1),
                    AGGREGATED: expected,
                },
            )
            log_w = update.log_w


SIMULATIONS: Mapping[str, Simulation] = {
    "fair coin": Coin(0.5),
    "rare cost": Coin(0.02),
    "skewed": Power(),
    "gambler": Gambler(),
    "stakes": Stakes(),
    "wide stakes": Wide(),
    "knapsack": Warehouse(),
    "one coin": FiniteBelief(),
    "a coin each": FiniteBelief(coins=_PARAMETERS),
    "restless": FiniteBelief(restless=True),
    "squared error": Squared(),
    "low forecasts": Squared(highest=0.05, otherwise=0.5),
}


def _belief(cost: Array, losses: LossReport, intact: Array, **known: Any) -> Evidence:
    """Of losses in [0, 1]."""
    zero = np.zeros(cost.shape)
    bounds = LossBounds(zero, zero + 1.0, zero + 1.0)
    return Evidence(cost, belief=BeliefReport(losses, bounds, intact), **known)


def _bounded(cost: Array) -> Evidence:
    return Evidence(
        cost, low=np.zeros(cost.shape), high=np.ones(cost.shape), feasible=np.asarray(cost < 1.0)
    )
