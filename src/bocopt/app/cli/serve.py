"""`bocopt serve`, `import`, `replay`, `doctor`, `export` and `prior`: a service, and its log."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bocopt.app.cli.shared import Settings, Where, exit_on, say

if TYPE_CHECKING:
    from bocopt.app.service.config import Config
    from bocopt.app.service.stores import Store

Stream = Annotated[
    str | None, typer.Option(help="Only this stream; all of them otherwise.", metavar="ID")
]
_NEEDED = ("anyio", "itsdangerous", "starlette", "uvicorn")


def serve(
    config: Settings = "bocopt.toml",
    host: Annotated[str | None, typer.Option(help="Instead of the file's.")] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Instead of the file's; 0: any free one.")
    ] = None,
) -> None:
    """Decide and learn for other programs, over HTTP."""
    with _exit_on_refusal():
        settings = _loaded(config, host, port)
        try:
            from bocopt.app.service.serving import serve as run
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] not in _NEEDED:
                raise
            needed = "Starlette, uvicorn and itsdangerous"
            say(f'A service needs {needed}: pip install "bocopt[serve]"', err=True)
            raise typer.Exit(1) from None
        run(settings, say)


def import_(
    stream: Annotated[str, typer.Option(help="Who learns it.", metavar="ID")],
    table: Annotated[
        str | None,
        typer.Argument(help="A CSV or Parquet file; the data of the case otherwise."),
    ] = None,
    x: Annotated[
        str | None,
        typer.Option(
            help="The columns of x, as a,b,c; the names in 'context' otherwise.", metavar="NAMES"
        ),
    ] = None,
    xi: Annotated[
        str | None,
        typer.Option(help="Those of xi; the names in 'outcome' otherwise.", metavar="NAMES"),
    ] = None,
    case: Annotated[
        str | None, typer.Option(help="The case of a stream that begins with it.", metavar="NAME")
    ] = None,
    config: Where = "bocopt.toml",
) -> None:
    """Teach a stream a history from a table: each row once, and none is a decision."""
    from bocopt.app.case_file import table_of
    from bocopt.app.cli.progress import progress
    from bocopt.app.service.history import Names, imported

    names = Names(*(None if given is None else _names(given) for given in (x, xi)))
    with _exit_on_refusal():
        settings = _loaded(config, None, None)
        frame = table_of(settings.path, case or stream, table)
        show = partial(progress, f"Teaching {stream}")
        say(imported(settings, frame, stream, names, case, show).words)


def _names(listed: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in listed.split(",") if name.strip())


def replay(
    config: Settings = "bocopt.toml",
    stream: Stream = None,
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Decide again, and compare with what was logged."),
    ] = False,
) -> None:
    """Fold the log from its first event, and say what is known at its end."""
    from bocopt.app.service.replay import replayed

    with _exit_on_refusal(), _opened(config) as (settings, store):
        wrong = 0
        for found in replayed(settings, store, stream, verify):
            say(found.words)
            wrong += not found.fine
        _exit_if(wrong)


def doctor(config: Settings = "bocopt.toml", stream: Stream = None) -> None:
    """Look for damage in the log, the snapshots and the indexes, and for overdue outcomes."""
    from bocopt.app.service.doctor import findings

    with _exit_on_refusal(), _opened(config) as (settings, store):
        wrong = 0
        for found in findings(settings, store, stream):
            say(found.words)
            wrong += not found.fine
        _exit_if(wrong)


def export(
    stream: Annotated[str, typer.Argument(help="The stream.", metavar="ID")],
    out: Annotated[str, typer.Argument(help="A .csv or .parquet file.", metavar="FILE")],
    config: Where = "bocopt.toml",
) -> None:
    """Write a stream's decisions and outcomes as a table, one row a decision."""
    from bocopt.app.service.export import exported

    with _exit_on_refusal(), _opened(config) as (settings, store):
        rows = exported(settings, store, stream, Path(out))
        say(f"Wrote {rows} decisions to {out}.")


def prior(
    out: Annotated[str, typer.Argument(help="Where to write it.", metavar="FILE")],
    case: Annotated[
        str | None, typer.Option(help="The case of the streams; needed if there are several.")
    ] = None,
    config: Where = "bocopt.toml",
) -> None:
    """Fit what streams of a case have in common, as a start for new ones."""
    from bocopt.app.service.fleet_prior import fitted

    with _exit_on_refusal(), _opened(config) as (settings, store):
        found = fitted(settings, store, case, Path(out))
        say(f"Wrote what {found.streams} streams with {found.outcomes} outcomes share to {out}.")


def _exit_if(wrong: int) -> None:
    if wrong:
        raise typer.Exit(1)


@contextmanager
def _opened(config: str) -> Iterator[tuple["Config", "Store"]]:
    """The configuration and its log, for reading."""
    from bocopt.app.service.config import load_config
    from bocopt.app.service.stores import open_store

    settings = load_config(config)
    store = open_store(settings.store, settings.folder, read_only=True)
    try:
        yield settings, store
    finally:
        store.close()


def _loaded(config: str, host: str | None, port: int | None) -> "Config":
    from bocopt.app.service.config import load_config

    return load_config(config, host=host, port=port)


@contextmanager
def _exit_on_refusal() -> Iterator[None]:
    """As `exit_on`, also for errors of the log and of what is asked of it."""
    from bocopt.app.service.commands import RefusedError
    from bocopt.app.service.stores import StoreError
    from bocopt.app.service.stream_state import DamagedError

    with exit_on(ValueError, RefusedError, DamagedError, StoreError):
        yield
