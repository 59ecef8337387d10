"""Decisions whose risks are known, beside others that would have been possible."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bocopt import SampleAverage, arguments, run
from bocopt.beliefs import for_horizon
from bocopt.core import Array, IntArray
from bocopt.guarantees import (
    Certificate,
    Comparison,
    Direct,
    EmpiricalBernstein,
    Evidence,
    Feasibility,
    Guarantee,
    HoeffdingMixture,
    evidence_of,
    headline,
)
from bocopt.guarantees.certificate import Shadow
from bocopt.guarantees.kernels.records import Errors, Squares, WatchedSums, named
from bocopt.numeric import noise
from bocopt.policies import Constant, Shadowed
from bocopt.problems import Knapsack
from bocopt_studies.guarantees.simulation import Shown, Simulation

COST, INFEASIBLE, DIFFERENCE = "cost", "infeasible", "difference"
PEEKING, NORMAL = "control: Hoeffding for one time", "control: normal interval for one time"


class Peeking(HoeffdingMixture):
    """Hoeffding bound for one time, watched at all times: a control that must fail.

    sum R_t <= sum c_t + sqrt(sum C_t^2 log(1/delta) / 2)
    """

    def _certify(self, seen: WatchedSums, own: Array) -> Certificate:
        squares = named(Squares, own)
        slack = squares.unit * np.sqrt(squares.in_units * np.log(1 / self.delta) / 2)
        return self._of(PEEKING, seen, slack)


class Normal(EmpiricalBernstein):
    """Mean plus quantile times standard error, as a script would have it: another control."""

    def _certify(self, seen: WatchedSums, own: Array) -> Certificate:
        from scipy.special import ndtri

        slack = self.scale * ndtri(1 - self.delta) * np.sqrt(named(Errors, own).square)
        return self._of(NORMAL, seen, slack)


class _Decisions(Simulation):
    """Costs in [0, `scale`] of decisions."""

    scale: ClassVar[float] = 1.0

    def guarantees(self, horizon: int, delta: float) -> Mapping[str, tuple[str, Guarantee[Any]]]:
        """Return guarantees of cost, feasibility and difference, and two controls, by name."""
        return {
            "direct": (COST, Direct(lam=for_horizon(horizon, self.scale, delta), delta=delta)),
            "Hoeffding mixture": (COST, HoeffdingMixture(delta=delta)),
            "empirical Bernstein": (COST, EmpiricalBernstein(scale=self.scale, delta=delta)),
            "headline": (COST, headline(self.scale, delta)),
            "feasibility": (INFEASIBLE, Feasibility(delta=delta)),
            "comparison": (DIFFERENCE, Comparison(delta=delta)),
            PEEKING: (COST, Peeking(delta=delta)),
            NORMAL: (COST, Normal(scale=self.scale, delta=delta)),
        }


@dataclass(frozen=True)
class Coin(_Decisions):
    """A cost of 1 with this chance, else 0; infeasible with the same."""

    chance: float

    def stages(self, seeds: IntArray, horizon: int) -> Iterator[Shown]:
        """Yield each stage's evidence and risks; the chance is always the same."""
        for t in range(horizon):
            paid = noise.uniform(seeds, t, "coin", ()) < self.chance
            risk = np.full(seeds.shape, self.chance)
            yield _bounded(paid.astype(float)), _risks(risk)


@dataclass(frozen=True)
class Power(_Decisions):
    """U^9: mean 1/10, many small costs and few large ones. Above 1/2 they are infeasible."""

    def stages(self, seeds: IntArray, horizon: int) -> Iterator[Shown]:
        """Yield each stage's evidence and risks; the law of the cost is always the same."""
        for t in range(horizon):
            cost = noise.uniform(seeds, t, "power", ()) ** 9
            above = np.full(seeds.shape, 1 - 0.5 ** (1 / 9))
            risks = _risks(np.full(seeds.shape, 0.1)) | {INFEASIBLE: above}
            yield _bounded(cost)._replace(feasible=cost <= 0.5), risks


@dataclass(frozen=True)
class Gambler(_Decisions):
    """Plays with rare large costs while lucky, and at even chances to get lucky again."""

    def stages(self, seeds: IntArray, horizon: int) -> Iterator[Shown]:
        """Yield each stage's evidence and risks; the chance is 1/2 while behind, else 1/20."""
        ahead = np.zeros(seeds.shape)
        for t in range(horizon):
            risk = np.where(ahead < 0, 0.5, 0.05)
            cost = (noise.uniform(seeds, t, "gambler", ()) < risk).astype(float)
            ahead += risk - cost
            yield _bounded(cost), _risks(risk)


@dataclass(frozen=True)
class RisingChances(_Decisions):
    """Chances that rise from 1/10 to 9/10 and start again: no average stands for a stage."""

    period: int = 40

    def stages(self, seeds: IntArray, horizon: int) -> Iterator[Shown]:
        """Yield each stage's evidence and risks; the chance depends on the stage alone."""
        for t in range(horizon):
            risk = np.full(seeds.shape, 0.1 + 0.8 * (t % self.period) / self.period)
            cost = (noise.uniform(seeds, t, "drift", ()) < risk).astype(float)
            yield _bounded(cost), _risks(risk)


@dataclass(frozen=True)
class Duel(_Decisions):
    """Two costs between 0 and 1 that have luck in common, and a rare loss for whoever is ahead."""

    def stages(self, seeds: IntArray, horizon: int) -> Iterator[Shown]:
        """Yield each stage's evidence, with the other cost as its shadow, and the risks."""
        ahead = np.zeros(seeds.shape)
        for t in range(horizon):
            common, own, rare = np.moveaxis(noise.uniform(seeds, t, "duel", (3,)), -1, 0)
            falls = np.where(ahead > 0, 0.1, 0.0)
            cost = 0.4 * common + 0.1 * own + 0.5 * (rare < falls)
            other = 0.4 * common + 0.1 * (1.0 - own)
            low, high = np.full(seeds.shape, -0.6), np.full(seeds.shape, 0.1)
            ahead += (other - cost) + 0.5 * falls
            risk = 0.25 + 0.5 * falls
            shown = _bounded(cost, Shadow(other, low, high))
            yield shown, {COST: risk, INFEASIBLE: 0.0 * risk, DIFFERENCE: 0.25 - risk}


@dataclass(frozen=True)
class Stakes(_Decisions):
    """Even chances for a stake that is known before: raised while unlucky, lowered while lucky."""

    def stake(self, ahead: Array) -> Array:
        """Return the stake: 0.05 while ahead, else from 0.1 to 1, more the further behind."""
        return np.where(ahead > 0, 0.05, np.minimum(1.0, 0.1 - ahead / 2))

    def stages(self, seeds: IntArray, horizon: int) -> Iterator[Shown]:
        """Yield each stage's evidence, whose cost is 0 or the stake, and the risks."""
        ahead = np.zeros(seeds.shape)
        for t in range(horizon):
            stake = self.stake(ahead)
            paid = noise.uniform(seeds, t, "stakes", ()) < 0.5
            cost, risk = np.where(paid, stake, 0.0), stake / 2
            ahead += risk - cost
            shown = _bounded(cost, high=stake)._replace(feasible=~paid)
            yield shown, _risks(risk) | {INFEASIBLE: np.full(seeds.shape, 0.5)}


@dataclass(frozen=True)
class Wide(Stakes):
    """Two stakes, of which the one while unlucky is twice as wide as declared."""

    def stake(self, ahead: Array) -> Array:
        """Return the stake: 0.5 while ahead, else 1, which is twice the declared scale."""
        return np.where(ahead > 0, 0.5, 1.0)

    def guarantees(self, horizon: int, delta: float) -> Mapping[str, tuple[str, Guarantee[Any]]]:
        """Return three guarantees that declare a scale of 0.5, with their risks."""
        forgiving = EmpiricalBernstein(scale=0.5, delta=delta, strict=False)
        return {
            "empirical Bernstein, not strict": (COST, forgiving),
            "headline": (COST, headline(0.5, delta)),
            "comparison": (DIFFERENCE, Comparison(scale=0.5, delta=delta)),
        }


@dataclass(frozen=True)
class Warehouse(_Decisions):
    """A policy on a problem: a knapsack of one item, whose weight is uniform given x."""

    scale: ClassVar[float] = 144.0  # 12 z + 3 b for up to ten items
    problem: ClassVar[Knapsack] = Knapsack(value=[12], capacity=[8], salvage=[3], upper=10)

    def stages(self, seeds: IntArray, horizon: int) -> Iterator[Shown]:
        """Yield each stage's evidence of a sample average beside a constant 4, and the risks."""
        policy = Shadowed(SampleAverage(self.problem, latest=30), {"four": Constant([4])})
        for stage in run(
            policy, UniformWeights(), problem=self.problem, seeds=seeds, horizon=horizon
        ):
            evidence = evidence_of(self.problem, stage)
            reward, chance = _expected(stage.x[..., 0], stage.decision.solution.z[..., 0])
            other, _ = _expected(stage.x[..., 0], np.full(seeds.shape, 4.0))
            risks = {COST: -reward, INFEASIBLE: 1 - chance, DIFFERENCE: reward - other}
            yield evidence, risks


def _expected(x: Array, z: Array) -> tuple[Array, Array]:
    """() the reward of z items, and the chance that they fit."""
    lightest, heaviest = UniformWeights.ends(x)
    with np.errstate(divide="ignore"):
        fits = np.clip(8.0 / z, lightest, heaviest)  # the heaviest that is feasible
    chance = (fits - lightest) / (heaviest - lightest)
    return chance * (12 * z + 24 - 1.5 * z * (fits + lightest)), chance


@dataclass(frozen=True)
class UniformWeights:
    """x uniform on [0, 1], and a weight that is uniform between ends that depend on it."""

    @staticmethod
    def ends(x: Array) -> tuple[Array, Array]:
        """Return the least and the largest weight given x, each of the shape of x."""
        return 0.8 + x, 1.2 + 2 * x

    def stages(self, seeds: IntArray) -> Iterator[tuple[Array, Array]]:
        """Endless."""
        seeds, t = arguments.seeds_of("UniformWeights.stages", seeds), 0
        while True:
            x, u = np.split(noise.uniform(seeds, t, "warehouse", (2,)), 2, axis=-1)
            low, high = self.ends(x)
            yield x, low + u * (high - low)
            t += 1


def _bounded(cost: Array, shadow: Shadow | None = None, high: Array | None = None) -> Evidence:
    """A cost between 0 and 1, or `high`, beside a decision that surely costs nothing."""
    zero = np.zeros(cost.shape)
    most = zero + 1.0 if high is None else high
    beside = (shadow or Shadow(zero, -most, zero),)
    return Evidence(cost, low=zero, high=most, feasible=np.asarray(cost < 1.0), shadows=beside)


def _risks(risk: Array) -> dict[str, Array]:
    """Return the risks of a cost of 1 with this chance, infeasible if paid, beside a cost of 0."""
    return {COST: risk, INFEASIBLE: risk, DIFFERENCE: -risk}
