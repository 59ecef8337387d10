"""Pizzas: the services of all days but those on which the shop was closed."""

import numpy as np

from bocopt_studies.data.table import Table, Tables, named
from bocopt_studies.learning.data.pizza import KINDS, read, services_of

__all__ = ["read", "rows"]

_OPENS = 9  # o'clock


def rows(tables: Tables) -> Table:
    """Return when a service begins, and what was sold at each."""
    times, sold = services_of(tables)
    services = np.resize(("lunch", "afternoon", "dinner"), len(times))
    opening = np.where(services == "lunch", _OPENS, 0).astype("timedelta64[h]")
    return {"start": times + opening, "service": services, **named(KINDS, sold)}
