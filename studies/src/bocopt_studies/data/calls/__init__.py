"""Calls to a bank: the last 1100 opening hours."""

from bocopt_studies.data.table import Table, Tables
from bocopt_studies.learning.data.calls import hour_of, hours_of, read

__all__ = ["read", "rows"]


def rows(tables: Tables) -> Table:
    """Return the hours, and the calls in each."""
    starts, counts = hours_of(tables)
    table = {"start": starts, "hour": hour_of(starts), "calls": counts}
    return {name: column[-1100:] for name, column in table.items()}
