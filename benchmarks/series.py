"""Policies on one series of real data: what each pays, and how much more than the first one."""

from collections.abc import Mapping
from time import process_time
from typing import Any

import numpy as np

from bocopt import run
from bocopt.core import Array, Policy, Problem, Stream
from bocopt.numeric.blocks import block_interval, block_length

Played = tuple[Policy[Any], Stream]  # who decides, and what is seen of the series


def rows_of(problem: Problem, players: Mapping[str, Played], stages: int) -> list[dict[str, Any]]:
    """One for each player; differences in per cent of what the first pays, block bootstrap, 95%."""
    costs: dict[str, Array] = {}
    rows = []
    for name, (policy, stream) in players.items():
        start = process_time()
        played = list(
            run(policy, stream, problem=problem, seeds=0, horizon=stages, hindsight=False)
        )
        spent = process_time() - start
        costs[name] = np.array([stage.cost for stage in played])
        rows.append(
            {
                "policy": name,
                "cost": float(costs[name].mean()),
                "feasible": float(np.mean([stage.feasible for stage in played])),
                "cpu_seconds": spent,
                **_beside(costs[name], next(iter(costs.values()))),
            }
        )
        print(name, rows[-1], flush=True)
    return rows


def _beside(ours: Array, first: Array) -> dict[str, float]:
    differences = 100.0 * (ours - first) / abs(float(first.mean()))
    low, high = block_interval(differences, block_length(differences))
    return {"more": float(differences.mean()), "low": low, "high": high}


def lines_of(place: str, rows: list[dict[str, Any]]) -> list[str]:
    """A table in Markdown."""
    first = rows[0]["policy"]
    return [
        "",
        f"## {place[0].upper()}{place[1:]}",
        "",
        f"| policy | mean cost | % more than {first} | 95% | feasible | CPU s |",
        "|---|---:|---:|---|---:|---:|",
        *(
            f"| {row['policy']} | {row['cost']:.4g} | {row['more']:+.2f} | "
            f"{row['low']:+.2f} to {row['high']:+.2f} | {row['feasible']:.3f} | "
            f"{row['cpu_seconds']:.0f} |"
            for row in rows
        ),
    ]
