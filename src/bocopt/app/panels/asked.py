"""Rows of several series, in turns: each series has one row in a turn, the earliest first."""

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
    """Yield the rows, in turns."""
    turns: list[list[AskedRow]] = []
    count = dict[str, int]()
    for place, row in enumerate(rows_of(rows, featuriser.spec)):
        name = featuriser.name(row.fields)
        turn = count.get(name, 0)
        count[name] = turn + 1
        if turn == len(turns):
            turns.append([])
        rest = row._replace(fields=featuriser.rest(row.fields))
        time = time_of(row.fields.get(str(featuriser.spec.time)), featuriser.kind)
        order = np.nan if time is None else time.order  # it is refused where it is read
        turns[turn].append(AskedRow(place, name, rest, row, float(order)))
    yield from turns
