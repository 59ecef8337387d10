"""A row is an opening hour, and the calls in it."""

from collections.abc import Mapping

from bocopt_studies.data.columns import Table
from bocopt_studies.learning.data import calls
from bocopt_studies.learning.data.source import Columns

read = calls.read


def rows(tables: Mapping[str, Columns]) -> Table:
    """The last 1100 hours."""
    starts, counts = calls.hours_of(tables)
    table = {"start": starts, "hour": calls.hour_of(starts), "calls": counts}
    return {name: column[-1100:] for name, column in table.items()}
