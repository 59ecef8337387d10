"""How often certificates fail where the true risk is known."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bocopt import noise
from bocopt.core import Array, BoolArray
from bocopt.experiments.simulations import SIMULATIONS
from bocopt.experiments.tasks import Record, Task
from bocopt.guarantees import Feasibility, gibbs, offline
from bocopt.smc import for_horizon
from bocopt.smc.weights import uniform

DELTAS = (0.05, 0.2)
_ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True)
class Cover(Task):
    """Whether a run was ever violated, by certificate and delta: stopped at its worst time."""

    simulation: str
    trials_per_block: ClassVar[int] = 1000

    def run(self) -> Record:
        seeds, simulation = np.array(self.seeds), SIMULATIONS[self.simulation]
        tried = {
            (name, delta): entry
            for delta in DELTAS
            for name, entry in simulation.guarantees(self.horizon, delta).items()
        }
        states = {key: guarantee.init(seeds.shape) for key, (_, guarantee) in tried.items()}
        totals: dict[str, Array] = {}
        found: Record = {}
        for t, (evidence, risks) in enumerate(simulation.stages(seeds, self.horizon), start=1):
            totals = {name: totals.get(name, 0.0) + risk for name, risk in risks.items()}
            for key, (risk, guarantee) in tried.items():
                states[key] = guarantee.step(states[key], evidence)
                shown = guarantee.certificate(states[key])
                failed = np.asarray(totals[risk] / t > shown.bound + _ROUNDING)
                if isinstance(guarantee, Feasibility):  # whose two sides always speak
                    low, high = guarantee.rates(states[key])
                    true = 1.0 - totals[risk] / t
                    failed = np.asarray((true < low - _ROUNDING) | (true > high + _ROUNDING))
                elif not shown.applicable.all():
                    raise RuntimeError(f"{key} does not apply: {shown.note}")
                _mark(found, key, failed)
        return found


@dataclass(frozen=True, kw_only=True)
class CoverBatch(Task):
    """The same for the offline bound, after a batch of `horizon` outcomes."""

    trials_per_block: ClassVar[int] = 1000

    def run(self) -> Record:
        seeds, found = np.array(self.seeds), dict[str, Any]()
        chances = np.linspace(0.4, 0.6, 5)
        total = np.zeros((len(seeds), len(chances)))
        for t in range(self.horizon):
            total += noise.uniform(seeds, t, "batch", (1,)) < chances
        losses, prior = total / self.horizon, uniform(seeds.shape, len(chances))
        for delta in DELTAS:
            lam = self.horizon * for_horizon(self.horizon, 1.0, delta)
            settings: dict[str, Any] = {"n": self.horizon, "lam": lam, "scale": 1.0}
            bound = offline(losses, prior, delta=delta, **settings).bound
            risk = (np.exp(gibbs(losses, prior, lam=lam)) * chances).sum(axis=-1)
            _mark(found, ("offline", delta), np.asarray(risk > bound))
        return found


def _mark(found: Record, key: tuple[str, float], failed: BoolArray) -> None:
    name = f"{key[0]}/{key[1]:g}"
    found[name] = failed | found.get(name, np.zeros(failed.shape, bool))
