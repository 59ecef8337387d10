"""A night of `bocopt decide --learn` for two numbers of series: a line through what it takes."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from panel_made import WEEK, written

from panel_parts.command import took

DAYS = 40  # of the table, before the nights
SIZES = 2000, 20_000
NIGHTS = 3  # of which the least counts


def measured(before: Any, small: bool) -> Iterator[dict[str, Any]]:
    """Yield what a night takes by series, and the line through both."""
    sizes = (10, 30) if small else SIZES
    found = {str(series): night(series) for series in sizes}
    (few, less), (many, more) = ((series, found[str(series)]) for series in sizes)
    lines = {}
    for key in less:
        slope = (more[key] - less[key]) / (many - few)
        lines[key] = {"a series": slope, "fixed": less[key] - slope * few}
    yield {"nights": found, "line": lines}


def night(series: int) -> dict[str, float]:
    """Return what a night takes: CPU, memory, what it reads and keeps."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = written(folder, series, DAYS)
        took("backtest", path, "--jobs", "1")
        runs = []
        for day in range(DAYS, DAYS + NIGHTS):
            rows = tonight(folder, series, day)
            out = str(folder / "decisions.parquet")
            runs.append(took("decide", rows, "--config", path, "--learn", "--out", out))
        kept = folder / "results" / "shops" / "nights"
        latest = kept / "LightMixture" / str(NIGHTS)
        return {
            "seconds": min(one["seconds"] for one in runs),
            "seconds of CPU": min(one["seconds of CPU"] for one in runs),
            "gigabytes": max(one["gigabytes, of the largest process"] for one in runs),
            "bytes read": (folder / f"night-{day}.csv").stat().st_size,
            "bytes kept": sum(file.stat().st_size for file in latest.iterdir()),
            "bytes of decisions": (folder / "decisions.parquet").stat().st_size,
        }


def tonight(folder: Path, series: int, day: int) -> Path:
    """Yesterday's rows with their outcomes, and those of a day without."""
    rng = np.random.default_rng(day)
    lines = ["date,shop,promotion,sold,ordered\n"]
    for at in (day - 1, day):
        date = np.datetime64("2021-01-01") + at
        sold = rng.poisson(20.0 * WEEK[at % 7], series)
        came = [""] * series if at == day else sold.tolist()
        lines += [f"{date},s{shop:04},0,{one},\n" for shop, one in enumerate(came)]
    path = folder / f"night-{day}.csv"
    path.write_text("".join(lines))
    return path
