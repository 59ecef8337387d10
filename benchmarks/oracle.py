"""The particle posterior against the exact one, for both Liu-West modes.

For the quadratic loss l(theta, y) = |theta - y|^2 / 2 and the prior N(0, I), the Gibbs posterior
after t stages is N(lam sum y / (1 + lam t), I / (1 + lam t)). The table shows, per mode, dimension
and number of particles, over independent trials:

- error: root mean square, over trials and coordinates, of (particle mean - exact mean), in units of
  the exact posterior standard deviation (a perfect sampler of N particles has about 1 / sqrt(N));
- variance: found / exact, averaged over coordinates, mean and sd over trials;
- moves: rejuvenations per trial.

    python benchmarks/oracle.py        writes benchmarks/results/oracle.{md,json}
"""

import json
from pathlib import Path
from typing import Literal

import numpy as np

from bocopt.paper import Gaussian, GibbsPosterior, LiuWest
from bocopt.trace import mean_sd
from bocopt_studies.posterior.oracles import Quadratic

LAM, STAGES, TRIALS = 0.1, 100, 20
MODES: tuple[Literal["printed", "corrected"], ...] = ("printed", "corrected")
RESULTS = Path(__file__).parent / "results"


def measure(mode: Literal["printed", "corrected"], dim: int, size: int) -> dict[str, object]:
    sampler = GibbsPosterior(
        prior=Gaussian.isotropic(dim), loss=Quadratic(), lam=LAM, size=size, move=LiuWest(mode=mode)
    )
    outcomes = np.random.default_rng(0).normal(0.5, 1.0, (STAGES, TRIALS, dim))
    belief = sampler.init(np.arange(TRIALS))
    moves = np.zeros(TRIALS)
    for t, y in enumerate(outcomes):
        belief = sampler.step(belief, t, np.zeros((TRIALS, 1)), y)
        moves += belief.info.rejuvenated
    w = np.exp(belief.log_w)[..., None]
    mean = (w * belief.theta).sum(axis=-2)
    variance = (w * (belief.theta - mean[..., None, :]) ** 2).sum(axis=-2)
    precision = 1 + LAM * STAGES
    exact = LAM * outcomes.sum(axis=0) / precision
    return {
        "mode": mode,
        "dim": dim,
        "particles": size,
        "error": float(np.sqrt((((mean - exact) ** 2) * precision).mean())),
        "variance": mean_sd((variance * precision).mean(axis=-1))._asdict(),
        "moves": float(moves.mean()),
    }


def main() -> None:
    rows = [measure(m, d, n) for d in (2, 48) for m in MODES for n in (20, 200, 2000)]
    head = f"lam = {LAM}, {STAGES} stages, {TRIALS} trials, `python benchmarks/oracle.py`"
    lines = [
        "# Particle posterior against the exact Gaussian one",
        "",
        f"{head}. Error is in posterior standard deviations, variance is found / exact",
        "(mean ± sd over trials).",
        "",
        "| parameters | mode | particles | error | variance | moves |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        v = row["variance"]
        assert isinstance(v, dict)
        lines.append(
            f"| {row['dim']} | {row['mode']} | {row['particles']} | {row['error']:.3f} "
            f"| {v['mean']:.3f} ± {v['sd']:.3f} | {row['moves']:.1f} |"
        )
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "oracle.md").write_text("\n".join(lines) + "\n")
    (RESULTS / "oracle.json").write_text(
        json.dumps({"settings": head, "rows": rows}, indent=2) + "\n"
    )
    print("\n".join(lines))


if __name__ == "__main__":
    main()
