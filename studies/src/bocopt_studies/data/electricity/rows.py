"""A row is a block of three hours: its day, its temperatures and its largest demand."""

from collections.abc import Mapping

import numpy as np

from bocopt_studies.data.columns import Table, named
from bocopt_studies.learning.data import electricity
from bocopt_studies.learning.data.source import Columns

read = electricity.read
_A_DAY = 8  # blocks


def rows(tables: Mapping[str, Columns]) -> Table:
    """1100 blocks from the second day of the year on."""
    times, demand, heat, workday = electricity.blocks_of(tables)
    table = {
        "start": times,
        "block": np.arange(len(times)) % _A_DAY + 1,
        "workday": workday,
        "workday before": np.roll(workday, _A_DAY),  # the first day has none, and is left out
        **named([f"degrees {hour}" for hour in (1, 2, 3)], heat),
        "demand": demand.max(axis=-1),
    }
    return {name: column[_A_DAY : _A_DAY + 1100] for name, column in table.items()}
