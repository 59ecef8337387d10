"""`bocopt init`, `bocopt backtest` and `bocopt decide`: a case on its data, and on new rows."""

import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bocopt.app.cli.progress import Progress, progress
from bocopt.app.cli.shared import (
    GOES_ON,
    Address,
    CaseName,
    Jobs,
    Settings,
    Where,
    exit_on,
    folder,
    say,
    workers_at,
    workers_here,
)

if TYPE_CHECKING:
    from bocopt.app.case import Case
    from bocopt.app.features.series import Panel
    from bocopt.app.findings import Findings, PanelFindings
    from bocopt.live import Agent

_EXAMPLES = ("newsvendor", "staffing", "allocation", "portfolio", "shops")
_SHORT = 2000  # stages
_SHOWN = 5  # names of series


def init(
    path: Annotated[str, typer.Argument(help="The folder to write to.", metavar="FOLDER")] = ".",
    example: Annotated[
        str, typer.Option(help=f"What is decided: {', '.join(_EXAMPLES)}.", metavar="NAME")
    ] = "newsvendor",
) -> None:
    """Write a small case to begin with: bocopt.toml, problem.py, made-up data, a client."""
    from bocopt import file
    from bocopt.app.starters import starter

    if example not in _EXAMPLES:
        expected = f"must be one of {', '.join(_EXAMPLES)}. Got {example!r} instead."
        raise typer.BadParameter(expected, param_hint="--example")
    where = folder(path, "FOLDER")
    files = starter(example)
    there = [name for name in files if (where / name).exists()]
    if there:
        message = f"{where} has {', '.join(there)} already; nothing was written."
        raise typer.BadParameter(message, param_hint="FOLDER")
    for name, content in files.items():
        file.replace(where / name, content)
    say(f"Wrote {', '.join(str(where / name) for name in files)}.")
    say(f"Next: bocopt backtest {where / 'bocopt.toml'}")
    if "client.py" in files:
        say(f"Then: bocopt serve {where / 'bocopt.toml'}")
        say(f"And, in another window: python {where / 'client.py'}")


def backtest(
    config: Settings = "bocopt.toml",
    case: CaseName = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be done.")
    ] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Play again what has been played already.")
    ] = False,
    jobs: Jobs = "auto",
    cluster: Address = None,
) -> None:
    """Play a case on its data in time order, and write its decisions and a report."""
    from bocopt.app.opening import open_case

    many = workers_here(jobs, cluster)
    with _told_of_workers(cluster):
        opened = open_case(config, case)
        if cluster is not None and (opened.panel is None or opened.coupled):
            why = "is one series" if opened.panel is None else "has one program for all series"
            raise ValueError(
                f"'{opened.title}' {why}, so it is played in the order of its times, here: a "
                "cluster plays series that do not know of each other. Leave out --cluster."
            )
        if dry_run:
            _show(opened)
        else:
            _play(opened, fresh, many, cluster)


def _told_of_workers(cluster: str | None) -> AbstractContextManager[None]:
    """Tell errors in sentences, also those of workers elsewhere."""
    if cluster is None:
        return exit_on(ValueError, kept=GOES_ON)
    from bocopt.remote.cluster import ClusterLostError
    from bocopt.remote.origin import ForeignWorkerError

    return exit_on(ValueError, kept=GOES_ON, ends=(ClusterLostError, ForeignWorkerError))


def decide(
    rows: Annotated[str, typer.Argument(help="A table of rows to decide.", metavar="ROWS")],
    config: Where = "bocopt.toml",
    case: CaseName = None,
    policy: Annotated[
        str | None, typer.Option(help="Instead of the first one.", metavar="NAME")
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            help="A .csv or .parquet file, or the address of a database; the screen otherwise.",
            metavar="FILE",
        ),
    ] = None,
    table: Annotated[
        str, typer.Option(help="In a database: rows of the same series and time are replaced.")
    ] = "decisions",
    learn: Annotated[
        bool,
        typer.Option(
            "--learn",
            help="Learn from rows of several series that have an outcome, and go on from these "
            "rows the next time.",
        ),
    ] = False,
) -> None:
    """Decide new rows by what a backtest left. Without --learn, nothing changes."""
    from bocopt.app.deciding import decide as decided
    from bocopt.app.opening import open_case
    from bocopt.app.reading.database import is_address, without_password, write_rows
    from bocopt.app.writing import write_table

    with exit_on(ValueError, kept=GOES_ON):
        opened = open_case(config, case)
        address = out if out is not None and is_address(out) else None
        keys = _keys(opened) if address else []
        found = decided(opened, opened.read(rows), policy, learn=learn)
        if out is None:
            typer.echo(write_table(found.columns, out, "bocopt decide").decode(), nl=False)
            return
        if address:
            write_rows(address, table, found.columns, keys)
        else:
            write_table(found.columns, out, "bocopt decide")
        say(f"Wrote {len(found.stages)} decisions to {without_password(out)}.")
        if opened.panel is not None:
            by = next(iter(opened.policies)) if policy is None else policy
            alone = opened.across(by) is None
            _say_of_agents(opened.panel, found.columns, alone=alone)


def _keys(case: "Case") -> list[str]:
    """Return the columns that tell the rows of a case apart."""
    spec = case.spec
    keys = [] if spec is None else [*spec.series, *([spec.time] if spec.time else [])]
    if not keys:
        raise ValueError(
            "A database needs rows that can be told apart: name the 'time' of the case, or write "
            "to a file."
        )
    return keys


def _say_of_agents(panel: "Panel", columns: Mapping[str, list[Any]], *, alone: bool) -> None:
    """Say which series are new, and which of the backtest have no row."""
    from bocopt.app.features.panel_rows import BETWEEN
    from bocopt.app.panels.nights import NEW

    names = list(map(BETWEEN.join, zip(*(columns[name] for name in panel.columns), strict=True)))
    new = {name for name, agent in zip(names, columns["agent"], strict=True) if agent == NEW}
    there = {*names}
    absent = [name for name in panel.names if name not in there]
    if new:
        by = "agents that knew nothing before these rows"
        by = by if alone else "what the model across series expects"
        say(f"New, so decided by {by}: {_some(sorted(new))}.")
    if absent:
        say(f"No row to decide for {len(absent)} of {len(panel.names)} series: {_some(absent)}.")


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def _say_of_stages(found: "PanelFindings") -> None:
    """Say what a stage is where there are several series."""
    decisions = sum(int(counted.sum()) for counted in found.counts)
    if found.coupled:
        say(
            f"A stage is a time: one program decides all that are open, of "
            f"{len(found.panel.names):,} series. decisions.csv has the part of each."
        )
        return
    say(
        f"A stage is a time: these are sums over {len(found.panel.names):,} series, "
        f"{decisions:,} decisions in all. series.csv has each series."
    )


def _show(case: "Case") -> None:
    from bocopt.app.features.preview import shown

    panel, source = case.panel, case.source
    assert source is not None
    series, notes, many = (
        (case.data, case.data.notes, f"{len(case.data.x)} stages")
        if panel is None
        else (panel.series[0], panel.notes, f"{panel.stages} decisions")
    )
    times = series.time if panel is None else panel.time
    say(f"{case.title}: {many} from {source.data_name}, {times[0]} to {times[-1]}.")
    for note in notes:
        say(f"- {note}")
    if panel is not None:
        say(f"The first series, '{panel.names[0]}':")
    typer.echo(shown(series))
    now = "decisions in the table" if series.now is not None else source.now or "nothing to compare"
    say(f"Problem: {source.problem}. Policies: {', '.join(case.policies)}. Done now: {now}.")
    say(f"It would play {case.stages_to_play} stages, and write to {case.results}.")


def played_by(
    case: "Case", jobs: int, fresh: bool, shown: Progress
) -> tuple["Findings", dict[str, "Agent[Any]"]]:
    """By so many processes; a short case by this one, which has more to start than to play."""
    from bocopt.app.backtesting import backtest
    from bocopt.app.side_by_side import play_side_by_side

    if min(jobs, len(case.everyone)) < 2 or case.stages_to_play < _SHORT:
        return backtest(case, fresh=fresh, begin=shown.begin, advance=shown.advance)
    shown.begin("playing", case.stages_to_play)
    play_side_by_side(case, jobs, fresh=fresh, advance=shown.advance)
    return backtest(case)


def _panel_played_by(
    case: "Case", jobs: int, cluster: str | None, fresh: bool, shown: Progress
) -> "PanelFindings":
    """By so many processes here, or by the workers of a cluster."""
    from bocopt.app.panels.backtest import backtest_panel

    play = partial(backtest_panel, case, fresh=fresh, begin=shown.begin, advance=shown.advance)
    if cluster is None:
        return play(jobs=jobs)
    shown.say("connecting")
    with workers_at(cluster, shown.say) as (executor, size):
        return play(executor=executor, size=size)


def _play(case: "Case", fresh: bool, jobs: int, cluster: str | None) -> None:
    from bocopt.app.page.discovered import discovered_words
    from bocopt.app.panels.writing import write_panel
    from bocopt.app.writing import write

    started = time.perf_counter()
    results = folder(str(case.results), "results")
    unit = "stage" if case.panel is None else "decision"
    with progress(case.title, case.stages_to_play, unit) as shown:
        if case.panel is not None:
            panel = _panel_played_by(case, jobs, cluster, fresh, shown)
            findings = panel.totals
        else:
            findings, agents = played_by(case, jobs, fresh, shown)
    if case.panel is not None:
        write_panel(case, panel)
        _say_of_stages(panel)
    else:
        write(case, findings, agents)
    for found in findings.compared.values():
        for line in found.words(f" {case.unit}" if case.unit else "").splitlines():
            say(line)
    if case.panel is not None and panel.discoveries is not None:
        say(discovered_words(panel.discoveries, panel.panel.names, listed=_SHOWN))
    took = time.perf_counter() - started
    say(f"{took:.1f} s; the report is {Path(results) / 'report.html'}")
