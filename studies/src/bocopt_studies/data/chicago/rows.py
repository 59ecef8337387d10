"""A row is a day: what is known in the morning, and the riders of four stations."""

from collections.abc import Mapping

from bocopt_studies.data.columns import Table, named
from bocopt_studies.learning.data import chicago
from bocopt_studies.learning.data.source import Columns

read = chicago.read


def rows(tables: Mapping[str, Columns]) -> Table:
    """The last 1100 days."""
    times, riders, known = chicago.days_of(tables)
    table = {"date": times, **named(chicago.KNOWN, known), **named(chicago.STATIONS, riders)}
    return {name: column[-1100:] for name, column in table.items()}
