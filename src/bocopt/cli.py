"""The command line. Thin: no mathematics, and nothing heavy is imported before it is needed."""

import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from rich.console import Console
    from rich.progress import Progress

app = typer.Typer(
    help="Bayesian online contextual optimization: decide, see the outcome, learn from it.",
    no_args_is_help=True,
    add_completion=False,
)
reproduce = typer.Typer(
    help="Reproduce what the paper reports, beside the numbers in print.", no_args_is_help=True
)
app.add_typer(reproduce, name="reproduce")


def _version(wanted: bool) -> None:
    if wanted:
        from bocopt import __version__

        typer.echo(f"bocopt {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    pass


@reproduce.command()
def table1(
    trials: Annotated[int, typer.Option(min=1, help="Independent trials.")] = 100,
    horizon: Annotated[int, typer.Option(min=1, help="Stages in each trial.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Trial i has seed SEED + i.")] = 0,
    jobs: Annotated[str, typer.Option(help="Worker processes, or 'auto' for all cores.")] = "auto",
    out: Annotated[
        Path, typer.Option(help="Folder for table1.json, table1.md and run.json.")
    ] = Path("results"),
) -> None:
    """Table 1: the paper's four policies and the honest baselines."""
    workers = _workers(jobs)
    _create(out)

    from rich.console import Console

    from bocopt.experiments import paper
    from bocopt.experiments import table1 as study
    from bocopt.report import tables

    started = time.perf_counter()
    settings = paper.Settings()
    console = Console()
    tasks = study.tasks_of(settings, trials, horizon, seed)
    with _progress(console) as progress:
        bar = progress.add_task("compiling (first run only)", total=None)
        study.run_task(study.Task(settings, "BMA", (0,), 1))
        stages = sum(len(task.seeds) for task in tasks) * horizon
        progress.reset(bar, description="table 1", total=stages)
        result = study.table1(
            tasks,
            _executor(workers),
            lambda task: progress.advance(bar, len(task.seeds) * horizon),
        )
    seconds = time.perf_counter() - started
    _write(out / "table1.json", _json(result))
    _write(out / "table1.md", tables.markdown(result, paper.PRINTED))
    _write(out / "run.json", _json({"seconds": round(seconds, 1), "jobs": workers, **_versions()}))
    console.print(tables.terminal(result, paper.PRINTED))
    console.print(f"{seconds:.1f} s; results in {out}: table1.json, table1.md, run.json")


def _workers(jobs: str) -> int:
    if jobs == "auto":
        return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    if jobs.isdecimal() and int(jobs) > 0:
        return int(jobs)
    raise typer.BadParameter(f"must be 'auto' or a positive integer. Got {jobs!r} instead.")


def _create(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise typer.BadParameter(f"cannot write to {folder}: {error.strerror}.") from error


def _executor(workers: int) -> "Executor":
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    return ProcessPoolExecutor(workers, mp_context=get_context("spawn"))


def _progress(console: "Console") -> "Progress":
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("stages"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
    )


def _versions() -> dict[str, str]:
    from importlib.metadata import version
    from platform import python_version

    return {"python": python_version(), **{n: version(n) for n in ("bocopt", "numpy", "numba")}}


def _json(content: object) -> str:
    return json.dumps(content, indent=2) + "\n"


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
