"""The command line. Thin: no mathematics, and nothing heavy is imported before it is needed."""

from importlib.metadata import entry_points
from typing import Annotated

import typer

from bocopt.app.cli import backtest, serve

app = typer.Typer(
    help="Bayesian online contextual optimization: decide, see the outcome, learn from it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,  # which may hold the password of a database
)
app.command()(backtest.init)
app.command()(backtest.backtest)
app.command()(backtest.decide)
app.command()(serve.serve)
app.command("import")(serve.import_)
app.command()(serve.replay)
app.command()(serve.doctor)
app.command()(serve.export)
app.command()(serve.prior)
for _more in entry_points(
    group="bocopt.commands"
):  # of other distributions: bocopt-studies has one
    app.add_typer(_more.load(), name=_more.name)


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
    """Do what the options ask that go before all commands."""
