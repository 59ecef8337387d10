"""Our resample-move beside the IBIS of `particles`, with the same loss, and how its cost grows.

pip install particles            (for this benchmark only)
python benchmarks/ibis.py        writes benchmarks/results/ibis.{md,json}

The decision-loss posterior of the paper's knapsack, prior N(0, I), lambda 1e-2. `particles` calls
our compiled loss on all its particles at once, stage by stage, as its API asks for.
"""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from time import perf_counter
from typing import Any

import numpy as np
from results_file import write, write_markdown

from bocopt.beliefs import RandomWalk
from bocopt.core import Array
from bocopt.paper import DecisionRegret, Gaussian, PaperStream, ResampleMove, SigmoidLinear
from bocopt_studies.paper.settings import Settings, problem_of

SIZE, STAGES, LAM, SWEEPS, REPEATS = 1000, 300, 1e-2, 5, 3
GROWTH, GROWTH_SIZE = (100, 300, 1000, 3000, 10_000), 200
PREDICTOR = SigmoidLinear(3, 12)
LOSS = DecisionRegret(problem_of(Settings()), PREDICTOR)
NO_NOISE = np.empty(0)


def data(stages: int) -> tuple[Array, Array]:
    """(T, k), (T, m): the paper's stream, trial 0."""
    seen = zip(range(stages), PaperStream().stages(np.array([0])), strict=False)
    pairs = [pair for _, pair in seen]
    return np.concatenate([x for x, _ in pairs]), np.concatenate([xi for _, xi in pairs])


def ours(**options: Any) -> dict[str, float]:
    sampler = ResampleMove(
        prior=Gaussian.isotropic(PREDICTOR.dim), loss=LOSS, lam=LAM, size=SIZE, **options
    )
    x, xi = data(STAGES)
    belief, moves = sampler.init(np.array([0])), 0.0
    start = perf_counter()
    for t in range(STAGES):
        belief = sampler.step(belief, t, x[t : t + 1], xi[t : t + 1])
        moves += float(belief.info.rejuvenated[0])
    seconds = perf_counter() - start
    w = np.exp(belief.log_w[0])
    return {
        "ms_per_stage": 1e3 * seconds / STAGES,
        "moves": moves,
        "mean_loss": float((w * belief.total[0]).sum() / STAGES),
    }


def theirs(chain_length: int | None) -> dict[str, float]:
    particles, samplers, dists = (
        import_module(name)
        for name in ("particles", "particles.smc_samplers", "particles.distributions")
    )
    x, xi = data(STAGES)

    def logpyt(model: Any, theta: Any, t: int) -> Array:
        return -LAM * LOSS(theta["theta"], x[t], xi[t], NO_NOISE)

    static_model: Any = type("Knapsack", (samplers.StaticModel,), {"logpyt": logpyt})
    dim = PREDICTOR.dim
    prior = dists.StructDist({"theta": dists.MvNormal(loc=np.zeros(dim), cov=np.eye(dim))})
    model = static_model(data=np.arange(STAGES), prior=prior)
    if chain_length:
        fk = samplers.IBIS(model=model, wastefree=True, len_chain=chain_length)
        algorithm = particles.SMC(fk=fk, N=SIZE // chain_length, ESSrmin=0.5)
    else:
        fk = samplers.IBIS(model=model, wastefree=False, len_chain=SWEEPS + 1)
        algorithm = particles.SMC(fk=fk, N=SIZE, ESSrmin=0.5)
    moves = 0.0
    start = perf_counter()
    for _ in algorithm:
        moves += bool(algorithm.rs_flag)
    seconds = perf_counter() - start
    w, theta = algorithm.W, algorithm.X.theta["theta"]
    total = sum(LOSS(theta, x[t], xi[t], NO_NOISE) for t in range(STAGES))
    return {
        "ms_per_stage": 1e3 * seconds / STAGES,
        "moves": moves,
        "mean_loss": float((w * total).sum() / STAGES),
    }


def growth() -> list[dict[str, float]]:
    """Seconds and moves up to each horizon: a single long run."""
    sampler = ResampleMove(
        prior=Gaussian.isotropic(PREDICTOR.dim),
        loss=LOSS,
        lam=LAM,
        size=GROWTH_SIZE,
        chain_length=5,
    )
    x, xi = data(GROWTH[-1])
    belief, moves, rows = sampler.init(np.array([0])), 0.0, []
    start = perf_counter()
    for t in range(GROWTH[-1]):
        belief = sampler.step(belief, t, x[t : t + 1], xi[t : t + 1])
        moves += float(belief.info.rejuvenated[0])
        if t + 1 in GROWTH:
            seconds = perf_counter() - start
            rows.append({"stages": t + 1, "ms_per_stage": 1e3 * seconds / (t + 1), "moves": moves})
    return rows


def measured(chain_length: int | None) -> dict[str, dict[str, float]]:
    """Both in turns, some times: the middle time."""
    samplers: dict[str, Callable[[], dict[str, float]]] = {
        f"threads {threads}": partial(
            ours,
            kernel=RandomWalk(),
            sweeps=SWEEPS,
            chain_length=chain_length,
            threads=threads,
        )
        for threads in (1, 2)
    }
    samplers["particles"] = partial(theirs, chain_length)
    found: dict[str, list[dict[str, float]]] = {name: [] for name in samplers}
    for _ in range(REPEATS):
        for name, sampler in samplers.items():
            found[name].append(sampler())
    return {
        name: {**runs[0], "ms_per_stage": float(np.median([r["ms_per_stage"] for r in runs]))}
        for name, runs in found.items()
    }


def main() -> None:
    ours(sweeps=1, kernel=RandomWalk())  # compile
    rows = {
        f"{SWEEPS} sweeps": measured(None),
        "waste-free, chains of 5": measured(5),
        "waste-free, chains of 20": measured(20),
    }
    grown = growth()
    lines = [
        "# Resample-move beside `particles`",
        "",
        f"`python benchmarks/ibis.py`: the knapsack's decision-loss posterior, {SIZE} particles, 48"
        f" parameters, {STAGES} stages, lambda {LAM:g}, random walk with the particles' covariance,"
        f" one trial; the middle of {REPEATS} runs in turns, one process, two cores. Mean loss: per"
        " stage, under the final posterior.",
        "",
        "| sampler | ours, ms a stage | on 2 threads | `particles` | ratio | on 2 threads | moves |"
        " mean loss |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name, found in rows.items():
        one, two, other = (
            found[who]["ms_per_stage"] for who in ("threads 1", "threads 2", "particles")
        )
        mine, their = found["threads 1"], found["particles"]
        lines.append(
            f"| {name} | {one:.1f} | {two:.1f} | {other:.1f} | {other / one:.1f} |"
            f" {other / two:.1f} | {mine['moves']:.0f} and {their['moves']:.0f} |"
            f" {mine['mean_loss']:.2f} and {their['mean_loss']:.2f} |"
        )
    lines += [
        "",
        f"How it grows ({GROWTH_SIZE} particles, waste-free pCN, chains of 5, one run):",
        "",
        "| stages | ms per stage, amortised | moves |",
        "|---:|---:|---:|",
    ]
    lines += [f"| {r['stages']:,} | {r['ms_per_stage']:.2f} | {r['moves']:.0f} |" for r in grown]
    write("ibis", {"comparison": rows, "growth": grown})
    write_markdown("ibis", lines)


if __name__ == "__main__":
    main()
