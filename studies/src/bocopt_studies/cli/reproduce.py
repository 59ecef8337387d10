"""`bocopt reproduce`: studies of the paper, and beyond."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from bocopt.app.cli.progress import progress
from bocopt.app.cli.shared import (
    GOES_ON,
    Address,
    Jobs,
    exit_on,
    folder,
    say,
    workers_at,
    workers_here,
)
from bocopt_studies.catalogue import GROUPS, studies_of
from bocopt_studies.study import Size

if TYPE_CHECKING:
    from bocopt_studies.report.blocks import Section
    from bocopt_studies.work.work import Work

commands = typer.Typer(
    help="Reproduce what the paper reports, beside the numbers in print.", no_args_is_help=True
)


class Crew(NamedTuple):
    """Number of local processes, and the address of a Dask scheduler where one is used instead."""

    processes: int  # here
    cluster: str | None  # the address of a scheduler, and nobody works here


def _add(name: str, purpose: str, size: Size) -> None:
    @commands.command(name, help=purpose)
    def study(
        trials: Annotated[int, typer.Option(min=1, help="Independent trials.")] = size.trials,
        horizon: Annotated[int, typer.Option(min=1, help="Stages a trial.")] = size.horizon,
        seed: Annotated[int, typer.Option(min=0, help="Trial i has seed SEED + i.")] = size.seed,
        jobs: Jobs = "auto",
        cluster: Address = None,
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
        crew = Crew(workers_here(jobs, cluster), cluster)
        _reproduce(name, Size(trials, horizon, seed), crew, folder(out), fresh)


for _group in GROUPS.values():
    _add(_group.command, _group.help, Size())
    for _study in studies_of(_group.command):
        _add(_study.name, _study.help, _study.full)


def _reproduce(name: str, size: Size, crew: Crew, out: Path, fresh: bool) -> None:
    """Run the studies, or what is missing of them, and write and show what they found."""
    from bocopt.remote.cluster import ClusterLostError, NoSchedulerError
    from bocopt.remote.origin import ForeignWorkerError

    ends = (ClusterLostError, ForeignWorkerError, OSError)
    with exit_on(NoSchedulerError, kept=GOES_ON, ends=ends):
        _run_and_show(name, size, crew, out, fresh)


def _run_and_show(name: str, size: Size, crew: Crew, out: Path, fresh: bool) -> None:
    """Nothing is printed to a pipe, which may be closed, before all files are written."""
    from bocopt_studies import reproduce as study
    from bocopt_studies.report import charts
    from bocopt_studies.work.store import BlockStore

    started = time.perf_counter()
    plan = study.plan_of(name, size)
    work = study.work_of(plan, BlockStore(out / "blocks"), fresh)
    computed = work.stages_missing
    _finish(name, work, crew)
    about = {
        "command": f"bocopt reproduce {name}",
        "jobs": crew.processes if crew.cluster is None else "on a cluster",
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

    from bocopt_studies.report.blocks import Grid
    from bocopt_studies.report.tables import terminal

    console = Console()
    for block in section.blocks:
        if isinstance(block, Grid):
            console.print(terminal(block))


def _finish(name: str, work: "Work", crew: Crew) -> None:
    from bocopt.processes import processes

    with progress(name) as shown:

        def begin() -> None:
            """Show progress over all stages, of which those in the store are done."""
            shown.begin("playing", work.stages, work.stages - work.stages_missing)

        if crew.cluster is None:
            shown.say("compiling (first run only)")
            work.compile()
            begin()
            many = min(crew.processes, max(1, work.blocks_missing))
            with processes(many) as executor:
                work.finish(executor, shown.advance, lambda: many)
        else:
            shown.say("connecting")
            with workers_at(crew.cluster, shown.say) as (executor, size):
                begin()
                work.finish(executor, shown.advance, size)
    for processor, where in work.other_processors.items():
        say(f"The last bits may differ: {where} has another processor, {processor}.", err=True)


def versions() -> dict[str, str]:
    """Return the versions of Python, bocopt, NumPy, Numba, SciPy and Matplotlib, by name."""
    from importlib.metadata import PackageNotFoundError, version
    from platform import python_version

    found = {"python": python_version()}
    for name in ("bocopt", "numpy", "numba", "scipy", "matplotlib"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # matplotlib is an extra
            found[name] = "not installed"
    return found
