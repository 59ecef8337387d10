"""Rows of several series, time by time: a series has one row of a time, or more in turns."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from bocopt.app.features.panel_rows import PanelFeaturiser
from bocopt.app.features.rows import TableRow, rows_of
from bocopt.app.reading.columns import Table
from bocopt.app.reading.times import time_of


class AskedRow(NamedTuple):
    """One row of a table."""

    place: int  # among the rows of the table, in the order of their times
    name: str  # of its series
    row: TableRow  # its fields without those that name the series
    fields: TableRow  # all
    time: float  # its order

    @property
    def has_outcome(self) -> bool:
        """Return whether any number of its outcome is there."""
        return not bool(np.isnan(self.row.xi).all())


def turns_of(rows: Table, featuriser: PanelFeaturiser) -> Iterator[Sequence[AskedRow]]:
    """Yield the rows of each time, none of the same series: all are decided before any outcome."""
    turns: list[list[AskedRow]] = []
    there, before = set[str](), -np.inf
    for place, row in enumerate(rows_of(rows, featuriser.spec)):
        name = featuriser.name(row.fields)
        rest = row._replace(fields=featuriser.rest(row.fields))
        time = time_of(row.fields.get(str(featuriser.spec.time)), featuriser.kind)
        order = np.nan if time is None else time.order  # it is refused where it is read
        if order != before or name in there:
            turns.append([])
            there, before = set(), float(order)
        there.add(name)
        turns[-1].append(AskedRow(place, name, rest, row, float(order)))
    yield from turns
