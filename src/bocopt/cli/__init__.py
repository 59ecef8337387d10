"""The command line. Thin: no mathematics, and nothing heavy is imported before it is needed."""

from typing import Annotated

import typer

from bocopt.cli import data, reproduce, serve, tables

app = typer.Typer(
    help="Bayesian online contextual optimization: decide, see the outcome, learn from it.",
    no_args_is_help=True,
    add_completion=False,
)
reproduce.commands.command()(data.data)
app.add_typer(reproduce.commands, name="reproduce")
app.command()(tables.init)
app.command()(tables.run)
app.command()(serve.serve)
app.command()(serve.replay)
app.command()(serve.doctor)
app.command()(serve.export)
app.command()(serve.prior)


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
