"""The outcomes that an agent remembers: to tell what came again, to correct, to ask for sales."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from bocopt import arguments
from bocopt.core import Array, Bounds, Problem
from bocopt.live import sales
from bocopt.live.corrections import Recent
from bocopt.live.fold import Corrected, Event, Fold
from bocopt.live.record import Live
from bocopt.loop import Stage
from bocopt.state import Arrays, flatten, rebuild

_CURE = "Then observe each of them as at_least(...)."


class SalesWarning(UserWarning):
    """Outcomes equal what was decided too often to be chance: they may be sales, not demand."""


class OutcomesSeen:
    """Outcomes of the latest decisions, and what is needed to correct them.

    Of `dedupe_window` decisions at the most, it tells whether an outcome came before. Outcomes of
    at least the latest `correctable` can be corrected.
    """

    def __init__(self, problem: Problem, live: Live, dedupe_window: int, correctable: int) -> None:
        self._window = arguments.integer("Agent", "dedupe_window", dedupe_window, "[0, inf)")
        arguments.integer("Agent", "correctable", correctable, "[0, inf)")
        self._closed: dict[int, Bounds] = {}  # by the order they came in
        self._recent = Recent.begin(correctable, live)
        asks = sales.comparable(problem)
        self._sales = sales.begin(problem.dims.xi) if asks else None
        self._asked: tuple[tuple[int, int], ...] = ()  # components, and runs, that were asked about

    @property
    def correctable(self) -> int:
        """Return of how many decisions outcomes can be corrected, at the least."""
        return self._recent.outcomes

    def questions(self, names: tuple[str, ...] = ()) -> list[str]:
        """Return a sentence on each component whose outcomes look like sales."""
        found = [] if self._sales is None else sales.suspicions(self._sales)
        return [each.words(names, _CURE) for each in found]

    def after(self, before: Live, live: Live, event: Event) -> None:
        """Note an event, after which the agent knows `live`."""
        self._recent = self._recent.after(before, live, event)
        while len(self._closed) > self._window:
            del self._closed[next(iter(self._closed))]

    def closed(self, live: Live) -> dict[int, Bounds]:
        """Return the outcomes by their decisions, of which none is open."""
        return {number: seen for number, seen in self._closed.items() if number not in live.open}

    def lessons(self, live: Live) -> None:
        """Note that lessons came, before which nothing can be corrected."""
        self._recent = Recent.begin(self.correctable, live)

    def closing(self, number: int, seen: Bounds) -> None:
        """Note what was seen of an outcome; it says nothing as long as the decision is open."""
        self._closed[number] = seen

    def ask(self, z: Array, seen: Bounds, names: tuple[str, ...]) -> None:
        """Look at a decision (d) beside what was seen of its outcome; warn of what may be sales."""
        if self._sales is None:
            return
        self._sales = sales.after(self._sales, z, seen)
        found = sales.suspicions(self._sales)
        asked = tuple((one.component, int(self._sales.runs[one.component])) for one in found)
        new = [one for one, key in zip(found, asked, strict=True) if key not in self._asked]
        self._asked = asked
        for each in new:
            warnings.warn(each.words(names, _CURE), SalesWarning, stacklevel=3)

    def check_same(self, number: int, seen: Bounds) -> None:
        """Raise an error unless this is what was seen of the outcome of a closed decision."""
        if number not in self._closed:
            raise ValueError(
                f"Decision {number} was forgotten, or its outcome came too long ago to be compared."
            )
        if not np.array_equal(self._closed[number], seen):
            raise ValueError(
                f"Decision {number} already has another outcome. If that was wrong, correct it."
            )

    def corrected(
        self, fold: Fold[Any], before: Live, number: int, seen: Bounds
    ) -> tuple[Recent, Live, Stage]:
        """Return the events, the state and the stage once an outcome is replaced; or an error."""
        if not self._recent.holds(before, number):
            raise ValueError(
                f"The outcome of decision {number} cannot be corrected: it was forgotten, or it is "
                f"not of the latest {self.correctable} decisions that were closed since the last "
                "lesson. Agent(..., correctable=...) says how many."
            )
        return self._recent.corrected(fold, Corrected(number, seen))

    def take(self, recent: Recent, number: int, seen: Bounds) -> None:
        """Note a correction that was made."""
        self._recent = recent
        if number in self._closed:
            self._closed[number] = seen

    def to_arrays(self, fold: Fold[Any]) -> Arrays:
        """Return what is needed to correct outcomes, and to ask for sales, as arrays."""
        arrays = self._recent.to_arrays(fold)
        return arrays if self._sales is None else arrays | flatten(self._sales, "sales")

    def restore(
        self, fold: Fold[Any], live: Live, closed: Mapping[int, Bounds], arrays: Arrays
    ) -> None:
        """Take over what was kept beside the state `live`."""
        self._closed = dict(closed)
        self._recent = Recent.from_arrays(self.correctable, fold, live, arrays)
        if self._sales is not None:
            self._sales = rebuild(self._sales, arrays, "sales")
