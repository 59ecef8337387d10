"""Panels whose workers, and nights whose commands, are killed: the same bytes as without kills.

python benchmarks/panel_kills.py                writes benchmarks/results/panel_kills.{json,md}
python benchmarks/panel_kills.py --part panel   only 100,000 series on four Dask workers
python benchmarks/panel_kills.py --part nights  only `bocopt decide --learn`

Both parts are bounded: so many kills, of processes that were started here. No times are measured:
what is claimed holds however busy the machine is.

The panel is played once by this process, and once by four workers of a scheduler on loopback, of
which one that has work in hand is killed at a random moment, twenty times in all, spread over the
parts; another one is started for it. Then all files that both leave are compared, the report among
them.

Nights are those of 60 series. The command of a night is killed at random moments, 100 times in
all, and then given once more: what it writes and what it keeps is compared with the same nights
without kills, and decisions are counted by series and time.
"""

import argparse
import csv
import hashlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Any

import numpy as np
import results_file

SERIES, DAYS, KILLS = 100_000, 30, 20
NIGHT_SERIES, NIGHTS, NIGHT_KILLS = 60, 10, 100
WORKERS = 4
AFTER = 4.0  # seconds, at most, that pass before a worker that has work is killed
START = 120.0  # seconds for a scheduler
GIVEN_AGAIN = 20  # times, at most
CASE = """
[cases.shops]
problem = "problem:problem"
policies = ["LightMixture", "SampleAverage"]
trace = "csv"

[cases.shops.data]
file = "data.csv"
series = "shop"
time = "date"
outcome = "sold"
context = ["promotion"]
lags = [1, 7]
warm_up = 7
"""
PROBLEM = """
from bocopt.problems import Newsvendor

problem = Newsvendor(unit_cost=[1.0], price=[2.5], upper=1e5, largest_demand=1e5)
"""


def rows_of_day(series: int, day: int, told: bool = True) -> Iterator[str]:
    """Rows of all series of a day, without outcomes where they are not told."""
    rng = np.random.default_rng([series, day])
    size = np.exp(np.random.default_rng(series).normal(3.0, 0.8, series))
    promotion = (rng.random(series) < 0.1).astype(int)
    sold = rng.poisson(size * (1.0 + 0.4 * promotion))
    date = np.datetime64("2024-01-01") + day
    for shop in range(series):
        yield f"{date},s{shop:06},{promotion[shop]},{sold[shop] if told else ''}\n"


def case_of(folder: Path, series: int, days: int) -> Path:
    """Write a case and its table, and return its file."""
    folder.mkdir()
    with (folder / "data.csv").open("w") as table:
        table.write("date,shop,promotion,sold\n")
        for day in range(days):
            table.writelines(rows_of_day(series, day))
    (folder / "problem.py").write_text(PROBLEM)
    (folder / "bocopt.toml").write_text(CASE)
    return folder / "bocopt.toml"


def digests(folder: Path) -> dict[str, str]:
    """Digests of all files below a folder, by path."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            found[path.relative_to(folder).as_posix()] = digest
    return found


class Workers:
    """A scheduler and its workers, all of them processes of ours."""

    def __init__(self, log: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        self._log, self._count = log, 0
        host, port = self.address.removeprefix("tcp://").split(":")
        self.scheduler = self._start("scheduler", "--host", host, "--port", port)
        self.named = dict(self._worker() for _ in range(WORKERS))

    def _start(self, *words: str) -> "subprocess.Popen[bytes]":
        with self._log.open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "dask", *words, "--no-dashboard"], stdout=log, stderr=log
            )

    def _worker(self) -> tuple[str, "subprocess.Popen[bytes]"]:
        self._count += 1
        name = str(self._count)
        words = ("worker", self.address, "--nthreads", "1", "--no-nanny", "--name", name)
        return name, self._start(*words)

    def wait(self) -> None:
        """Return once the scheduler listens."""
        host, port = self.address.removeprefix("tcp://").split(":")
        end = time.monotonic() + START
        while time.monotonic() < end:
            with socket.socket() as caller:
                if caller.connect_ex((host, int(port))) == 0:
                    return
            time.sleep(0.1)
        raise TimeoutError("the scheduler did not start")

    def kill_busy(self, client: Any, rng: random.Random) -> bool:
        """Kill one that has work in hand, and start another one; False where none has."""
        known = {a: str(w["name"]) for a, w in client.scheduler_info(-1)["workers"].items()}
        held = client.processing()
        busy = [n for a, n in known.items() if n in self.named and held.get(a)]
        if not busy:
            return False
        chosen = self.named.pop(rng.choice(sorted(busy)))
        os.kill(chosen.pid, signal.SIGKILL)
        chosen.wait()
        name, process = self._worker()
        self.named[name] = process
        return True

    def end(self) -> None:
        for process in [*self.named.values(), self.scheduler]:
            process.kill()
            process.wait()


@contextmanager
def started(log: Path) -> Iterator[Workers]:
    found = Workers(log)
    try:
        found.wait()
        yield found
    finally:
        found.end()


def panel(folder: Path, series: int, kills: int) -> dict[str, Any]:
    """The whole panel here, and on workers that are killed."""
    from dataclasses import replace

    from bocopt.app import backtest_panel, open_case
    from bocopt.app.panels.writing import write_panel

    case = open_case(case_of(folder / "panel", series, DAYS))
    here, there = (replace(case, results=folder / name) for name in ("here", "there"))
    write_panel(here, backtest_panel(here))
    print("played here", flush=True)
    done = killed_while(folder, there, kills)
    write_panel(there, backtest_panel(there))  # nothing is left to play
    ours, theirs = digests(here.results), digests(there.results)
    assert case.panel is not None
    return {
        "series": series,
        "times": DAYS,
        "decisions, of each of 2 policies": case.panel.stages,
        "workers": WORKERS,
        **done,
        "files": len(ours),
        "bytes": sum(path.stat().st_size for path in here.results.rglob("*") if path.is_file()),
        "digest of all files": hashlib.sha256(json.dumps(ours).encode()).hexdigest(),
        "files that differ": sorted({path for path, _ in ours.items() ^ theirs.items()}),
        "the same": ours == theirs,
    }


def killed_while(folder: Path, case: Any, kills: int) -> dict[str, int]:
    """Play a case on workers, of which one is killed now and then; count kills and new starts."""
    from bocopt.app.panels.elsewhere import play_elsewhere
    from bocopt.app.panels.player import PanelPlayer
    from bocopt.remote.cluster import ClusterLostError, cluster

    distributed = import_module("distributed")
    rng, over, done, again = random.Random(0), Event(), 0, 0
    came: list[int] = []
    parts = len(PanelPlayer(case).parts)

    def kill(workers: Workers) -> None:
        nonlocal done
        client = distributed.Client(workers.address, set_as_default=False)
        while done < kills and not over.is_set():
            over.wait(rng.uniform(0.0, AFTER))
            if len(came) >= done * parts // kills and workers.kill_busy(client, rng):
                done += 1
                print(f"{done} kills, {len(came)} parts of {parts}", flush=True)
        client.close()

    with started(folder / "dask.log") as workers:
        killer = Thread(target=kill, args=(workers,))
        killer.start()
        try:
            while True:
                try:
                    with cluster(workers.address) as executor:
                        play_elsewhere(PanelPlayer(case), executor, executor.size, came.append)
                    break
                except ClusterLostError as error:
                    print(error, flush=True)
                    again += 1
                    if again > GIVEN_AGAIN:
                        raise
        finally:
            over.set()
            killer.join()
    return {"kills": done, "parts": parts, "times that it was begun again": again}


def nights(folder: Path, kills: int) -> dict[str, Any]:
    """`bocopt decide --learn`, night after night, with and without kills."""
    first = 14
    once, again = (begun(folder / name, first) for name in ("once", "again"))
    rng, done, seen, same, took = random.Random(0), 0, list[tuple[str, str]](), True, 0.0
    for night in range(NIGHTS):
        rows = tonight(folder, first + night)
        before = time.monotonic()
        expected = decided(once, rows)
        took = max(took, time.monotonic() - before)
        while done < kills * (night + 1) // NIGHTS:
            process = subprocess.Popen(words_of(again, rows), stdout=subprocess.DEVNULL)
            time.sleep(rng.uniform(0.2, 1.1) * took)
            process.kill()
            process.wait()
            done += 1
        found = decided(again, rows)
        same &= found == expected and kept(once) == kept(again)
        seen += [(row["shop"], row["date"]) for row in csv.DictReader(found.splitlines())]
        print(f"night {night + 1}: {done} kills, the same: {same}", flush=True)
    return {
        "series": NIGHT_SERIES,
        "nights": NIGHTS,
        "kills": done,
        "decisions": len(seen),
        "decided twice": len(seen) - len({*seen}),
        "missing": NIGHT_SERIES * NIGHTS - len({*seen}),
        "the same": same,
    }


def begun(folder: Path, days: int) -> Path:
    """Return the file of a case that was played on the first days."""
    from bocopt.app import backtest_panel, open_case
    from bocopt.app.panels.writing import write_panel

    path = case_of(folder, NIGHT_SERIES, days)
    case = open_case(path)
    write_panel(case, backtest_panel(case))
    return path


def tonight(folder: Path, day: int) -> Path:
    """Yesterday's rows with their outcomes, where they were decided, and those of today."""
    path = folder / f"night-{day}.csv"
    lines = ["date,shop,promotion,sold\n"]
    lines += rows_of_day(NIGHT_SERIES, day - 1)
    lines += rows_of_day(NIGHT_SERIES, day, told=False)
    path.write_text("".join(lines))
    return path


def words_of(case: Path, rows: Path) -> list[str]:
    out = str(case.parent / "decisions.csv")
    words = ["decide", str(rows), "--config", str(case), "--learn", "--out", out]
    return [sys.executable, "-c", "from bocopt.app.cli import app; app()", *words]


def decided(case: Path, rows: Path) -> str:
    subprocess.run(words_of(case, rows), check=True, stdout=subprocess.DEVNULL)
    return (case.parent / "decisions.csv").read_text()


def kept(case: Path) -> dict[str, str]:
    return digests(case.parent / "results" / "shops" / "nights")


def lines_of(numbers: dict[str, Any]) -> Iterator[str]:
    """The page."""
    yes = {True: "the same bytes", False: "**other bytes**"}
    yield from ["# Panels that are killed", "", "`python benchmarks/panel_kills.py`, seed 0.", ""]
    if "panel" in numbers:
        one = numbers["panel"]
        yield (
            f"- **{one['series']:,} series** of {one['times']} days, two policies, in "
            f"{one['parts']} parts on {one['workers']} Dask workers on one machine: "
            f"{one['kills']} workers killed while they had work in hand, begun again "
            f"{one['times that it was begun again']} times. All {one['files']} files "
            f"({one['bytes'] / 1e6:,.0f} MB) beside those of one process without a cluster: "
            f"{yes[one['the same']]}."
        )
    if "nights" in numbers:
        one = numbers["nights"]
        yield (
            f"- **`bocopt decide --learn`** for {one['series']} series and {one['nights']} nights: "
            f"killed {one['kills']} times at random moments. Of {one['decisions']} decisions "
            f"{one['decided twice']} are of a series and time that was decided before, "
            f"{one['missing']} are missing. Decisions and all that is kept, beside nights without "
            f"kills: {yes[one['the same']]}."
        )


def main() -> None:
    asked = argparse.ArgumentParser()
    asked.add_argument("--part", choices=["panel", "nights"])
    asked.add_argument("--series", type=int, default=SERIES)
    asked.add_argument("--kills", type=int)
    words = asked.parse_args()
    parts = {
        "panel": lambda folder: panel(folder, words.series, words.kills or KILLS),
        "nights": lambda folder: nights(folder, words.kills or NIGHT_KILLS),
    }
    kept = results_file.RESULTS / "panel_kills.json"
    numbers = json.loads(kept.read_text()) if words.part and kept.exists() else {}
    numbers.pop("about", None)
    for name in [words.part] if words.part else parts:
        with TemporaryDirectory(prefix="bocopt-panel-kills-") as folder:
            numbers[name] = parts[name](Path(folder))
        print(json.dumps(numbers[name], indent=2), flush=True)
    if words.series == SERIES and not words.kills:
        results_file.write("panel_kills", numbers)
        results_file.write_markdown("panel_kills", list(lines_of(numbers)))


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    main()
