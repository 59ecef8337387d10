"""What a decision takes on this machine: CPU, commits, bytes, starts, and a node end to end.

python benchmarks/scale_inputs.py        writes benchmarks/results/scale_inputs.{json,md}

It takes about two minutes on an idle machine with two cores, and needs Linux and PostgreSQL
(`scripts/postgres install`). Then `python benchmarks/scale_designs.py` simulates designs with what
was measured, and renews docs/scale.md. CPU seconds are of the processes themselves; seconds of
commits, starts and answers are by the clock, and count only where nothing else runs.
"""

import argparse
import os
import time
from typing import Any

from results_file import write, write_markdown
from scale import deciding, nodes, writing
from scale.subject import POLICIES, STORES, postgres
from scale.tables import measured

STARTS = (10, 1000, 10_000, 100_000)


def inputs(starts: tuple[int, ...]) -> dict[str, Any]:
    begun, load = time.perf_counter(), os.getloadavg()[0]

    def said(what: str) -> None:
        print(f"{time.perf_counter() - begun:6.1f} s  {what}", flush=True)

    with postgres() as server:
        said("CPU of decisions and outcomes")
        by_policy = {name: deciding.measured(name) for name in POLICIES}
        streams = {name: stream[100] for name, (_, stream) in by_policy.items()}
        stages = {name: stream.stages[-1] for name, stream in streams.items()}
        said("commits")
        ensemble = stages["Ensemble"]
        commits = {store: writing.commits(store, server, ensemble) for store in STORES}
        commits["a file"] = writing.appends(ensemble)
        leaving = {
            name: {
                store: writing.with_snapshots(store, server, stream.snapshot) for store in STORES
            }
            for name, stream in streams.items()
        }
        said("bytes of events")
        room = {name: writing.bytes_of_events(server, stage) for name, stage in stages.items()}
        said("nodes end to end")
        ends = {
            name: {store: nodes.driven(name, store, server) for store in STORES}
            for name in POLICIES
        }
    said("starts")
    recovery = {"starts": nodes.starts(starts), "replacement": nodes.replacements()}
    said("done")
    return {
        "cores": os.cpu_count(),
        "load_before": load,
        "policies": {name: rows for name, (rows, _) in by_policy.items()},
        "commits": commits,
        "commits_of_a_snapshot": leaving,
        "bytes_per_event": room,
        "node": ends,
        **recovery,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--starts", type=int, nargs="+", default=STARTS, help="streams of a start")
    found = inputs(tuple(parser.parse_args().starts))
    write("scale_inputs", found)
    title = ["# What a decision takes", "", "`python benchmarks/scale_inputs.py`", ""]
    write_markdown("scale_inputs", [*title, *measured(found)])


if __name__ == "__main__":
    main()
