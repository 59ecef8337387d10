"""How far designs carry, simulated with what was measured: loads, hot streams, bursts, deaths.

python benchmarks/scale_designs.py       after scale_inputs.py, about two minutes

It writes benchmarks/results/scale_designs.json, draws benchmarks/results/scale.svg and
renews the tables of docs/scale.md.
"""

import json
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from results_file import RESULTS, write
from scale.chart import draw
from scale.designs import ASSUMED, MEMORY, NAMES, STREAMS, away_seconds, design
from scale.page import renew
from scale.simulation import Death, Design, Result, simulate
from scale.traffic import Burst, Traffic

MILD, HOT = 0.8, 1.0  # how unlike streams are: r^-zipf
POLICIES = ("SampleAverage", "Ensemble")
LOADS = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0, 1.05, 1.1)  # of the most that is sustained
REQUESTS, SHORTEST, LONGEST = 100_000, 20.0, 120.0  # of one simulation
PATIENCE = 1.0  # seconds that 99 of 100 answers may take
BURST = Burst(30.0, 60.0, 10.0)
BURST_LOAD, DEATH_LOAD = 0.2, 0.6


def at(rate: float, zipf: float = MILD) -> Traffic:
    """Requests at a rate, for as long as it takes to see much and not too long."""
    seconds = float(np.clip(REQUESTS / rate, SHORTEST, LONGEST))
    return Traffic(rate, seconds, STREAMS, zipf)


def sustained(made: Design, zipf: float) -> float:
    """The most requests a second of which 99 of 100 are answered in time, to 1%."""
    high = min(made.lanes / float(np.mean(made.parts)), made.nodes / made.front)
    low = high / 100
    while high / low > 1.01:
        middle = (low * high) ** 0.5
        if simulate(made, at(middle, zipf)).quantile(0.99) <= PATIENCE:
            low = middle
        else:
            high = middle
    return low


def seen(result: Result) -> dict[str, Any]:
    return {
        "p50_s": result.quantile(0.5),
        "p99_s": result.quantile(0.99),
        "over_1_s": result.slow,
        "missed": result.missed,
        "batch": result.batch,
        "busy": result.busy,
        "saturates": result.saturates,
    }


def until_quick(result: Result, since: float) -> float:
    """Seconds from an event until answers take less than a second again."""
    slow = result.arrived[(result.latency > PATIENCE) & (result.arrived >= since)]
    return float(slow.max() - since) if len(slow) else 0.0


def burst(made: Design, most: float) -> dict[str, float]:
    traffic = Traffic(BURST_LOAD * most, 300.0, STREAMS, MILD, BURST)
    result = simulate(made, traffic)
    return {"seconds": until_quick(result, BURST.start), "over_1_s": result.slow}


def death(made: Design, most: float, away: float) -> dict[str, float]:
    """One node dies at a time when all carry a part of what they can."""
    begins = 10.0
    traffic = Traffic(DEATH_LOAD * most, begins + 4 * away + 20.0, STREAMS, MILD)
    result = simulate(made, traffic, (Death(0, begins, away),))
    return {"away_s": away, "seconds": until_quick(result, begins), "over_1_s": result.slow}


def simulated(inputs: dict[str, Any], what: tuple[str, str]) -> dict[str, Any]:
    """All about one design with one policy."""
    policy, name = what
    made = design(inputs, policy, name)
    most = sustained(made, MILD)
    small = replace(made, held=1000)
    return {
        "held": made.held,
        "decisions_per_s": most / 2,
        "hot_decisions_per_s": sustained(made, HOT) / 2,
        "default_memory_decisions_per_s": sustained(small, MILD) / 2,
        "at_most": seen(simulate(made, at(most))),
        "curve": [
            {"decisions_per_s": load * most / 2, **seen(simulate(made, at(load * most)))}
            for load in LOADS
        ],
        "burst": burst(made, most),
        "death": death(made, most, away_seconds(inputs, name)),
    }


def main() -> None:
    inputs = json.loads((RESULTS / "scale_inputs.json").read_text())
    tasks = [(policy, name) for policy in POLICIES for name in NAMES]
    with ProcessPoolExecutor() as pool:
        rows = dict(zip(tasks, pool.map(partial(simulated, inputs), tasks), strict=True))
    found = {
        "settings": {
            "streams": STREAMS,
            "zipf": MILD,
            "hot_zipf": HOT,
            "memory_bytes": MEMORY,
            "burst": BURST._asdict() | {"load": BURST_LOAD},
            "death_load": DEATH_LOAD,
            "assumed": ASSUMED,
        },
        "policies": {policy: {name: rows[policy, name] for name in NAMES} for policy in POLICIES},
    }
    write("scale_designs", found)
    draw(found)
    renew(inputs, found)


if __name__ == "__main__":
    main()
