"""Time and memory of the default ensemble against contexts and outcomes, and over many stages.

python benchmarks/learner.py                    writes benchmarks/results/learner.{md,json}
python benchmarks/learner.py --before FOLDER    beside an earlier version's sources, in turns

Each row is a process of its own on one core. Small sizes, to see that it works:

python benchmarks/learner.py --contexts 3 --outcomes 1 --stages 20 40 --flat 100
"""

import json
import os
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from results_file import write, write_markdown

HERE = Path(__file__).parent
NOW = HERE.parent / "src"
BLOCKS = 10  # of the long run
PATIENCE, WHATEVER = 15, 10_000  # seconds of a row, and of the long run
ONE_CORE = {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL", "NUMBA")}

Row = dict[str, Any]


def chosen() -> Namespace:
    parser = ArgumentParser(description="Time and memory of the default ensemble.")
    parser.add_argument("--before", type=Path, help="source folder of an earlier version")
    parser.add_argument("--contexts", type=int, nargs="+", default=[3, 10, 40, 100])
    parser.add_argument("--outcomes", type=int, nargs="+", default=[1, 8, 40])
    parser.add_argument("--stages", type=int, nargs=2, default=[200, 400])
    parser.add_argument("--flat", type=int, default=10_000)
    return parser.parse_args()


def measured(sources: Path, stream: str, *numbers: int) -> list[Row]:
    """The blocks of one run in a fresh process that imports these sources."""
    if not (sources / "bocopt").is_dir():
        raise SystemExit(f"There is no package bocopt in {sources}.")
    script = str(HERE / "learner_stages.py")
    command = [sys.executable, script, stream, *(str(number) for number in numbers)]
    environment = {**os.environ, **ONE_CORE, "PYTHONPATH": str(sources.resolve())}
    done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE)
    blocks: list[Row] = json.loads(done.stdout)["blocks"]
    return blocks


def compared(streams: list[str], folders: dict[str, Path], first: int, last: int) -> list[Row]:
    """Rows of streams and versions; which version comes first changes from stream to stream."""
    rows: list[Row] = []
    for turn, stream in enumerate(streams):
        found: dict[str, Row] = {}
        for name in list(folders) if turn % 2 else list(folders)[::-1]:
            found[name] = row_of(name, folders[name], stream, first, last)
        cut = [row for row in found.values() if row["to"] < last]
        again = [
            row_of(name, folders[name], stream, row["from"], row["to"])
            for row in cut
            for name in folders
            if name != row["version"]
        ]  # at the stages of a version that was too slow, so that like is compared with like
        rows += [*(found[name] for name in folders), *again]
    return rows


def row_of(name: str, sources: Path, stream: str, first: int, last: int) -> Row:
    (block,) = measured(sources, stream, first, last, last - first, PATIENCE)
    print(stream, name, f"{stage_cpu(block):.1f} ms", file=sys.stderr)
    return {"stream": stream, "version": name, **block}


def stage_cpu(row: Row) -> float:
    return float(row["decide_cpu_ms"] + row["learn_cpu_ms"])


def stage_clock(row: Row) -> float:
    return float(row["decide_clock_ms"] + row["learn_clock_ms"])


def stages_of(row: Row) -> tuple[str, int, int]:
    return row["stream"], row["from"], row["to"]


def rows_of(rows: list[Row]) -> list[str]:
    """Of the comparison, with how many times longer the version before took for these stages."""
    before = {stages_of(row): stage_cpu(row) for row in rows if row["version"] == "before"}
    lines = []
    for row in rows:
        known = before.get(stages_of(row))
        ratio = "" if known is None else f"{known / stage_cpu(row):.1f}"
        lines.append(
            f"| {row['stream']} | {row['version']} | {row['from']} to {row['to']} |"
            f" {row['decide_cpu_ms']:.2f} |"
            f" {row['learn_cpu_ms']:.2f} | {stage_cpu(row):.2f} | {stage_clock(row):.2f} |"
            f" {ratio} | {row['state_mb']:.2f} | {row['growth_mb']:.1f} |"
        )
    return lines


def text(rows: list[Row], flat: list[Row], first: int, last: int) -> list[str]:
    return [
        "# The default ensemble: time and memory",
        "",
        "`python benchmarks/learner.py`: `Ensemble(problem)` on one live stream on one core,"
        f" milliseconds a stage, stages {first:,} to {last:,}; fewer where these would take more"
        f" than {PATIENCE} s.",
        "",
        "Streams are the paper's, and newsvendors with so many contexts x outcomes. The last three"
        " columns: CPU time of the version before in units of this row's, all arrays of the state,"
        " and what the process grew by since its fifth stage.",
        "",
        "| stream | version | stages | decide, CPU | learn, CPU | stage, CPU | stage, clock |"
        " before / this | state, MB | growth, MB |",
        "|---|---|---|---:|---:|---:|---:|---:|---:|---:|",
        *rows_of(rows),
        "",
        f"The paper's stream over {flat[-1]['to']:,} stages (without the first five, which load):",
        "",
        "| stages | stage, CPU | stage, clock | 99% of stages, clock | state, MB | growth, MB |",
        "|---|---:|---:|---:|---:|---:|",
        *(
            f"| {row['from']:,} to {row['to']:,} | {stage_cpu(row):.2f} | {stage_clock(row):.2f} |"
            f" {row['p99_clock_ms']:.2f} | {row['state_mb']:.2f} | {row['growth_mb']:.1f} |"
            for row in flat
        ),
    ]


def main() -> None:
    options = chosen()
    folders = {"before": options.before, "now": NOW} if options.before else {"now": NOW}
    sizes = [f"{k}x{m}" for k in options.contexts for m in options.outcomes]
    rows = compared(["paper", *sizes], folders, *options.stages)
    flat = measured(NOW, "paper", 0, options.flat, options.flat // BLOCKS, WHATEVER)
    write("learner", {"sizes": rows, "flat": flat})
    write_markdown("learner", text(rows, flat, *options.stages))


if __name__ == "__main__":
    main()
