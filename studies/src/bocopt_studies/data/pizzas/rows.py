"""A row is a service, and what was sold at it."""

from collections.abc import Mapping

import numpy as np

from bocopt_studies.data.columns import Table, named
from bocopt_studies.learning.data import pizza
from bocopt_studies.learning.data.source import Columns

read = pizza.read
_SERVICES = ("lunch", "afternoon", "dinner")
_OPENS = 9  # o'clock


def rows(tables: Mapping[str, Columns]) -> Table:
    """All of the year, but for days on which they were closed."""
    times, sold = pizza.services_of(tables)
    services = np.resize(_SERVICES, len(times))
    opening = np.where(services == "lunch", _OPENS, 0).astype("timedelta64[h]")
    return {"start": times + opening, "service": services, **named(pizza.KINDS, sold)}
