"""The table of each study, as a planner would have it: a row a stage."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bocopt.core import Array
from bocopt_studies.learning.data import calls, chicago, electricity, flights, pizza
from bocopt_studies.learning.data.source import Columns

Table = Mapping[str, NDArray[Any]]  # (T) each, by the names of the columns
Tables = Mapping[str, Columns]  # what a package holds

_A_DAY = 8  # blocks of three hours
_OPENS = 9  # o'clock


def _chicago(tables: Tables) -> Table:
    """The last 1100 days: weather and games, and the riders of each station."""
    times, riders, known = chicago.days_of(tables)
    table = {"date": times, **_named(chicago.KNOWN, known), **_named(chicago.STATIONS, riders)}
    return {name: column[-1100:] for name, column in table.items()}


def _calls(tables: Tables) -> Table:
    """The last 1100 opening hours, and the calls in each."""
    starts, counts = calls.hours_of(tables)
    table = {"start": starts, "hour": calls.hour_of(starts), "calls": counts}
    return {name: column[-1100:] for name, column in table.items()}


def _flights(tables: Tables) -> Table:
    """Thirds of all days: what is known when one begins, and the flights that left late."""
    blocks = flights.blocks_of(tables)
    airports = flights.AIRPORTS
    quantities = [f"{quantity} {airport}" for airport in airports for quantity in flights.WEATHER]
    return {
        "start": blocks.starts,
        "block": np.resize(("morning", "noon", "evening"), len(blocks.starts)),
        **_named([f"planned {airport}" for airport in airports], blocks.planned),
        **_named([f"recent {airport}" for airport in airports], blocks.recent),
        **_named(quantities, blocks.weather),
        **_named([f"late {airport}" for airport in airports], blocks.late),
    }


def _electricity(tables: Tables) -> Table:
    """1100 blocks from the second day of the year on: the day, temperatures, the largest demand."""
    times, demand, heat, workday = electricity.blocks_of(tables)
    table = {
        "start": times,
        "block": np.arange(len(times)) % _A_DAY + 1,
        "workday": workday,
        "workday before": np.roll(workday, _A_DAY),  # the first day has none, and is left out
        **_named([f"degrees {hour}" for hour in (1, 2, 3)], heat),
        "demand": demand.max(axis=-1),
    }
    return {name: column[_A_DAY : _A_DAY + 1100] for name, column in table.items()}


def _pizzas(tables: Tables) -> Table:
    """Services of all days but those on which they were closed, and what was sold at each."""
    times, sold = pizza.services_of(tables)
    services = np.resize(("lunch", "afternoon", "dinner"), len(times))
    opening = np.where(services == "lunch", _OPENS, 0).astype("timedelta64[h]")
    return {"start": times + opening, "service": services, **_named(pizza.KINDS, sold)}


def _named(names: Sequence[str], values: Array) -> Table:
    """(T, names) -> a column each."""
    return {name: values[:, i] for i, name in enumerate(names)}


#: How the tables of a package are read, and what is made of them; files are in the folder `name`.
STUDIES: Mapping[str, tuple[Callable[[], Tables], Callable[[Tables], Table]]] = {
    "chicago": (chicago.read, _chicago),
    "calls": (calls.read, _calls),
    "flights": (flights.read, _flights),
    "electricity": (electricity.read, _electricity),
    "pizzas": (pizza.read, _pizzas),
}
