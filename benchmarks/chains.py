"""What the paper names beside its own method: chains, a drift, proximity to the least loss, a vote.

- Against the exact Gaussian posterior of `oracle.py`, for 2 and 48 parameters. Error: root mean
  square of (mean of the draws - exact mean), in posterior sd. Standard error: what batch means say,
  and how often the exact mean is within two of them. Variance: found / exact.
- On the paper's knapsack: a loss without a gradient, and the drift of a smooth one.
- Votes: how often they are wrong, what the C-bound says, and what Hoeffding's inequality says of
  the votes that were seen to be wrong.

    python benchmarks/chains.py        writes benchmarks/results/chains.{md,json}
"""

from collections.abc import Callable
from itertools import islice
from time import process_time
from typing import Any

import numpy as np
from results_file import write, write_markdown

from bocopt.beliefs import (
    ApproximateBayes,
    Draws,
    FittedCrankNicolson,
    MetropolisHastings,
    ResampleMove,
    TowardsOutcome,
    average,
    posterior_mean,
)
from bocopt.core import Array, Predictor, Problem, Stream
from bocopt.guarantees.vote import c_bound, vote_margin
from bocopt.paper import DecisionRegret, Gaussian, Linear, PaperStream, SigmoidLinear
from bocopt.problems import Knapsack
from bocopt.problems.hindsight import decide_as_if, hindsight
from bocopt.problems.library.paths import grid
from bocopt.streams import PolynomialCosts
from bocopt_studies.posterior.oracles import Quadratic

LAM, STAGES, TRIALS, DELTA = 0.1, 100, 5, 0.05
SEEDS = np.arange(TRIALS)
PAPER = Knapsack(value=[12] * 4, capacity=[8] * 3, salvage=[3] * 3)
STRENGTHS = (None, 1e-9, 1.0, 10.0, 100.0)
Row = dict[str, Any]


class Pull:
    """A multiple of the gradient of `Quadratic`."""

    def __init__(self, strength: float) -> None:
        self.strength = strength

    def gradient(self, theta: Array, x: Array, xi: Array) -> Array:
        return self.strength * (theta - xi)


def learners(dim: int, least: Array) -> dict[str, Callable[[Array, Array], Any]]:
    given: Row = {"prior": Gaussian.isotropic(dim), "loss": Quadratic()}

    def chain(x: Array, xi: Array, **options: Any) -> Draws:
        return MetropolisHastings(**given, lam=LAM, **options).fit(SEEDS, x, xi)

    def near(x: Array, xi: Array, share: float, known: Array | None) -> Draws:
        tolerance = share * (dim + 2) / (2 * LAM)
        return ApproximateBayes(**given, tolerance=tolerance, sweeps=5).fit(SEEDS, x, xi, known)

    exact = ResampleMove(**given, lam=LAM, size=1000, sweeps=10, kernel=FittedCrankNicolson())
    return {
        "chain, no drift": chain,
        "chain, no drift, every 10th state": lambda x, xi: chain(x, xi, thin=10),
        "chain, its own gradient": lambda x, xi: chain(x, xi, drift=Pull(1.0)),
        "chain, half its gradient": lambda x, xi: chain(x, xi, drift=Pull(0.5)),
        "chain, twice its gradient": lambda x, xi: chain(x, xi, drift=Pull(2.0)),
        "proximity, (p + 2) / (2 lam) from the least": lambda x, xi: near(x, xi, 1.0, least),
        "proximity, a quarter of that": lambda x, xi: near(x, xi, 0.25, least),
        "proximity, to the least found": lambda x, xi: near(x, xi, 1.0, None),
        "particles, fitted pCN": lambda x, xi: exact.fit(SEEDS, x, xi),
    }


def on_the_oracle(dim: int) -> list[Row]:
    xi = np.random.default_rng(0).normal(0.5, 1.0, (STAGES, TRIALS, dim)).swapaxes(0, 1)
    x, precision = np.zeros((TRIALS, STAGES, 1)), 1 + LAM * STAGES
    mean = LAM * xi.sum(axis=1) / precision
    least = 0.5 * ((xi - xi.mean(axis=1, keepdims=True)) ** 2).sum(axis=(1, 2))
    rows = []
    for name, learn in learners(dim, least).items():
        start = process_time()
        draws = learn(x, xi)
        seconds = (process_time() - start) / TRIALS
        of = average if isinstance(draws, Draws) else posterior_mean
        found, w = of(draws, draws.theta), np.exp(draws.log_w)[..., None]
        off = (found.mean - mean) * np.sqrt(precision)
        square = (w * (draws.theta - found.mean[:, None]) ** 2).sum(axis=-2)
        rows.append(
            {
                "p": dim,
                "learner": name,
                "error": float(np.sqrt((off**2).mean())),
                "standard_error": float(found.standard_error.mean() * np.sqrt(precision)),
                "within_2": float((np.abs(found.mean - mean) < 2 * found.standard_error).mean()),
                "variance": float((square * precision).mean()),
                "effective_size": float(np.median(square / found.standard_error**2)),
                "losses": float(draws.info.evaluated.mean()),
                "seconds": seconds,
            }
        )
        print(rows[-1], flush=True)
    return rows


def on_the_knapsack(strength: float | None) -> Row:
    """The least strength is a control: steps are tuned as with a drift, and nothing pulls."""
    seeds, predictor = np.arange(2), SigmoidLinear(3, 12)
    stages = list(islice(PaperStream().stages(seeds), STAGES))
    x, xi = (np.stack(part, axis=1) for part in zip(*stages, strict=True))
    sampler = MetropolisHastings(
        prior=Gaussian.isotropic(48, 0.5),
        loss=DecisionRegret(PAPER, predictor),
        lam=1e-2,
        drift=None if strength is None else TowardsOutcome(predictor, strength),
        burn_in=2000,
        draws=2000,
    )
    draws = sampler.fit(seeds, x, xi)
    found = average(draws, draws.total[..., None] / STAGES)
    return {
        "strength": strength,
        "loss": float(found.mean.mean()),
        "standard_error": float(found.standard_error.mean()),
        "spread_of_trials": float(found.mean.std()),
        "effective_size": float(np.median(found.effective_size)),
        "acceptance": float(draws.info.acceptance.mean()),
        "step": float(draws.info.scale.mean()),
    }


def votes(
    problem: Problem, predictor: Predictor, stream: Stream, lam: float, within: float, stages: int
) -> Row:
    """A vote is wrong if the decision costs more than `within` above hindsight."""
    sampler = ResampleMove(
        prior=Gaussian.isotropic(predictor.dim, 0.5),
        loss=DecisionRegret(problem, predictor),
        lam=lam,
        size=100,
    )
    belief, margins = sampler.init(np.array(0)), []
    for t, (x, xi) in enumerate(islice(stream.stages(np.array(0)), stages)):
        decisions = decide_as_if(problem, x, predictor.sample(belief.theta, x, np.empty(0))).z
        right = problem.cost(x, decisions, xi) <= hindsight(problem, x, xi).cost + within
        margins.append(float(vote_margin(decisions, np.exp(belief.log_w), right)))
        belief = sampler.step(belief, t, x, xi)
    seen = c_bound(np.array(margins), delta=DELTA)
    wrong = float((np.array(margins) <= 0).mean())
    return {
        "within": within,
        "stages": stages,
        "margin": float(np.mean(margins)),
        "wrong": wrong,
        "direct": min(wrong + float(np.sqrt(np.log(1 / DELTA) / (2 * stages))), 1.0),
        "c_value": float(seen.value),
        "c_bound": float(seen.bound),
    }


def all_votes() -> list[Row]:
    paths, costs = grid(3, 3), PolynomialCosts(degree=2, half_width=0.5, dim_x=3, dim_xi=12)
    rows = []
    for within in (10.0, 30.0):
        row = votes(PAPER, SigmoidLinear(3, 12), PaperStream(), 1e-2, within, 500)
        rows.append({"problem": "the paper's knapsack"} | row)
    for within in (0.0, 1.0):
        row = votes(paths, Linear(3, 12), costs, 1.0, within, 500)
        rows.append({"problem": "paths on a 3 x 3 grid"} | row)
    return rows


def oracle_table(rows: list[Row]) -> list[str]:
    return [
        f"**Against the exact Gaussian posterior** (lam = {LAM}, {STAGES} stages, {TRIALS} trials;",
        "4 chains of 1000 draws after 1000 steps; 1000 particles, with 5 sweeps for proximity and",
        "10 for fitted pCN). Error in posterior standard deviations, variance is found / exact.",
        "Within 2: how often the exact mean is within two of the learner's own standard errors.",
        "Effective: as many independent draws. Losses and seconds of CPU: of a trial.",
        "",
        "| p | learner | error | standard error | within 2 | variance | effective | losses | s |",
        "|---:|---|---:|---:|---:|---:|---:|---:|---:|",
    ] + [
        f"| {r['p']} | {r['learner']} | {r['error']:.3f} | {r['standard_error']:.3f} "
        f"| {r['within_2']:.2f} | {r['variance']:.2f} | {r['effective_size']:.0f} "
        f"| {r['losses']:.2g} | {r['seconds']:.2f} |"
        for r in rows
    ]


def knapsack_table(rows: list[Row]) -> list[str]:
    return [
        "**The paper's knapsack** (lam 1e-2, prior sd 0.5, 100 stages, 2 trials, 4 chains of 2000",
        "draws after 2000 steps). The loss has no gradient; the drift is that of the squared error",
        "of the prediction, times a strength. Steps are tuned to an acceptance of 0.3 without a",
        "drift and of 0.57 with one: the second row is for that alone.",
        "",
        "| drift | mean loss a stage | standard error | effective | acceptance | step |",
        "|---|---:|---:|---:|---:|---:|",
    ] + [
        f"| {'none' if r['strength'] is None else format(r['strength'], 'g')} | {r['loss']:.2f} "
        f"| {r['standard_error']:.2f} | {r['effective_size']:.0f} | {r['acceptance']:.2f} "
        f"| {r['step']:.3f} |"
        for r in rows
    ]


def vote_table(rows: list[Row]) -> list[str]:
    return [
        f"**Votes** (100 particles, seed 0, delta {DELTA}). A vote is wrong if its decision costs",
        "more than so much above hindsight. Direct: Hoeffding's bound from the share that was so.",
        "",
        "| problem | more than | stages | mean margin | wrong | direct | (C), no slack | C-bound |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ] + [
        f"| {r['problem']} | {r['within']:g} | {r['stages']} | {r['margin']:.2f} "
        f"| {r['wrong']:.2f} | {r['direct']:.2f} | {r['c_value']:.2f} | {r['c_bound']:.2f} |"
        for r in rows
    ]


def main() -> None:
    oracle = on_the_oracle(2) + on_the_oracle(48)
    knapsack, vote = [on_the_knapsack(strength) for strength in STRENGTHS], all_votes()
    write("chains", {"oracle": oracle, "knapsack": knapsack, "votes": vote})
    tables = oracle_table(oracle), knapsack_table(knapsack), vote_table(vote)
    lines = ["# Chains, a drift, proximity and a vote", "", "`python benchmarks/chains.py`"]
    write_markdown("chains", lines + [line for table in tables for line in ("", *table)])


if __name__ == "__main__":
    main()
