"""Approximate Bayesian computation, with the task's loss as the summary of the data."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.beliefs.belief import LAG
from bocopt.beliefs.draws import Draws, DrawsInfo
from bocopt.beliefs.past import Ledger, ledger_of
from bocopt.core import Array, IntArray, Loss, Prior
from bocopt.numeric import noise
from bocopt.numeric.weights import uniform

_FIRST_SCALE, _SMALLEST_SCALE, _WANTED = 0.5, 1e-5, 0.3  # of steps, and acceptance aimed at


class Cloud(NamedTuple):
    """Particles of one trial, none of which loses more than `level`."""

    u: Array  # (N, p) the prior's noise
    total: Array  # (N) loss on the batch
    roots: IntArray  # (N, lag) ancestors, oldest first
    level: float
    least: float  # loss that was found
    scale: float
    acceptance: float  # of the last sweep
    evaluated: float


@dataclass(frozen=True, kw_only=True)
class ApproximateBayes:
    """Parameters whose loss on a batch is within `tolerance` of the least: L <= min L + tolerance.

    What it converges to, with more particles and sweeps, is the prior given that event, and *not*
    the Gibbs posterior: within the tolerance all losses count alike, beyond it nothing does. As the
    tolerance goes to 0 it is the prior on the parameters that lost least. (With a tolerance drawn
    anew for each parameter, exponential with rate lam, accepting would give the Gibbs posterior
    exactly; `ResampleMove` is the better way to that.) Near a quadratic minimum in p dimensions and
    under a flat prior, a tolerance of (p + 2) / (2 lam) has the Gibbs posterior's mean and
    variance.

    Particles begin at the prior. Round by round the level falls to the median of their losses:
    those above give way to copies of the others, and all are moved by `sweeps` steps that leave the
    prior unchanged and are taken where the loss stays within the level. Plain rejection would wait
    for prior draws that hit the last level, which in many dimensions none does.

    >>> from bocopt.paper import DecisionRegret, Gaussian, Linear
    >>> from bocopt.problems import Newsvendor
    >>> problem, predictor = Newsvendor(unit_cost=[1.0], price=[3.0]), Linear(1, 1)
    >>> loss, prior = DecisionRegret(problem, predictor), Gaussian.isotropic(predictor.dim)
    >>> posterior = ApproximateBayes(prior=prior, loss=loss, tolerance=2.0, size=200)
    >>> x = np.linspace(-1.0, 1.0, 50)[:, None]
    >>> draws = posterior.fit(np.array(0), x, 2.0 + x)
    >>> bool((draws.total <= draws.total.min() + 2.0).all())
    True

    Reference: Marin, Pudlo, Robert, Ryder (2012), Approximate Bayesian computational methods; Del
    Moral, Doucet, Jasra (2012), An adaptive sequential Monte Carlo method for approximate Bayesian
    computation; Wilkinson (2013), Approximate Bayesian computation gives exact results under the
    assumption of model error; paper, section 2.1.
    """

    prior: Prior
    loss: Loss
    tolerance: float
    size: int = 1000
    sweeps: int = 10
    rounds: int = 500

    def __post_init__(self) -> None:
        name = type(self).__name__
        arguments.kind(name, "prior", self.prior, Prior)
        arguments.kind(name, "loss", self.loss, Loss)
        arguments.number(name, "tolerance", self.tolerance, "[0, inf)")
        arguments.integer(name, "size", self.size, "[2, inf)")
        arguments.integer(name, "sweeps", self.sweeps, "[1, inf)")
        arguments.integer(name, "rounds", self.rounds, "[1, inf)")

    def fit(self, seeds: IntArray, x: Array, xi: Array, least: Array | None = None) -> Draws:
        """(n, k), (n, m) -> draws. `least` () is min L, if it is known; else what was found is it.

        In many dimensions particles do not find it: their losses are all close to the level.
        """
        seeds = arguments.seeds_of("ApproximateBayes.fit", seeds)
        lead = seeds.shape
        ledger = ledger_of("ApproximateBayes.fit", self.loss, seeds, x, xi)
        known = np.full(lead, np.nan)
        if least is not None:
            known = np.broadcast_to(
                arguments.array("ApproximateBayes.fit", "least", least, ()), lead
            )
        clouds = [self._near(ledger, i, known.reshape(-1)[i]) for i in range(seeds.size)]

        def gathered(parts: list[Any]) -> Any:
            """Return one array of all trials' parts, with the leading axes of the seeds."""
            return np.stack(parts).reshape((*lead, *np.shape(parts[0])))

        u = gathered([cloud.u for cloud in clouds])
        return Draws(
            seeds=seeds,
            theta=self.prior.sample(u),
            log_w=uniform(lead, self.size),
            total=gathered([cloud.total for cloud in clouds]),
            score=-0.5 * (u**2).sum(axis=-1),
            batch=gathered([cloud.roots[:, 0] for cloud in clouds]),
            info=DrawsInfo(
                acceptance=gathered([cloud.acceptance for cloud in clouds]),
                scale=gathered([cloud.scale for cloud in clouds]),
                evaluated=gathered([cloud.evaluated for cloud in clouds]),
                level=gathered([cloud.level for cloud in clouds]),
            ),
        )

    def _near(self, ledger: Ledger, trial: int, known: float) -> Cloud:
        """The particles of a trial, once they are all within the tolerance."""
        cloud = self._begun(ledger, trial)
        for round_ in range(self.rounds):
            goal = (cloud.least if np.isnan(known) else known) + self.tolerance
            if cloud.level <= goal:
                return cloud
            cloud = self._lowered(cloud, goal, round_, ledger.seeds[trial])
            for sweep in range(self.sweeps):
                cloud = self._moved(cloud, round_ * self.sweeps + sweep, ledger, trial)
        raise RuntimeError(
            f"ApproximateBayes is at a loss of {cloud.level:g} after {self.rounds} rounds, and "
            f"{goal:g} was asked for. Give it a larger tolerance or more rounds."
        )

    def _begun(self, ledger: Ledger, trial: int) -> Cloud:
        u = noise.normal(ledger.seeds[trial], 0, "prior", (self.size, self.prior.dim))
        own = np.broadcast_to(np.arange(self.size)[:, None], (self.size, LAG))
        owner, since = np.full(self.size, trial), np.zeros(self.size, np.int64)
        found = ledger.totals(self.prior.sample(u), owner, since, np.full(self.size, np.inf))
        least, evaluated = float(found.total.min()), float(found.evaluated.sum())
        return Cloud(u, found.total, own, np.inf, least, _FIRST_SCALE, np.nan, evaluated)

    def _lowered(self, cloud: Cloud, goal: float, round_: int, seed: IntArray) -> Cloud:
        """At the median loss, or at the goal if it is higher; without those that lose more."""
        ordered = np.sort(cloud.total)
        level = ordered[(self.size - 1) // 2]
        if level == cloud.level > ordered[0]:  # where many lose alike
            level = ordered[ordered < level][-1]
        level = max(float(level), goal)
        left = np.flatnonzero(cloud.total <= level)
        points = (np.arange(self.size) + noise.uniform(seed, round_, "level", (1,))) / self.size
        kept = left[(points * len(left)).astype(np.int64)]
        roots = np.concatenate([cloud.roots[kept, 1:], np.arange(self.size)[:, None]], axis=1)
        return cloud._replace(u=cloud.u[kept], total=cloud.total[kept], roots=roots, level=level)

    def _moved(self, cloud: Cloud, step: int, ledger: Ledger, trial: int) -> Cloud:
        """A step that leaves the prior unchanged, taken by those that stay within the level."""
        b = cloud.scale
        e = noise.normal(ledger.seeds[trial], step, "proximity", cloud.u.shape)
        new = np.sqrt(1 - b**2) * cloud.u + b * e
        owner, since = np.full(self.size, trial), np.zeros(self.size, np.int64)
        room = np.full(self.size, np.nextafter(cloud.level, np.inf))
        found = ledger.totals(self.prior.sample(new), owner, since, room)
        total = np.where(found.alive, found.total, cloud.total)
        acceptance = float(found.alive.mean())
        return cloud._replace(
            u=np.where(found.alive[:, None], new, cloud.u),
            total=total,
            least=min(cloud.least, float(total.min())),
            scale=float(np.clip(b * np.exp(acceptance - _WANTED), _SMALLEST_SCALE, 1.0)),
            acceptance=acceptance,
            evaluated=cloud.evaluated + float(found.evaluated.sum()),
        )
