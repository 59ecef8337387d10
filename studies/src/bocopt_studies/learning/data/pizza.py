"""Pizzas sold in 2015, by kind, at lunch, in the afternoon and at dinner."""

from collections.abc import Mapping

import numpy as np

from bocopt.core import Array
from bocopt.problems import Newsvendor
from bocopt_studies.learning.data.features import joined, lagged, one_hot, season, weekday
from bocopt_studies.learning.data.source import Columns, DataSet, StudySeries, Times, table

KINDS = ("chicken", "classic", "supreme", "veggie")
STARTS = (0, 15, 18)  # hours at which a service begins


def read() -> Mapping[str, Columns]:
    """Return the table `pizzaplace` of gt, a row a pizza."""
    return {"pizzas": table("gt", "pizzaplace")}


def services_of(tables: Mapping[str, Columns]) -> tuple[Times, Array]:
    """(T), (T, kinds) when services begin on days on which they were open, and what was sold."""
    pizzas = tables["pizzas"]
    day = pizzas["date"].astype("datetime64[D]")
    hour = np.array([text[:2] for text in pizzas["time"]]).astype(int)
    days, which = np.unique(day, return_inverse=True)
    a_day = len(STARTS)
    stage = a_day * which + np.searchsorted(STARTS, hour, side="right") - 1
    sold = np.zeros((a_day * len(days), len(KINDS)))
    np.add.at(sold, (stage, np.searchsorted(KINDS, pizzas["type"].astype(str))), 1.0)
    times = (days[:, None] + np.array(STARTS, "timedelta64[h]")).ravel()
    return times, sold


def series(tables: Mapping[str, Columns]) -> StudySeries:
    """A stage is a service; lags are in services."""
    (times, sold), a_day = services_of(tables), len(STARTS)
    x = joined(
        one_hot(np.arange(len(times)) % a_day, range(a_day)),
        one_hot(weekday(times), range(7)),
        season(times),
        lagged(sold, 1, a_day, 6 * a_day, 7 * a_day),
    )
    return StudySeries(times, x, sold).part(len(times) - 1000, 1000)


def problem() -> Newsvendor:
    """Dough and toppings for four kinds of pizza, prepared before a service in one cold room.

    What is prepared and not sold loses most of its value, and who is not served goes elsewhere. The
    cold room holds about what a busy service sells. So each kind is prepared up to a quantile of
    its demand, and less of the less profitable where the room is short.
    """
    return Newsvendor(
        unit_cost=[5, 4, 5, 4], price=[17, 15, 18, 15], salvage=1, volume=1, capacity=70
    )


def as_last_week(x: Array) -> Array:
    """Return that service's sales a week ago and a fifth (4), as far as the room holds them."""
    wanted = 1.2 * x[-4:]  # the last of four lags, four kinds each
    return np.asarray(wanted * min(1.0, 70.0 / max(wanted.sum(), 1e-9)))


PIZZA = DataSet(read, series, problem)
