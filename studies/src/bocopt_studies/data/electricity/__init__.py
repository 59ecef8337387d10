"""Electricity in Victoria: 1100 blocks of three hours from the second day of the year on."""

import numpy as np

from bocopt_studies.data.table import Table, Tables, named
from bocopt_studies.learning.data.electricity import blocks_of, read

__all__ = ["read", "rows"]

_A_DAY = 8  # blocks of three hours


def rows(tables: Tables) -> Table:
    """Return the kind of day, temperatures, and the largest demand of each block."""
    times, demand, heat, workday = blocks_of(tables)
    table = {
        "start": times,
        "block": np.arange(len(times)) % _A_DAY + 1,
        "workday": workday,
        "workday before": np.roll(workday, _A_DAY),  # the first day has none, and is left out
        **named([f"degrees {hour}" for hour in (1, 2, 3)], heat),
        "demand": demand.max(axis=-1),
    }
    return {name: column[_A_DAY : _A_DAY + 1100] for name, column in table.items()}
