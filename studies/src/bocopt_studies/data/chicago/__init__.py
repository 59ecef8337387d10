"""Riders of Chicago's elevated trains: the last 1100 days."""

from bocopt_studies.data.table import Table, Tables, named
from bocopt_studies.learning.data.chicago import KNOWN, STATIONS, days_of, read

__all__ = ["read", "rows"]


def rows(tables: Tables) -> Table:
    """Return weather and games, and the riders of each station."""
    times, riders, known = days_of(tables)
    table = {"date": times, **named(KNOWN, known), **named(STATIONS, riders)}
    return {name: column[-1100:] for name, column in table.items()}
