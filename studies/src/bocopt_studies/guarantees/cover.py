"""Rates of failure of certificates where the true risk is known, and how much slack is used."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bocopt.beliefs import for_horizon
from bocopt.core import Array, IntArray
from bocopt.guarantees import Certificate, Guarantee, TwoSided, gibbs, offline
from bocopt.guarantees.certificate import nan_is_no_news
from bocopt.numeric import noise
from bocopt.numeric.weights import uniform
from bocopt_studies.guarantees.simulated_losses import LOSSES
from bocopt_studies.guarantees.simulation import Simulation
from bocopt_studies.guarantees.simulations import SIMULATIONS
from bocopt_studies.work.task import Record, Task

DELTAS = (0.05, 0.2)
_TINY = 1e-12  # a slack of 0 is not divided by


@dataclass(frozen=True, kw_only=True)
class Cover(Task):
    """(true risk - seen) / slack at the worst time of each run, by certificate and delta.

    Above 1 the certificate failed.
    """

    simulation: str
    trials_per_block: ClassVar[int] = 1000

    def run(self) -> Record:
        """Return the worst used share of the slack (trials), by certificate and delta."""
        simulation = {**SIMULATIONS, **LOSSES}[self.simulation]
        tried = {
            (name, delta): entry
            for delta in DELTAS
            for name, entry in simulation.guarantees(self.horizon, delta).items()
        }
        return used(simulation, tried, np.array(self.seeds), self.horizon)


def used(
    simulation: Simulation,
    tried: Mapping[tuple[str, float], tuple[str, Guarantee[Any]]],
    seeds: IntArray,
    horizon: int,
) -> Record:
    """Return the worst used share of the slack (trials), by name and delta of each guarantee.
    `tried` names the risk that each one is for, of those that the simulation knows.
    """
    states = {key: guarantee.init(seeds.shape) for key, (_, guarantee) in tried.items()}
    totals: dict[str, Array] = {}
    found: Record = {}
    for t, (evidence, risks) in enumerate(simulation.stages(seeds, horizon), start=1):
        totals = {name: totals.get(name, 0.0) + risk for name, risk in risks.items()}
        for key, (risk, guarantee) in tried.items():
            with nan_is_no_news():
                states[key] = guarantee.step(states[key], evidence)
            shown, true = guarantee.certificate(states[key]), totals[risk] / t
            share = _used(key, shown, true)
            if isinstance(guarantee, TwoSided):
                below = shown.value - guarantee.interval(states[key])[0]
                share = np.maximum(share, (shown.value - true) / _slack(below))
            name = f"{key[0]}/{key[1]:g}"
            found[name] = np.maximum(found.get(name, -np.inf), share)
    return found


@dataclass(frozen=True, kw_only=True)
class CoverBatch(Task):
    """The same for the offline bound, after a batch of `horizon` outcomes.

    Parameters have one coin for all, or one each.
    """

    coins: int
    parameters: int
    trials_per_block: ClassVar[int] = 200

    def run(self) -> Record:
        """Return the used share of the offline bound's slack (trials), by delta."""
        seeds, chances = np.array(self.seeds), np.linspace(0.4, 0.6, self.parameters)
        coins = [
            noise.uniform(seeds, t, "batch", (self.coins,)) < chances for t in range(self.horizon)
        ]
        losses = np.stack(coins, axis=-2).astype(float)
        prior, found = uniform(seeds.shape, self.parameters), Record()
        for delta in DELTAS:
            lam = self.horizon * for_horizon(self.horizon, 1.0, delta)
            shown = offline(losses, prior, lam=lam, scale=1.0, delta=delta)
            risk = (np.exp(gibbs(losses, prior, lam=lam)) * chances).sum(axis=-1)
            found[f"offline/{delta:g}"] = _used(("offline", delta), shown, risk)
        return found


def _used(key: tuple[str, float], shown: Certificate, true: Array) -> Array:
    if not shown.applicable.all():
        raise RuntimeError(f"{key} does not apply: {shown.note}")
    return (true - shown.value) / _slack(shown.slack)


def _slack(slack: Array) -> Array:
    return np.maximum(slack, _TINY)
