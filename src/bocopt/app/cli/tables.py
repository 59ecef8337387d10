"""`bocopt init` and `bocopt run`: a study from a table."""

import time
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bocopt.app.cli.progress import Progress, progress
from bocopt.app.cli.shared import GOES_ON, KILLED, Jobs, folder, say, workers

if TYPE_CHECKING:
    from bocopt.app.findings import Findings
    from bocopt.app.study import Study
    from bocopt.live import Agent

_EXAMPLES = ("newsvendor", "staffing", "allocation", "portfolio")
_SHORT = 2000  # stages


def init(
    path: Annotated[str, typer.Argument(help="The folder to write to.", metavar="FOLDER")] = ".",
    example: Annotated[
        str, typer.Option(help=f"What is decided: {', '.join(_EXAMPLES)}.", metavar="NAME")
    ] = "newsvendor",
    serve: Annotated[
        bool,
        typer.Option("--serve", help="A service instead: bocopt.toml and client.py."),
    ] = False,
) -> None:
    """Write a small study to begin with: study.toml, problem.py and made-up data; or a service."""
    from bocopt import file
    from bocopt.app.starters import starter

    if example not in _EXAMPLES:
        expected = f"must be one of {', '.join(_EXAMPLES)}. Got {example!r} instead."
        raise typer.BadParameter(expected, param_hint="--example")
    where = folder(path, "FOLDER")
    files = starter(example, service=serve)
    there = [name for name, content in files.items() if _differs(where / name, content)]
    if there:
        message = f"{where} has {', '.join(there)} already; nothing was written."
        raise typer.BadParameter(message, param_hint="FOLDER")
    for name, content in files.items():
        file.replace(where / name, content)
    say(f"Wrote {', '.join(str(where / name) for name in files)}.")
    if serve:
        say(f"Next: bocopt serve {where / 'bocopt.toml'}")
        say(f"Then, in another window: python {where / 'client.py'}")
    else:
        say(f"Next: bocopt run {where / 'study.toml'}")


def _differs(path: Path, content: bytes) -> bool:
    """Whether something else is there: a study and a service may share a problem and its data."""
    return path.exists() and not (path.is_file() and path.read_bytes() == content)


def run(
    study: Annotated[str, typer.Argument(help="The study's file.", metavar="STUDY.TOML")],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be done.")
    ] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Play again what has been played already.")
    ] = False,
    jobs: Jobs = "auto",
) -> None:
    """Play a study in time order, and write its decisions and a report."""
    from bocopt.app.study import open_study

    many = workers(jobs)
    with told():
        opened = open_study(study)
        if dry_run:
            _show(opened)
        else:
            _play(opened, fresh, many)


@contextmanager
def told() -> Iterator[None]:
    """Whatever goes wrong with a study is told in a sentence."""
    try:
        yield
    except KeyboardInterrupt:
        say("Interrupted. What was played is kept; the same command goes on from there.")
        raise typer.Exit(130) from None
    except BrokenExecutor:
        say(f"{KILLED} {GOES_ON}", err=True)
        raise typer.Exit(1) from None
    except (ValueError, ModuleNotFoundError) as error:
        for line in str(error).split("\n"):
            say(line, err=True)
        raise typer.Exit(1) from None
    except BrokenPipeError:
        raise  # nobody reads on: the files are written, and Typer ends quietly
    except OSError as error:
        say(f"{error.strerror}: {error.filename}" if error.strerror else str(error), err=True)
        raise typer.Exit(1) from None


def _show(study: "Study") -> None:
    from bocopt.app.features.preview import shown

    file, series = study.file, study.series
    say(
        f"{file.title}: {len(series.x)} stages from {file.data}, {series.time[0]} to "
        f"{series.time[-1]}."
    )
    for note in series.notes:
        say(f"- {note}")
    typer.echo(shown(series))
    now = "decisions in the table" if series.now is not None else file.now or "nothing to compare"
    say(
        f"Problem: {file.name} in {file.problem}. Policies: {', '.join(study.policies)}. "
        f"Done now: {now}."
    )
    say(f"It would play {study.stages} stages, and write to {file.results}.")


def played_by(
    study: "Study", jobs: int, fresh: bool, shown: Progress
) -> tuple["Findings", dict[str, "Agent[Any]"]]:
    """By so many processes; a short study by this one, which has more to start than to play."""
    from bocopt.app.side_by_side import play_side_by_side
    from bocopt.app.study import played

    if min(jobs, len(study.everyone)) < 2 or study.stages < _SHORT:
        return played(study, fresh=fresh, begin=shown.begin, advance=shown.advance)
    shown.begin("playing", study.stages)
    play_side_by_side(study, jobs, fresh=fresh, advance=shown.advance)
    return played(study)


def _play(study: "Study", fresh: bool, jobs: int) -> None:
    from bocopt.app.writing import write

    started = time.perf_counter()
    results = folder(str(study.file.results), "results")
    with progress(study.file.title, study.stages) as shown:
        findings, agents = played_by(study, jobs, fresh, shown)
    write(study, findings, agents)
    for found in findings.compared.values():
        for line in found.words(f" {study.file.unit}" if study.file.unit else "").splitlines():
            say(line)
    took = time.perf_counter() - started
    say(f"{took:.1f} s; the report is {Path(results) / 'report.html'}")
