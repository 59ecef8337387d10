"""Decisions of many series that are held: those whose outcome is open, and the latest of each."""

from typing import NamedTuple

import numpy as np

from bocopt.core import Array, BoolArray, IntArray, Solution
from bocopt.state import mapped

_HALF = np.int64(32)  # bits of a key that are a number; the others are a place


class Held(NamedTuple):
    """Decisions in the order of their series, and of their numbers."""

    place: IntArray  # (h) of the series
    number: IntArray  # (h) of the decision, among those of its series
    x: Array  # (h, k)
    beside: Array  # (h, b) what a model of all series said
    solution: Solution  # (h) each
    xi: Array  # (h, m) the outcome; NaN where none came
    open: BoolArray  # (h) whether the outcome is waited for

    def find(self, place: IntArray, number: IntArray) -> IntArray:
        """Return the rows (n) of decisions, -1 where one is not held."""
        wanted, keys = _key(place, number), _key(self.place, self.number)
        if not len(keys):
            return np.full(len(wanted), -1)
        rows = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[rows] == wanted, rows, -1)

    def oldest(self, place: IntArray) -> IntArray:
        """Return the rows (n) of the oldest open decision of each series, -1 where none is open."""
        rows = np.flatnonzero(self.open)
        if not len(rows):
            return np.full(len(place), -1)
        own = self.place[rows]
        first = np.minimum(np.searchsorted(own, place), len(own) - 1)
        return np.where(own[first] == place, rows[first], -1)

    def at(self, rows: IntArray) -> "Held":
        """Return the decisions of some rows."""
        some: Held = mapped(lambda part: part[rows], self)
        return some

    def with_new(self, new: "Held") -> "Held":
        """Return what is held with other decisions, without what is closed and not the latest."""
        joined: Held = mapped(lambda one, other: np.concatenate([one, other]), self, new)
        order = np.argsort(_key(joined.place, joined.number), kind="stable")
        place, opened = joined.place[order], joined.open[order]
        latest = np.append(place[1:] != place[:-1], True)[: len(place)]
        return joined.at(order[opened | latest])


def none_held(k: int, b: int, d: int, m: int) -> Held:
    """Return what is held before the first decision, of as many numbers as `Held` has each."""
    count, number = np.zeros(0, np.int64), np.zeros(0)
    return Held(
        place=count,
        number=count,
        x=np.zeros((0, k)),
        beside=np.zeros((0, b)),
        solution=Solution(np.zeros((0, d)), number, count, number),
        xi=np.zeros((0, m)),
        open=np.zeros(0, bool),
    )


def _key(place: IntArray, number: IntArray) -> IntArray:
    return (place.astype(np.int64) << _HALF) + number
