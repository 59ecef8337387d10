"""The command line. Thin: no mathematics, and nothing heavy is imported before it is needed."""

import os
import sys
import time
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from bocopt.experiments.tasks import Work

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


class Command(NamedTuple):
    help: str
    trials: int
    horizon: int
    seed: int = 0


COMMANDS = {
    "all": Command("The whole paper, and a report.", 100, 1000),
    "table1": Command("Table 1, beside the print and with honest baselines.", 100, 1000),
    "figure1": Command("Figure 1: reward and feasibility over time.", 100, 1000),
    "figure-s1": Command("Supplementary figure 1: the learning rate of PtO.", 20, 500),
    "figure-s2": Command("Supplementary figure 2: the learning rate of DFL.", 20, 500),
    "sensitivity": Command("What each errata choice does to each policy.", 20, 1000),
    "readings": Command("Which reading of the print fits its table 1.", 100, 1000),
    "posterior": Command("Beyond the paper, the exact posterior: all of these.", 100, 1000),
    "posterior-accuracy": Command("Samplers against a known posterior.", 20, 100),
    "posterior-tuning": Command("The scale of the prior and the temperature.", 20, 1000, 1000),
    "posterior-repairs": Command("What each repair of the sampler brings.", 100, 1000),
    "posterior-converged": Command("Whether a better sampler changes that.", 20, 1000),
    "posterior-knapsack": Command("The knapsack's posterior against a long reference.", 10, 300),
    "posterior-regimes": Command("Recovery from a change of regime.", 20, 600),
    "learning": Command("Beyond the paper, the default learner: both of these.", 100, 1000),
    "learning-table": Command("Table 1 with the ensemble and its members.", 100, 1000),
    "learning-streams": Command("Four streams: the best member, calibration.", 20, 1000),
    "guarantees": Command("Beyond the paper, certificates: both of these.", 100, 1000),
    "guarantees-tightness": Command("What certificates say on the paper's stream.", 20, 10_000),
    "guarantees-coverage": Command("How often they fail where the truth is known.", 10_000, 300),
}


def _add(name: str, command: Command) -> None:
    @reproduce.command(name, help=command.help)
    def study(
        trials: Annotated[int, typer.Option(min=1, help="Independent trials.")] = command.trials,
        horizon: Annotated[int, typer.Option(min=1, help="Stages a trial.")] = command.horizon,
        seed: Annotated[int, typer.Option(min=0, help="Trial i has seed SEED + i.")] = command.seed,
        jobs: Annotated[
            str, typer.Option(help="Worker processes, or 'auto' for all cores.")
        ] = "auto",
        out: Annotated[Path, typer.Option(help="Folder for the results.")] = Path("results"),
        fresh: Annotated[
            bool, typer.Option("--fresh", help="Compute again what is stored already.")
        ] = False,
    ) -> None:
        _reproduce(name, (trials, horizon, seed), _workers(jobs), out, fresh)


for _name, _command in COMMANDS.items():
    _add(_name, _command)


def _reproduce(name: str, size: tuple[int, int, int], workers: int, out: Path, fresh: bool) -> None:
    """Run the studies, or what is missing of them, and write and show what they found."""
    from concurrent.futures.process import BrokenProcessPool

    from rich.console import Console

    if size[0] + size[2] > 2**63:
        raise typer.BadParameter("the last seed, SEED + TRIALS - 1, must be below 2**63.")
    _create(out)
    console = Console()
    again = "What is finished is stored; the same command goes on from there."
    try:
        _run_and_show(name, size, workers, out, fresh, console)
    except KeyboardInterrupt:
        typer.echo(f"Interrupted. {again}")
        raise typer.Exit(130) from None
    except BrokenProcessPool:
        typer.echo(f"A worker process was killed, perhaps for want of memory. {again}", err=True)
        raise typer.Exit(1) from None
    except OSError as error:
        typer.echo(f"{error.strerror}: {error.filename or out}. {again}", err=True)
        raise typer.Exit(1) from None


def _run_and_show(
    name: str, size: tuple[int, int, int], workers: int, out: Path, fresh: bool, console: "Console"
) -> None:
    from bocopt.experiments import reproduce as study
    from bocopt.experiments.study import Size
    from bocopt.experiments.tasks import Store
    from bocopt.report import charts, tables
    from bocopt.report.blocks import Grid

    if not charts.available():
        raise typer.BadParameter("the report needs matplotlib: pip install 'bocopt[plot]'.")
    started = time.perf_counter()
    names = study.COMMANDS[name]
    plan = (
        study.plan_of(names, Size(*size))
        if len(names) > 1
        else [(study.STUDIES[name], Size(*size))]
    )
    work = study.work_of(plan, Store(out / "blocks"), fresh)
    computed = work.stages_missing
    _finish(work, workers, console)
    about = {
        "command": f"bocopt reproduce {name}",
        "jobs": workers,
        "wall seconds": round(time.perf_counter() - started, 1),
        "stages computed": computed,
        "stages stored before": work.stages - computed,
        **_versions(),
    }
    results = study.results_of(plan, work, about)
    study.write(out, results)
    first, _ = plan[0]
    for block in first.show(results[first.name].summary).blocks:
        if isinstance(block, Grid):
            console.print(tables.terminal(block))
    typer.echo(f"{time.perf_counter() - started:.1f} s; the report is {out / 'index.html'}")


def _finish(work: "Work", workers: int, console: "Console") -> None:
    from bocopt.experiments.processes import processes

    with _progress(console) as progress:
        bar = progress.add_task("compiling (first run only)", total=None)
        work.compile()
        progress.reset(
            bar,
            description="playing",
            total=work.stages,
            completed=work.stages - work.stages_missing,
        )
        with processes(workers) as executor:
            work.finish(executor, lambda stages: progress.advance(bar, stages))


def _workers(jobs: str) -> int:
    if jobs == "auto":
        return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    if jobs.isdecimal() and int(jobs) > 0:
        return int(jobs)
    raise typer.BadParameter(f"must be 'auto' or a positive integer. Got {jobs!r} instead.")


def _create(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise typer.BadParameter(f"cannot write to {folder}: {error.strerror}.") from error


def _progress(console: "Console") -> "Progress":
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class RateColumn(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{task.speed:,.0f}/s" if task.speed else "", style="progress.data.speed")

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("stages"),
        RateColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
    )


def _versions() -> dict[str, str]:
    from importlib.metadata import version
    from platform import python_version

    return {
        "python": python_version(),
        **{n: version(n) for n in ("bocopt", "numpy", "numba", "scipy", "matplotlib")},
    }
