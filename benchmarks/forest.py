"""Nonlinear members against scikit-learn's randomised trees, in one run.

python benchmarks/forest.py    writes benchmarks/results/forest.{md,json}

CPU time, the least of several repetitions. scikit-learn is asked for one row at a time, as a stage
would; what is worth comparing in errors is in the tests.
"""

import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from time import process_time
from typing import Any

import numpy as np
from results_file import write, write_markdown

from bocopt.models.design import Design, design
from bocopt.models.forest import Forest
from bocopt.models.member import Member
from bocopt.models.smooth import Smooth

CASES = ((1000, 3, 1), (342, 40, 8), (1000, 10, 8), (1000, 40, 8), (1000, 100, 8), (1000, 40, 40))
MEMBERS: dict[str, Member] = {"forest": Forest(), "smooth": Smooth()}
TREES = (24, 100)
QUESTIONS = 50
IMPORT = (
    "from time import perf_counter as now; t = now(); import sklearn.ensemble; print(now() - t)"
)


def milliseconds(action: Callable[[], object], times: int) -> float:
    """The least of several."""
    found = []
    for _ in range(times):
        before = process_time()
        action()
        found.append(process_time() - before)
    return 1e3 * min(found)


def past_of(rows: int, dim_x: int, dim_xi: int) -> Design:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(rows, dim_x))
    mean = np.sin(2 * x[:, :1]) + x[:, -1:] ** 2
    return design(x, mean + rng.normal(size=(rows, dim_xi)), 1.0)


def ours(member: Member, past: Design) -> tuple[float, float]:
    """Milliseconds of a fit and of a prediction."""
    fit = member.refit(member.init((), past.x.shape[-1], past.xi.shape[-1]), past)

    def ask() -> None:
        for x in past.x[:QUESTIONS]:
            member.predict(fit, past.regression, x)

    return milliseconds(lambda: member.refit(fit, past), 9), milliseconds(ask, 5) / QUESTIONS


def theirs(trees: int, past: Design) -> tuple[float, float]:
    ensemble: Any = import_module("sklearn.ensemble")
    model = ensemble.ExtraTreesRegressor(trees, min_samples_leaf=2, random_state=0)
    outcomes = past.xi if past.xi.shape[-1] > 1 else past.xi[:, 0]

    def ask() -> None:
        for x in past.x[:QUESTIONS]:
            model.predict(x[None])

    return milliseconds(lambda: model.fit(past.x, outcomes), 3), milliseconds(ask, 2) / QUESTIONS


def row_of(rows: int, dim_x: int, dim_xi: int) -> dict[str, Any]:
    past = past_of(rows, dim_x, dim_xi)
    found: dict[str, Any] = {"rows": rows, "contexts": dim_x, "outcomes": dim_xi}
    for name, member in MEMBERS.items():
        found[f"{name}_refit_ms"], found[f"{name}_predict_ms"] = ours(member, past)
    for trees in TREES:
        times = theirs(trees, past)
        found[f"sklearn_{trees}_refit_ms"], found[f"sklearn_{trees}_predict_ms"] = times
    return found


def main() -> None:
    shown = subprocess.run(
        [sys.executable, "-c", IMPORT], capture_output=True, text=True, check=True
    )
    seconds = float(shown.stdout)
    rows = [row_of(*case) for case in CASES]
    names = [*MEMBERS, *(f"sklearn_{trees}" for trees in TREES)]
    titles = ["forest (24 trees)", "smooth", *(f"scikit-learn ({trees} trees)" for trees in TREES)]
    lines = [
        "# Nonlinear members against scikit-learn's randomised trees",
        "",
        "`python benchmarks/forest.py`: milliseconds of CPU, to fit / to predict for one context.",
        f"To import `sklearn.ensemble` took {seconds:.1f} s.",
        "",
        f"| rows | contexts | outcomes | {' | '.join(titles)} |",
        f"|---:|---:|---:|{'---:|' * len(titles)}",
        *(
            f"| {row['rows']} | {row['contexts']} | {row['outcomes']} | "
            + " | ".join(
                f"{row[f'{name}_refit_ms']:.1f} / {row[f'{name}_predict_ms']:.3f}" for name in names
            )
            + " |"
            for row in rows
        ),
    ]
    write("forest", {"import_seconds": seconds, "rows": rows})
    write_markdown("forest", lines)


if __name__ == "__main__":
    main()
