"""A table of 100,000 rows and 50 columns: time and memory, beside the same rows read plainly.

python benchmarks/table_files.py        writes benchmarks/results/table_files.{md,json}

Each way runs in a process of its own, so that the peak of one says nothing of another. Times are
CPU times of one thread after the imports, the least of three. Memory is what the process peaked at
above what it had after the imports.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np
from results_file import write, write_markdown

ROWS, COLUMNS, REPEATS = 100_000, 50, 3
NAMES = [f"c{number}" for number in range(COLUMNS - 1)]
WAYS = {
    "series": "`read` and `series_of` (62 features)",
    "read": "`read`",
    "parquet": "`read` of the same rows in Parquet, and `series_of`",
    "numpy": "`numpy.loadtxt` without the times",
    "pandas": "`pandas.read_csv`",
    "polars": "`polars.read_csv`",
}
ONE_THREAD = ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def write_tables(folder: Path) -> None:
    numbers = np.random.default_rng(0).normal(size=(ROWS, len(NAMES))).round(4)
    start = datetime(2014, 1, 1)
    with (folder / "table.csv").open("w") as file:
        file.write(",".join(["at", *NAMES]) + "\n")
        for number, row in enumerate(numbers.tolist()):
            file.write(f"{start + timedelta(hours=number)},{','.join(map(repr, row))}\n")
    import_module("polars").read_csv(folder / "table.csv").write_parquet(folder / "table.parquet")


def way_of(name: str, folder: Path) -> Callable[[], Any]:
    """What is measured, with all that it needs imported."""
    path = folder / "table.csv"
    if name == "numpy":
        columns = range(1, COLUMNS)
        return lambda: np.loadtxt(path, delimiter=",", skiprows=1, usecols=columns)
    if name in ("pandas", "polars"):
        library = import_module(name)
        return lambda: library.read_csv(path)
    tables = import_module("bocopt.app")
    if name == "read":
        return lambda: tables.read(path)
    spec = tables.Spec(
        "c0",
        context=NAMES[1:],
        time="at",
        calendar=["hour", "weekday"],
        lags=[1, 2, 24, 168],
        rolling=[24, 168],
    )
    if name == "parquet":
        import_module("polars")
        path = folder / "table.parquet"
    return lambda: tables.series_of(tables.read(path), spec)


def memory_mb(what: str) -> float:
    """VmRSS or VmHWM, the peak, of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1e3 for line in lines if line.startswith(what))


def measure(name: str, folder: Path) -> dict[str, float]:
    way = way_of(name, folder)
    before = memory_mb("VmRSS")
    start = process_time()
    kept = way()
    seconds = [process_time() - start]
    peak, after = memory_mb("VmHWM") - before, memory_mb("VmRSS") - before
    del kept
    for _ in range(REPEATS - 1):
        start = process_time()
        way()
        seconds.append(process_time() - start)
    return {"seconds": min(seconds), "peak_mb": peak, "kept_mb": after}


def measured_apart(name: str, folder: Path) -> dict[str, float]:
    command = [sys.executable, __file__, name, str(folder)]
    one_thread = os.environ | dict.fromkeys(ONE_THREAD, "1")
    found = subprocess.run(command, check=True, capture_output=True, text=True, env=one_thread)
    numbers: dict[str, float] = json.loads(found.stdout)
    return numbers


def main() -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_tables(folder)
        file_mb = (folder / "table.csv").stat().st_size / 1e6
        rows = {way: measured_apart(way, folder) for way in WAYS}
    lines = [
        "# A table of 100,000 rows and 50 columns",
        "",
        f"`python benchmarks/table_files.py`: a CSV file of {file_mb:.0f} MB, one column of times "
        "and 49 of numbers,",
        f"which are {ROWS * len(NAMES) * 8 / 1e6:.0f} MB in memory. Each way alone in a process, "
        "on one thread: CPU seconds (the least of three),",
        "and memory above that after the imports: at most, and with the result alone.",
        "",
        "| way | seconds | of pandas | peak, MB | kept, MB |",
        "|---|---:|---:|---:|---:|",
        *(_line(way, found, rows["pandas"]["seconds"]) for way, found in rows.items()),
    ]
    write("table_files", {"file_mb": file_mb, "rows": rows})
    write_markdown("table_files", lines)


def _line(way: str, found: dict[str, float], plain: float) -> str:
    ratio = found["seconds"] / plain
    return (
        f"| {WAYS[way]} | {found['seconds']:.2f} | {ratio:.1f} x | {found['peak_mb']:.0f} | "
        f"{found['kept_mb']:.0f} |"
    )


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(json.dumps(measure(sys.argv[1], Path(sys.argv[2]))))
    else:
        main()
