"""What all commands do alike."""

from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

import typer

from bocopt.report.text import plain

if TYPE_CHECKING:
    from rich.progress import Progress


def say(text: str, err: bool = False) -> None:
    typer.echo(plain(text), err=err)


def folder(out: str, hint: str = "--out") -> Path:
    """A folder that can be written to, made where it is missing."""
    if not out:
        raise typer.BadParameter("must name a folder. Got '' instead.", param_hint=hint)
    path = Path(out)
    try:
        path.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=path):
            pass
    except (OSError, ValueError) as error:  # a ValueError: no system has such a name
        why = error.strerror if isinstance(error, OSError) else error
        message = plain(f"cannot write to {path}: {why}.")
        raise typer.BadParameter(message, param_hint=hint) from error
    return path


def progress_bar() -> "Progress":
    """On a terminal; files and pipes get the results only."""
    from rich.console import Console
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

    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("stages"),
        RateColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
    )


def versions() -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, version
    from platform import python_version

    found = {"python": python_version()}
    for name in ("bocopt", "numpy", "numba", "scipy", "matplotlib"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # matplotlib is an extra
            found[name] = "not installed"
    return found
