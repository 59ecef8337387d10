"""`bocopt reproduce`: studies of the paper, and beyond."""

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bocopt.cli.shared import folder, progress_bar, say, versions
from bocopt.studies.catalogue import GROUPS, studies_of
from bocopt.studies.study import Size

if TYPE_CHECKING:
    from bocopt.report.blocks import Section
    from bocopt.work.work import Work

commands = typer.Typer(
    help="Reproduce what the paper reports, beside the numbers in print.", no_args_is_help=True
)


def _add(name: str, purpose: str, size: Size) -> None:
    @commands.command(name, help=purpose)
    def study(
        trials: Annotated[int, typer.Option(min=1, help="Independent trials.")] = size.trials,
        horizon: Annotated[int, typer.Option(min=1, help="Stages a trial.")] = size.horizon,
        seed: Annotated[int, typer.Option(min=0, help="Trial i has seed SEED + i.")] = size.seed,
        jobs: Annotated[
            str,
            typer.Option(help="Worker processes, at most 4 a core, or 'auto' for one a core."),
        ] = "auto",
        out: Annotated[
            str, typer.Option(help="Folder for the results.", metavar="FOLDER")
        ] = "results",
        fresh: Annotated[
            bool, typer.Option("--fresh", help="Compute again what is stored already.")
        ] = False,
    ) -> None:
        if trials + seed > 2**63:
            raise typer.BadParameter(
                "the last seed, SEED + TRIALS - 1, must be below 2**63.", param_hint="--seed"
            )
        _reproduce(name, Size(trials, horizon, seed), _workers(jobs), folder(out), fresh)


for _group in GROUPS.values():
    _add(_group.command, _group.help, Size())
    for _study in studies_of(_group.command):
        _add(_study.name, _study.help, _study.full)


def _reproduce(name: str, size: Size, workers: int, out: Path, fresh: bool) -> None:
    """Run the studies, or what is missing of them, and write and show what they found."""
    from concurrent.futures.process import BrokenProcessPool

    again = "What is finished is stored; the same command goes on from there."
    try:
        _run_and_show(name, size, workers, out, fresh)
    except KeyboardInterrupt:
        say(f"Interrupted. {again}")
        raise typer.Exit(130) from None
    except BrokenProcessPool:
        say(f"A worker process was killed, perhaps for want of memory. {again}", err=True)
        raise typer.Exit(1) from None
    except ModuleNotFoundError as error:  # of an extra: its message says how to install it
        say(error.msg, err=True)
        raise typer.Exit(1) from None
    except BrokenPipeError:
        raise  # nobody reads on: the files are written, and Typer ends quietly
    except OSError as error:
        say(f"{error.strerror}: {error.filename or out}. {again}", err=True)
        raise typer.Exit(1) from None


def _run_and_show(name: str, size: Size, workers: int, out: Path, fresh: bool) -> None:
    """Nothing is printed to a pipe, which may be closed, before all files are written."""
    from bocopt.report import charts
    from bocopt.studies import reproduce as study
    from bocopt.work.store import Store

    started = time.perf_counter()
    plan = study.plan_of(name, size)
    work = study.work_of(plan, Store(out / "blocks"), fresh)
    computed = work.stages_missing
    _finish(work, workers)
    about = {
        "command": f"bocopt reproduce {name}",
        "jobs": workers,
        "wall seconds": round(time.perf_counter() - started, 1),
        "stages computed": computed,
        "stages stored before": work.stages - computed,
        **versions(),
    }
    results = study.results_of(plan, work, about)
    study.write(out, results)
    first, _ = plan[0]
    _show_tables(first.show(results[first.name].summary))
    took = f"{time.perf_counter() - started:.1f} s"
    if charts.available():
        say(f"{took}; the report is {out / 'index.html'}")
    else:
        say(f"{took}; results are in {out}. For figures and a report: {charts.INSTALL}")


def _show_tables(section: "Section") -> None:
    from rich.console import Console

    from bocopt.report.blocks import Grid
    from bocopt.report.tables import terminal

    console = Console()
    for block in section.blocks:
        if isinstance(block, Grid):
            console.print(terminal(block))


def _finish(work: "Work", workers: int) -> None:
    from bocopt.work.processes import processes

    with progress_bar() as progress:
        bar = progress.add_task("compiling (first run only)", total=None)
        work.compile()
        progress.reset(
            bar,
            description="playing",
            total=work.stages,
            completed=work.stages - work.stages_missing,
        )
        with processes(min(workers, max(1, work.blocks_missing))) as executor:
            work.finish(executor, lambda stages: progress.advance(bar, stages))


def _workers(jobs: str) -> int:
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    most = 4 * cores
    if jobs == "auto":
        return cores
    if jobs.isdecimal() and len(jobs) < 10 and 0 < int(jobs) <= most:
        return int(jobs)
    raise typer.BadParameter(
        f"must be 'auto' or a positive integer, at most four for each core, here {most}. "
        f"Got {jobs!r} instead.",
        param_hint="--jobs",
    )
