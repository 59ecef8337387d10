"""The task of the study of tightness: what certificates say along a stream, and the truth."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bocopt import run
from bocopt.core import Array, ConditionalSampler, judge
from bocopt.guarantees import Guarantee, Monitor
from bocopt.numeric import noise
from bocopt_studies.work.task import Play, Record


@dataclass(frozen=True, kw_only=True)
class Certify(Play):
    """Value, bound and whether it is vacuous, of each guarantee, after the stages `at`.

    `true_cost` is the average expected cost of the decisions so far and `true_infeasible` their
    chance of being infeasible, by draws from the law of xi given x; `note` is what each guarantee
    says of each trial after the stage `noted`, or the last.
    """

    guarantees: tuple[tuple[str, Guarantee[Any]], ...]
    scale: float
    law: ConditionalSampler
    at: tuple[int, ...]
    noted: int
    draws: int = 256

    def run(self) -> Record:
        """Return certificates and true risks (trials, len(at)), statuses and notes, by name."""
        names = ["headline", "feasibility", *(name for name, _ in self.guarantees)]
        monitor = Monitor(self.problem, [g for _, g in self.guarantees], scale=self.scale)
        found: dict[str, list[Array]] = {}
        statuses = []
        notes: list[list[str]] = []
        cost = infeasible = np.zeros(len(self.seeds))
        for stage in run(
            self.policy, self.stream, problem=self.problem, seeds=self.seeds, horizon=self.horizon
        ):
            monitor.observe(stage)
            statuses.append(stage.decision.solution.status.astype(np.int8))
            u = noise.normal(
                np.array(self.seeds), stage.t, "truth", (self.draws, self.law.dim_noise)
            )
            x, z = stage.x[:, None, :], stage.decision.solution.z[:, None, :]
            xi = self.law.sample_given(x, u)
            paid, violation = judge(self.problem, x, z, xi)
            cost = cost + paid.mean(axis=-1)
            infeasible = infeasible + (violation > 0).mean(axis=-1)
            t = stage.t + 1
            if t == min(self.noted, self.horizon):
                notes = [self._notes(monitor, i) for i in range(len(self.seeds))]
            if t not in self.at:
                continue
            found.setdefault("true_cost", []).append(cost / t)
            found.setdefault("true_infeasible", []).append(infeasible / t)
            for name, certificate in zip(names, monitor.certificates(), strict=True):
                for part in ("value", "bound", "vacuous"):
                    found.setdefault(f"{name}/{part}", []).append(getattr(certificate, part))
        record: Record = {name: np.stack(series, axis=1) for name, series in found.items()}
        record["status"] = np.stack(statuses, axis=1)
        said = zip(names, zip(*notes, strict=True), strict=True)
        return record | {f"{name}/note": np.array(texts) for name, texts in said}

    def _notes(self, monitor: Monitor, trial: int) -> list[str]:
        """Return each guarantee's note on one trial."""
        pairs = zip(monitor.guarantees, monitor.states or (), strict=True)
        return [guarantee.certificate(_of_trial(state, trial)).note for guarantee, state in pairs]


def _of_trial(state: Any, trial: int) -> Any:
    if not isinstance(state, tuple):
        return np.asarray(state[trial])
    parts = [_of_trial(part, trial) for part in state]
    return type(state)(*parts) if hasattr(state, "_fields") else tuple(parts)
