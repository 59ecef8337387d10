"""The task of the learning studies: a policy on a world, with what it believed."""

from dataclasses import dataclass

import numpy as np

from bocopt import run
from bocopt_studies.work.task import Play, Record

#: Kept where the policy has them: (n) numbers a stage.
_BELIEFS = ("weights", "probability", "arm_weights", "arm_cost", "arm_bound")


@dataclass(frozen=True, kw_only=True)
class Learn(Play):
    """Objective, feasibility and status of each stage, and what a mixture or an ensemble showed."""

    def run(self) -> Record:
        """Return objective, feasibility, status and beliefs by name, (trials, T, ...) each."""
        found: dict[str, list[np.ndarray]] = {}
        sense = self.problem.sense
        for stage in run(
            self.policy,
            self.stream,
            problem=self.problem,
            seeds=self.seeds,
            horizon=self.horizon,
            hindsight=False,
        ):
            found.setdefault(sense.value, []).append(sense.sign * stage.cost)
            found.setdefault("feasible", []).append(stage.feasible)
            found.setdefault("status", []).append(stage.decision.solution.status.astype(np.int8))
            for name in _BELIEFS:
                if name in stage.info:
                    found.setdefault(name, []).append(stage.info[name].astype(np.float32))
        return {name: np.stack(series, axis=1) for name, series in found.items()}
