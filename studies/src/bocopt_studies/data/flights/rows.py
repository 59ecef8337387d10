"""A row is a third of a day: what is known when it begins, and the flights that left late."""

from collections.abc import Mapping

import numpy as np

from bocopt.core import Array
from bocopt_studies.data.columns import Table, named
from bocopt_studies.learning.data import flights
from bocopt_studies.learning.data.flights import AIRPORTS, WEATHER
from bocopt_studies.learning.data.source import Columns

read = flights.read
_BLOCKS = ("morning", "noon", "evening")


def rows(tables: Mapping[str, Columns]) -> Table:
    """All of the year."""
    blocks = flights.blocks_of(tables)
    quantities = [f"{quantity} {airport}" for airport in AIRPORTS for quantity in WEATHER]
    return {
        "start": blocks.starts,
        "block": np.resize(_BLOCKS, len(blocks.starts)),
        **_at_airports("planned", blocks.planned),
        **_at_airports("recent", blocks.recent),
        **named(quantities, blocks.weather),
        **_at_airports("late", blocks.late),
    }


def _at_airports(what: str, counts: Array) -> Table:
    return named([f"{what} {airport}" for airport in AIRPORTS], counts)
