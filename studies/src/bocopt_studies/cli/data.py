"""`bocopt reproduce data`: studies on real tables, played as `bocopt backtest` plays yours."""

import time
from pathlib import Path
from typing import Annotated

import typer

from bocopt.app.cli.backtest import played_by
from bocopt.app.cli.progress import progress
from bocopt.app.cli.shared import GOES_ON, Jobs, exit_on, folder, say, workers
from bocopt_studies.data import NAMES


def data(
    names: Annotated[
        list[str] | None, typer.Argument(help=f"Some of {', '.join(NAMES)}.", metavar="[NAME]...")
    ] = None,
    out: Annotated[str, typer.Option(help="Folder for the results.", metavar="FOLDER")] = "results",
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Play again what has been played already.")
    ] = False,
    jobs: Jobs = "auto",
) -> None:
    """Beyond the paper: studies on real data, from their tables to their reports."""
    for name in names or ():
        if name not in NAMES:
            expected = f"must be of {', '.join(NAMES)}. Got {name!r} instead."
            raise typer.BadParameter(expected, param_hint="NAME")
    chosen = [name for name in NAMES if not names or name in names]
    many = workers(jobs)
    with exit_on(ValueError, kept=GOES_ON):
        _play(chosen, folder(out), fresh, many)


def _play(names: list[str], out: Path, fresh: bool, jobs: int) -> None:
    from rich.console import Console

    from bocopt_studies.data import reproduce, summary
    from bocopt_studies.report.tables import terminal

    started = time.perf_counter()
    studies = {name: reproduce.opened(out, name) for name in names}
    found = {}
    with progress("data", sum(study.stages_to_play for study in studies.values())) as shown:
        for name, study in studies.items():
            findings, agents = played_by(study, jobs, fresh, shown)
            found[name] = reproduce.found_in(study, findings, agents)
    reproduce.write(out, found)
    for grid in summary.grids(found):
        Console().print(terminal(grid))
    took = time.perf_counter() - started
    say(f"{took:.1f} s; the reports are in {out / 'data' / 'index.html'}")
