"""The tasks of the study of beliefs: their certificates and the truth, live and for a batch."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bocopt.beliefs import GibbsPosterior, for_horizon
from bocopt.beliefs.update import gibbs_update
from bocopt.core import Array, ConditionalSampler
from bocopt.guarantees import AgainstOneDraw, Guarantee, anytime, evidence_of, offline
from bocopt.guarantees.certificate import nan_is_no_news
from bocopt.guarantees.pac_bayes import bettor, bounded, wealth
from bocopt.loop import play
from bocopt.numeric import noise
from bocopt.numeric.weights import uniform
from bocopt.paper import BMA
from bocopt.problems.hindsight import decide_as_if, hindsight
from bocopt_studies.guarantees.cover import DELTAS
from bocopt_studies.work.task import Play, Record, Task

#: Of a belief at a stage: what its own decision loses, one draw from it, the difference, and one
#: draw from the belief that knows this stage's outcome, before any move.
DECISION, DRAW, APART, UPDATED = "decision", "one draw", "difference", "updated"


@dataclass(frozen=True, kw_only=True)
class CertifyBelief(Play):
    """Value, bound and lower end of each guarantee after the stages `at`, and the true risks.

    These are for losses cut at `cap`, by draws from the law of xi given x.
    """

    policy: BMA[Any]
    guarantees: tuple[tuple[str, Guarantee[Any]], ...]
    law: ConditionalSampler
    cap: float
    at: tuple[int, ...]
    draws: int = 32
    trials_per_block: ClassVar[int] = 10

    def run(self) -> Record:
        """Return parts of certificates and true risks by name, (trials, len(at)) each."""
        seeds = np.array(self.seeds)
        states = {name: one.init(seeds.shape) for name, one in self.guarantees}
        belief, found = self.policy.init(seeds), dict[str, list[Array]]()
        sums = {name: np.zeros(len(seeds)) for name in (DECISION, DRAW, UPDATED)}
        stream = self.stream.stages(seeds)
        for t in range(self.horizon):
            x, xi = next(stream)
            stage, after = play(self.policy, self.problem, belief, t, x, xi)
            evidence = evidence_of(self.problem, stage)
            with nan_is_no_news():
                states = {n: one.step(states[n], evidence) for n, one in self.guarantees}
            risks = self._risks(belief, t, x, stage.decision.solution.z, xi)
            sums, belief = {name: sums[name] + risks[name] for name in sums}, after
            if t + 1 not in self.at:
                continue
            true = {**sums, APART: sums[DECISION] - sums[DRAW]}
            for name, total in true.items():
                found.setdefault(f"true/{name}", []).append(total / (t + 1))
            for name, one in self.guarantees:
                said = one.certificate(states[name])
                found.setdefault(f"{name}/value", []).append(said.value)
                found.setdefault(f"{name}/bound", []).append(said.bound)
                if isinstance(one, AgainstOneDraw):
                    found.setdefault(f"{name}/low", []).append(one.interval(states[name])[0])
        return {name: np.stack(series, axis=1) for name, series in found.items()}

    def _risks(self, belief: Any, t: int, x: Array, z: Array, seen: Array) -> dict[str, Array]:
        """Return the risks (trials) of the decision, and of draws before and after xi is `seen`."""
        u = noise.normal(np.array(self.seeds), t, "truth", (self.draws, self.law.dim_noise))
        xi = self.law.sample_given(x[:, None, :], u)
        least = hindsight(
            self.problem, np.broadcast_to(x[:, None, :], (*xi.shape[:-1], x.shape[-1])), xi
        )

        def risk(each: Array) -> Array:
            """(..., d) -> (...): mean loss of decisions, whose draws are the last axis."""
            cost = self.problem.cost(x[:, None, None, :], each[..., None, :], xi[:, None])
            lost: Array = np.minimum(cost - least.cost[:, None], self.cap)
            return np.asarray(lost.mean(axis=-1))

        scenarios, w = self.policy.scenarios(belief, t, x)
        of_draws = risk(decide_as_if(self.problem, x[:, None, :], scenarios).z)
        sampler = self.policy.sampler
        assert isinstance(sampler, GibbsPosterior)  # its updated belief is known before any move
        u = noise.normal(belief.seeds, t, "loss", (sampler.loss.dim_noise,))
        lost = sampler.loss(belief.theta, x[:, None, :], seen[:, None, :], u[:, None, :])
        after = np.exp(gibbs_update(belief.log_w, lost, sampler.lam).log_w)
        return {
            DECISION: risk(z[:, None])[:, 0],
            DRAW: (w * of_draws).sum(axis=-1),
            UPDATED: (after * of_draws).sum(axis=-1),
        }


@dataclass(frozen=True, kw_only=True)
class CoverAnytime(Task):
    """(true risk - seen) / slack of `anytime` at the worst time of each run, and of `offline`.

    Parameters have a coin each. The posterior is the one with the least bound, or all on the
    parameter that was luckiest, by one that knows the risks. `slack` is that after all stages.
    """

    parameters: int = 20
    every: int = 10
    trials_per_block: ClassVar[int] = 250

    def run(self) -> Record:
        """Return the worst used shares, the slacks and the bounds by name, (trials) each."""
        seeds, chances = np.array(self.seeds), np.linspace(0.4, 0.6, self.parameters)
        prior, found = uniform(seeds.shape, self.parameters), Record()
        points = np.where(np.eye(self.parameters) > 0, 0.0, -np.inf)
        coins = [
            noise.uniform(seeds, t, "anytime", (self.parameters,)) < chances
            for t in range(self.horizon)
        ]
        losses, so_far = np.stack(coins, axis=-2).astype(float), None
        for first in range(0, self.horizon, self.every):
            some = losses[..., first : first + self.every, :]
            so_far = wealth(some, scale=1.0, before=so_far)
            luckiest = points[(so_far.t[..., None] * chances - so_far.lost).argmax(axis=-1)]
            for delta in DELTAS:
                tried = {"least bound": bettor(so_far, prior, delta=delta), "luckiest": luckiest}
                for name, q in tried.items():
                    said = bounded(so_far, prior, q, delta=delta)
                    used = ((np.exp(q) * chances).sum(axis=-1) - said.value) / said.slack
                    key = f"anytime, {name}/{delta:g}"
                    found[key] = np.maximum(found.get(key, -np.inf), used)
        return found | self._slacks(losses, prior)

    def _slacks(self, losses: Array, prior: Array) -> Record:
        """After all stages, of each with its own posterior."""
        lam = self.horizon * for_horizon(self.horizon, 1.0, DELTAS[0])
        catoni = offline(losses, prior, lam=lam, scale=1.0, delta=DELTAS[0])
        ours = anytime(losses, prior, scale=1.0, delta=DELTAS[0])
        said = {"offline": catoni, "anytime": ours}
        return {f"slack/{name}": one.slack for name, one in said.items()} | {
            f"bound/{name}": one.bound for name, one in said.items()
        }
