"""Late flights of New York's airports: thirds of all days."""

import numpy as np

from bocopt_studies.data.table import Table, Tables, named
from bocopt_studies.learning.data.flights import AIRPORTS, WEATHER, blocks_of, read

__all__ = ["read", "rows"]


def rows(tables: Tables) -> Table:
    """Return what is known when a third of a day begins, and the flights that left late."""
    blocks = blocks_of(tables)
    quantities = [f"{quantity} {airport}" for airport in AIRPORTS for quantity in WEATHER]
    return {
        "start": blocks.starts,
        "block": np.resize(("morning", "noon", "evening"), len(blocks.starts)),
        **named([f"planned {airport}" for airport in AIRPORTS], blocks.planned),
        **named([f"recent {airport}" for airport in AIRPORTS], blocks.recent),
        **named(quantities, blocks.weather),
        **named([f"late {airport}" for airport in AIRPORTS], blocks.late),
    }
