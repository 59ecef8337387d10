"""What an exact decision costs as the program grows, and where search stops being a good idea.

python benchmarks/sizes.py        writes benchmarks/results/sizes.{json,png}
"""

from time import perf_counter
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from results_file import RESULTS, write

from bocopt import Status
from bocopt.core import Array
from bocopt.problems import Knapsack

BASE = {"items": 4, "resources": 3, "scenarios": 20, "box": 1000, "capacity": 8}
SWEEPS = {
    "items": [2, 3, 4, 5, 6, 7, 8],
    "resources": [1, 2, 3, 4, 5],
    "scenarios": [1, 20, 100, 1000, 10_000],
    "box": [1, 3, 10, 100, 1000],
    "capacity": [4, 8, 16, 32, 64, 128, 256],
}
KINDS = {"weights near 1": "tab:blue", "weights from near 0 to 2": "tab:orange"}
COUNT, NODE_LIMIT = 12, 300_000


def weights_of(kind: str, rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Like the paper's outcomes, and like predictions under its prior."""
    if kind == "weights near 1":
        return rng.normal(1, 0.2, shape).clip(0)
    scale = rng.normal(size=(shape[0], 1, shape[2])) * 3  # one context, so scenarios agree a little
    return 2 / (1 + np.exp(-scale - rng.normal(size=shape)))


def measure(kind: str, size: dict[str, int]) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    problem = Knapsack(
        value=[12.0] * size["items"],
        capacity=[float(size["capacity"])] * size["resources"],
        salvage=[9.0 / size["resources"]] * size["resources"],
        upper=size["box"],
        node_limit=NODE_LIMIT,
    )
    shape = (COUNT, size["scenarios"], size["items"] * size["resources"])
    w = np.full(size["scenarios"], 1 / size["scenarios"])
    times, limits = [], 0
    for scenarios in weights_of(kind, rng, shape):
        start = perf_counter()
        solution = problem.solve(scenarios, w, np.zeros(0))
        times.append(perf_counter() - start)
        limits += int(solution.status == Status.LIMIT)
    quantiles = np.quantile(times, [0.1, 0.5, 0.9])
    return {"kind": kind, **size, "seconds": quantiles.tolist(), "at_limit": limits / COUNT}


def main() -> None:
    Knapsack(value=[1.0], capacity=[1.0], salvage=[1.0]).solve(
        np.ones((2, 1)), np.full(2, 0.5), np.zeros(0)
    )
    figure, axes = plt.subplots(1, 5, figsize=(13, 3.2), sharey=True, layout="constrained")
    results: dict[str, Any] = {}
    for axis, (name, values) in zip(axes, SWEEPS.items(), strict=True):
        for kind, colour in KINDS.items():
            rows = [measure(kind, {**BASE, name: value}) for value in values]
            results[f"{name}: {kind}"] = rows
            low, middle, high = 1e3 * np.array([row["seconds"] for row in rows]).T
            style = "-" if colour == "tab:blue" else "--"
            axis.plot(values, middle, style, color=colour, marker="o", ms=4, label=kind)
            axis.fill_between(values, low, high, color=colour, alpha=0.2, lw=0)
            stopped = [i for i, row in enumerate(rows) if row["at_limit"] > 0]
            axis.plot([values[i] for i in stopped], middle[stopped], "x", color=colour, ms=10)
        axis.set_xlabel(name)
        axis.grid(alpha=0.3)
        if name in ("scenarios", "box", "capacity"):
            axis.set_xscale("log")
        axis.set_xticks(values, [f"{value:,}" for value in values], fontsize=8)
        axis.minorticks_off()
    axes[0].set_yscale("log")
    axes[0].set_ylabel("milliseconds for one decision")
    axes[0].legend(frameon=False, fontsize=8)
    base = ", ".join(f"{name} {value}" for name, value in BASE.items())
    figure.suptitle(
        f"Exact search at {base}, one of them varied: median and 10-90% of {COUNT} instances "
        f"(x: some stopped at {NODE_LIMIT:,} nodes)",
        fontsize=9,
    )
    figure.savefig(RESULTS / "sizes.png", dpi=110)
    write("sizes", {"sweeps": results})


if __name__ == "__main__":
    main()
