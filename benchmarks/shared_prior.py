"""A new stream that starts where a fleet is, beside one that starts from nothing.

    python benchmarks/shared_prior.py [--seed 0] [--only NAME]

Hyper-laws, splits and sizes were written down and committed before the first run on seed 0. What
was tried out on the way was tried on seeds from 1000 on, and on other opening days.
"""

import argparse
import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from results_file import RESULTS, write
from scipy.stats import t as student
from shops import FLEETS, OPENINGS, UNLIKE, Shops, openings, shops, unlike

from bocopt import Ensemble, Replay, run
from bocopt.core import Array, Policy, Problem
from bocopt.models import Informed, SharedPrior
from bocopt.policies import Constant, Predictive, informed_ensemble

LONG, SHORT, FIRST = 200, 50, 10


class Case(NamedTuple):
    """Old streams, and new ones to play."""

    problem: Problem
    old: Shops
    new: Shops


Makes = Callable[[Problem, SharedPrior, list[float]], Policy[Any]]
ALONE = "from nothing"
TITLE = [
    "# A shared prior",
    "",
    "By `python benchmarks/shared_prior.py`; hyper-laws and splits are in `shops.py`. Earned is",
    "in units of what knowing all demand would earn. Intervals are over new streams, paired. The",
    "last columns are the worst of them, in per cent too, and the share of those that fell behind.",
]
POLICIES: dict[str, Makes] = {
    ALONE: lambda problem, prior, z: Ensemble(problem),
    "from nothing, first the fleet's best constant": lambda problem, prior, z: Ensemble(
        problem, initial_decision=z
    ),
    "the fleet's best constant for ever": lambda problem, prior, z: Constant(z),
    "shared prior": lambda problem, prior, z: informed_ensemble(problem, prior),
    "shared prior, at once": lambda problem, prior, z: informed_ensemble(
        problem, prior, at_once=True
    ),
    "shared prior, at once, no way back": lambda problem, prior, z: Predictive(
        problem, Informed(prior, own_weight=1e-9, switch_rate=0.0, at_once=True)
    ),
}


def best_constant(problem: Problem, old: Shops) -> list[float]:
    """For all outcomes of the old streams."""
    outcomes = old.xi.reshape(-1, old.xi.shape[-1])
    scenarios = outcomes[:: max(1, len(outcomes) // 2000)]
    w = np.full(len(scenarios), 1.0 / len(scenarios))
    z: list[float] = problem.solve(scenarios, w, old.x[0, 0]).z.tolist()
    return z


def rewards(policy: Policy[Any], case: Case, horizon: int) -> Array:
    """(streams, stages): what is earned, in units of what each stream could be worth a stage."""
    seeds = np.arange(len(case.new.x))
    stream = Replay(case.new.x, case.new.xi)
    played = run(
        policy, stream, problem=case.problem, seeds=seeds, horizon=horizon, hindsight=False
    )
    earned = -np.stack([stage.cost for stage in played], axis=-1)
    worth = -case.problem.cost(case.new.x, case.new.xi, case.new.xi)  # of knowing all demand
    return np.asarray(earned / worth.mean(axis=-1, keepdims=True))


def table(cases: list[Case], horizons: dict[str, int]) -> list[dict[str, Any]]:
    """One row a policy and a span of stages: all cases together, paired by stream."""
    earned: dict[str, list[Array]] = {name: [] for name in horizons}
    for case in cases:
        prior = SharedPrior.of(zip(case.old.x, case.old.xi, strict=True))
        z = best_constant(case.problem, case.old)
        for name, horizon in horizons.items():
            policy = POLICIES[name](case.problem, prior, z)
            earned[name].append(rewards(policy, case, horizon))
    joined = {name: np.concatenate(parts) for name, parts in earned.items()}
    return [
        _row(joined, name, span)
        for name, horizon in horizons.items()
        for span in (FIRST, SHORT, LONG)
        if span <= horizon
    ]


def _row(earned: dict[str, Array], name: str, span: int) -> dict[str, Any]:
    ours, alone = (earned[who][:, :span].mean(axis=-1) for who in (name, ALONE))
    return {
        "policy": name,
        "stages": span,
        "streams": len(ours),
        "earned": float(ours.mean()),
        "spread": float(ours.std(ddof=1)),
        **_more(ours - alone, alone),
    }


def _more(differences: Array, alone: Array) -> dict[str, float]:
    """In per cent of what is earned from nothing; 95% intervals over streams."""
    count, base = len(differences), 100.0 / abs(float(alone.mean()))
    half = student.ppf(0.975, count - 1) * differences.std(ddof=1) / np.sqrt(count)
    middle = float(differences.mean())
    return {
        "more": base * middle,
        "low": base * (middle - float(half)),
        "high": base * (middle + float(half)),
        "worst": base * float(differences.min()),
        "behind": float((differences < 0).mean()),
    }


def lines_of(title: str, rows: list[dict[str, Any]]) -> list[str]:
    return [
        "",
        f"## {title[0].upper()}{title[1:]} ({rows[0]['streams']} new streams)",
        "",
        f"| policy | stages | earned | % more than {ALONE} | 95% | worst stream | behind |",
        "|---|---:|---:|---:|---|---:|---:|",
        *(
            f"| {row['policy']} | {row['stages']} | {row['earned']:.3f} | {row['more']:+.2f} | "
            f"{row['low']:+.2f} to {row['high']:+.2f} | {row['worst']:+.1f} | "
            f"{row['behind']:.2f} |"
            for row in rows
        ),
    ]


def cases_of(seed: int) -> Iterator[tuple[str, list[Case], dict[str, int]]]:
    """What is compared, and for how many stages."""
    short = dict.fromkeys(POLICIES, SHORT)
    for name, fleet in FLEETS.items():
        yield name, [Case(fleet.problem, *shops(fleet, seed + i)) for i in range(2)], short
    yield "stations", [Case(*parts) for parts in openings(OPENINGS[min(seed, 1)])], short
    long = {ALONE: LONG, "shared prior": LONG, "shared prior, at once": SHORT}
    for kind in UNLIKE:
        yield f"unlike: {kind}", [Case(*unlike(name, kind, seed)) for name in FLEETS], long


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="cases that have this in their name")
    asked = parser.parse_args()
    for name, cases, horizons in cases_of(asked.seed):
        if asked.only in name:
            rows = table(cases, horizons)
            print("\n".join(lines_of(name, rows)), flush=True)
            if asked.seed == 0:
                _keep(name, rows)


def _keep(name: str, rows: list[dict[str, Any]]) -> None:
    """Beside the cases that were run before."""
    path = RESULTS / "shared_prior.json"
    kept = json.loads(path.read_text())["rows"] if path.exists() else {}
    kept[name] = rows
    order = [name for name, _, _ in cases_of(0) if name in kept]
    write("shared_prior", {"rows": {name: kept[name] for name in order}})
    lines = [line for name in order for line in lines_of(name, kept[name])]
    (RESULTS / "shared_prior.md").write_text("\n".join([*TITLE, *lines]) + "\n")


if __name__ == "__main__":
    main()
