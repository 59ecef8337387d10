"""A model across the series of a panel: asked before outcomes are known, taught when they are.

What a series decides is a lesson, which is learned when its outcome is known to the series: just
before its next decision, once. So a backtest, the nights after it and a `PanelAgent` that is told
outcomes before decisions come to the same numbers.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bocopt import checkpoint
from bocopt.core import Array, BoolArray, IntArray
from bocopt.fingerprint import fingerprint
from bocopt.models import AcrossSeries
from bocopt.models.across import AcrossState
from bocopt.state import Arrays, CheckpointError, flatten, mapped, rebuild


class Lessons(NamedTuple):
    """Decisions whose outcome the model has not learned, in the order in which they were taken."""

    place: IntArray  # (w) of the series
    number: IntArray  # (w) of the decision, among those of its series
    rows: Array  # (w, k + 2) what was known
    y: Array  # (w) the outcome; NaN where it did not come
    due: IntArray  # (w) the first decision of the series that may know it


class AcrossPanel:
    """A model of all series of a panel, with what it has learned and what it waits for."""

    def __init__(self, model: AcrossSeries, seed: int) -> None:
        self.model = model
        self.state: AcrossState = model.init(np.array(seed))
        self.names: list[str] = []
        self._places: dict[str, int] = {}
        self._decided = np.zeros(0, np.int64)  # (s)
        self._rank = np.zeros(0, np.int64)  # (s) by name: who learns first
        self._lessons: Lessons | None = None

    def places(self, names: Sequence[str]) -> IntArray:
        """Return the places (n) of series; those that are new get the next ones."""
        new = [name for name in names if name not in self._places]
        if new:
            self._add(new)
        return np.array([self._places[name] for name in names], np.int64)

    def _add(self, names: Sequence[str]) -> None:
        self.names += names
        self._places = {name: place for place, name in enumerate(self.names)}
        self._decided = np.append(self._decided, np.zeros(len(names), np.int64))
        self._rank = np.argsort(np.argsort(np.array(self.names)))

    def decide(
        self, places: IntArray, x: Array, y: Array | None = None, due: IntArray | None = None
    ) -> Array:
        """Return the quantiles (n, L) of the next outcomes of different series, at contexts (n, k).

        They learn first what they know of their past. Outcomes (n) that are known beforehand, of a
        table, are learned from the decision on at which they are `due`; without any they are
        observed.
        """
        number = self._decided[places]
        self._learn(places, number)
        rows = self.model.rows(self.state, places, x)
        if y is None or due is None:
            new = Lessons(places, number, rows, np.full(len(x), np.nan), np.zeros_like(number))
        else:  # those without an outcome never come
            new = _those(Lessons(places, number, rows, y, due), ~np.isnan(y))
        before = self._lessons
        self._lessons = new if before is None else _joined(before, new)
        self._decided[places] += 1
        return self.model.quantiles(self.state, rows)

    def observe(self, places: IntArray, numbers: IntArray, y: Array) -> None:
        """Take over the outcomes (n) of decisions of different series; NaN: it never comes."""
        if self._lessons is None:
            return
        keys = self._lessons.place.tolist(), self._lessons.number.tolist()
        known = {key: row for row, key in enumerate(zip(*keys, strict=True))}
        pairs = zip(places.tolist(), numbers.tolist(), strict=True)
        at = np.array([known[pair] for pair in pairs], np.int64)
        told = self._lessons.y.copy()
        told[at] = y
        left = np.ones(len(told), bool)
        left[at[np.isnan(y)]] = False
        self._lessons = _those(self._lessons._replace(y=told), left)

    def end(self) -> None:
        """Have all outcomes of a table be known by the next decisions of their series."""
        if self._lessons is not None:
            self._lessons = self._lessons._replace(due=np.zeros_like(self._lessons.due))

    def _learn(self, places: IntArray, number: IntArray) -> None:
        """Learn what series know by their decisions of these numbers, in the order of their names.

        Of several outcomes of a series the first is learned by one call with the firsts of others.
        """
        if self._lessons is None:
            return
        at = np.full(len(self._decided), -1)
        at[places] = number
        asked = at[self._lessons.place]
        ready = ~np.isnan(self._lessons.y) & (asked >= 0) & (self._lessons.due <= asked)
        taught = _those(self._lessons, ready)
        self._lessons = _those(self._lessons, ~ready)
        order = np.lexsort((taught.number, taught.place))
        same = np.append(False, np.diff(taught.place[order]) == 0)[: len(order)]
        count = np.arange(len(order))
        turn = np.empty(len(order), np.int64)
        turn[order] = count - np.maximum.accumulate(np.where(same, 0, count))
        for one in range(int(turn.max(initial=-1)) + 1):
            some = np.flatnonzero(turn == one)
            some = some[np.argsort(self._rank[taught.place[some]])]
            part = _those(taught, some)
            self.state = self.model.learn(self.state, part.place, part.rows, part.y)
            if self.model.is_due(self.state):
                self.state = self.model.refit(self.state)

    def arrays(self) -> Arrays:
        """Return all arrays that `restored` needs."""
        waits = {} if self._lessons is None else flatten(self._lessons, "lessons")
        return {"decided": self._decided} | flatten(self.state, "state") | waits

    def restored(self, names: Sequence[str], arrays: Arrays) -> "AcrossPanel":
        """Return it as it was when it had these names and arrays."""
        self._add(names)
        self._decided = arrays["decided"].copy()
        self.state = rebuild(self.state, arrays, "state")
        if "lessons.y" in arrays:
            none = np.zeros(0, np.int64)
            template = Lessons(none, none, np.zeros((0, 0)), np.zeros(0), none)
            self._lessons = rebuild(template, arrays, "lessons")
        return self

    def save(self, path: Path) -> None:
        """Write all of it to a file."""
        header = {"across": fingerprint(self.model), "names": self.names}
        checkpoint.save(path, header, self.arrays())


def loaded(path: Path, model: AcrossSeries, seed: int) -> AcrossPanel:
    """Return what was saved with the same model; an error says what differs."""
    header, arrays = checkpoint.load(path)
    if header.get("across") != fingerprint(model):
        raise CheckpointError(
            f"{path} was saved with another model across series: play the case again, by `bocopt "
            "backtest`."
        )
    return AcrossPanel(model, seed).restored(header["names"], arrays)


def _joined(one: Lessons, other: Lessons) -> Lessons:
    both: Lessons = mapped(lambda first, second: np.concatenate([first, second]), one, other)
    return both


def _those(lessons: Lessons, some: BoolArray | IntArray) -> Lessons:
    found: Lessons = mapped(lambda part: part[some], lessons)
    return found
