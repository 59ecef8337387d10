"""Studies on a Dask cluster: the same bytes as here, whatever is killed, and no foreign code.

A scheduler and two workers on this machine. Times are not measured: what is claimed holds however
busy the machine is.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import results_file

import bocopt

PORT = str(random.SystemRandom().randrange(20000, 30000))
ADDRESS = f"tcp://127.0.0.1:{PORT}"
TABLE = ("table1", "--trials", "200", "--horizon", "25")
DATA = ("data", "pizzas")
RUN = "from bocopt.app.cli import app; app()"
PARTS = 5
KILLS = 100
AFTER = 1.0  # seconds, at most, that a worker has work before it is killed
PATIENCE = 900  # seconds for a command


class Started:
    """Processes of ours, and nobody else's."""

    def __init__(self, logs: Path) -> None:
        self.logs, self.count = logs, 0
        self.named: dict[str, subprocess.Popen[bytes]] = {}
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", PORT)
        self.workers = [self.worker() for _ in range(2)]

    def _start(self, *words: str, path: Path | None = None) -> "subprocess.Popen[bytes]":
        environment = {**os.environ, **({"PYTHONPATH": str(path)} if path else {})}
        with (self.logs / "dask.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "dask", *words, "--no-dashboard"],
                env=environment,
                stdout=log,
                stderr=log,
            )

    def worker(self, path: Path | None = None) -> "subprocess.Popen[bytes]":
        self.count += 1
        words = ("worker", ADDRESS, "--nthreads", "1", "--no-nanny", "--name", str(self.count))
        process = self._start(*words, path=path)
        self.named[str(self.count)] = process
        return process

    def kill_one(self, client: Any, rng: random.Random) -> bool:
        """One that has work in hand, for which another one is started."""
        known = {a: str(w["name"]) for a, w in client.scheduler_info()["workers"].items()}
        held = client.processing()
        busy = [self.named[name] for address, name in known.items() if held.get(address)]
        if not busy:
            return False
        time.sleep(rng.uniform(0.0, AFTER))
        chosen = rng.choice(busy)
        chosen.kill()
        chosen.wait()
        self.workers[self.workers.index(chosen)] = self.worker()
        return True

    def end(self) -> None:
        for process in [*self.workers, self.scheduler]:
            process.kill()
            process.wait()


@contextmanager
def started(logs: Path) -> Iterator[Started]:
    dask = Started(logs)
    try:
        yield dask
    finally:
        dask.end()


def command(out: Path, *words: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", RUN, "reproduce", *words, "--out", str(out)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def ran(out: Path, *words: str) -> tuple[int, str]:
    run = command(out, *words)
    said = run.communicate(timeout=PATIENCE)[1]
    return run.returncode, said.strip()


def results(out: Path) -> dict[str, bytes]:
    """All files but what says how a run went; of the report, all but its last section."""
    return {
        path.relative_to(out).as_posix(): path.read_bytes().partition(b'<section id="these-runs">')[
            0
        ]
        for path in sorted(out.rglob("*"))
        if path.is_file()
        and path.name != "run.json"
        and not {"blocks", "progress"} & set(path.relative_to(out).parts)
    }


def same(folder: Path, words: tuple[str, ...], here: tuple[str, ...]) -> dict[str, Any]:
    """A study on the cluster beside the same study here."""
    name = words[0]
    code, said = ran(folder / f"{name}-here", *words, *here)
    assert code == 0, said
    code, said = ran(folder / f"{name}-cluster", *words, "--cluster", ADDRESS)
    assert code == 0, said
    ours, theirs = results(folder / f"{name}-here"), results(folder / f"{name}-cluster")
    print(f"{name}: {len(ours)} files, the same: {ours == theirs}", flush=True)
    return {
        "command": " ".join(["bocopt reproduce", *words]),
        "files": len(ours),
        "bytes": sum(map(len, ours.values())),
        "the same": ours == theirs,
    }


def kills(folder: Path, dask: Started) -> dict[str, Any]:
    """Workers are killed at random moments while a study is played again and again."""
    distributed = import_module("distributed")
    expected, rng = results(folder / "table1-here"), random.Random(0)
    done = again = whole = stored = 0
    equal, unfinished = True, True
    client = distributed.Client(ADDRESS, set_as_default=False)
    while done < KILLS or unfinished:
        out = folder / f"killed-{whole}"
        run = command(out, *TABLE, "--cluster", ADDRESS)
        while run.poll() is None:
            if done < KILLS and dask.kill_one(client, rng):
                done += 1
            time.sleep(0.05)
        said = run.communicate()[1]
        print(f"{done} kills, {whole} studies, {again} commands given again", flush=True)
        unfinished = run.returncode != 0
        if unfinished:
            assert "the same command goes on from there" in said, said
            again += 1
            continue
        whole += 1
        stored += len(list(out.glob("blocks/*.block")))
        equal &= results(out) == expected
    client.close()
    return {
        "kills": done,
        "studies": whole,
        "blocks": stored,
        "commands that had to be given again": again,
        "the same": equal,
    }


def foreign(folder: Path, dask: Started) -> dict[str, Any]:
    """A third worker, whose copy of the package has one other number."""
    other = folder / "other"
    shutil.copytree(Path(bocopt.__file__).parent, other / "bocopt")
    changed = other / "bocopt" / "streams" / "paper.py"
    text = changed.read_text()
    assert text.count("_G = 2.5 *") == 1
    changed.write_text(text.replace("_G = 2.5 *", "_G = 2.6 *"))
    worker = dask.worker(other)
    dask.workers.append(worker)
    said, code, out = "", 0, folder / "foreign"
    for _ in range(20):  # until the foreign one had its turn
        code, said = ran(out, *TABLE, "--fresh", "--cluster", ADDRESS)
        if code:
            break
    dask.workers.remove(worker)
    worker.kill()
    worker.wait()
    named = f"process {worker.pid} on host" in said and str(other) in said
    before = sorted((folder / "table1-here").glob("blocks/*.block"))
    wrong = [
        path.name
        for path in before
        if (out / "blocks" / path.name).exists() and not _same_record(path, out / "blocks")
    ]
    print(said, flush=True)
    return {"exit code": code, "refused by name": named, "wrong blocks stored": len(wrong)}


def _same_record(path: Path, folder: Path) -> bool:
    from bocopt import checkpoint

    one, other = (checkpoint.load(place / path.name)[1] for place in (path.parent, folder))
    return {k: v.tobytes() for k, v in one.items()} == {k: v.tobytes() for k, v in other.items()}


def lost(folder: Path, dask: Started) -> dict[str, Any]:
    """The scheduler is killed; then there is another one, and the same command is given again."""
    out = folder / "lost"
    run = command(out, *TABLE, "--cluster", ADDRESS)
    while run.poll() is None and len(list(out.glob("blocks/*.block"))) < 5:
        time.sleep(0.05)
    assert run.poll() is None
    dask.end()
    said = run.communicate(timeout=120)[1].strip()
    stored = len(list(out.glob("blocks/*.block")))
    print(said, flush=True)
    with started(folder):
        code, after = ran(out, *TABLE, "--cluster", ADDRESS)
    assert code == 0, after
    return {
        "exit code": run.returncode,
        "said": said,
        "blocks stored": stored,
        "blocks in the end": len(list(out.glob("blocks/*.block"))),
        "the same": results(out) == results(folder / "table1-here"),
    }


def main(asked: list[str]) -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with TemporaryDirectory(prefix="bocopt-cluster-") as name:
        folder = Path(name)
        with started(folder) as dask:
            numbers = {
                "table": same(folder, TABLE, ("--jobs", "2")),
                **_asked("killed workers", asked, lambda: kills(folder, dask)),
                **_asked("other code", asked, lambda: foreign(folder, dask)),
                **_asked("data", asked, lambda: same(folder, DATA, ())),
                **_asked("killed scheduler", asked, lambda: lost(folder, dask)),
            }
    kept = results_file.RESULTS / "cluster.json"
    before = json.loads(kept.read_text()) if asked and kept.exists() else {}
    before.pop("about", None)
    results_file.write("cluster", {**before, **numbers})
    if len({**before, **numbers}) == PARTS:
        results_file.write_markdown("cluster", markdown({**before, **numbers}))


def _asked(name: str, asked: list[str], run: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """All parts, or those that the command names; the others stay as they were."""
    return {name: run()} if not asked or name in asked else {}


def markdown(numbers: dict[str, Any]) -> list[str]:
    table, data, killed, other, lost = (
        numbers[name]
        for name in ("table", "data", "killed workers", "other code", "killed scheduler")
    )
    yes = {True: "yes", False: "**no**"}
    return [
        "# Studies on a Dask cluster",
        "",
        "A scheduler and two workers on one machine, beside the same commands without a cluster: "
        "all files that a study leaves, but for times.",
        "",
        "| | what happened | the same bytes |",
        "|---|---|---|",
        *(
            f"| `{one['command']}` | {one['files']} files, {one['bytes']:,} bytes "
            f"| {yes[one['the same']]} |"
            for one in (table, data)
        ),
        f"| workers killed | {killed['kills']} kills at random moments of {killed['studies']} "
        f"studies, {killed['blocks']} blocks; the command was given again "
        f"{killed['commands that had to be given again']} times | {yes[killed['the same']]} |",
        f"| the scheduler killed | exit code {lost['exit code']} with {lost['blocks stored']} of "
        f"{lost['blocks in the end']} blocks stored, then the same command "
        f"| {yes[lost['the same']]} |",
        f"| a worker with one other number in its code | exit code {other['exit code']}, refused "
        f"by name: {yes[other['refused by name']]} | {other['wrong blocks stored']} wrong blocks "
        "stored |",
    ]


if __name__ == "__main__":
    main(sys.argv[1:])
