"""A table, ready to be played."""

from typing import NamedTuple

import numpy as np

from bocopt.app.features.featuriser import Featuriser
from bocopt.app.features.memory import FeaturiserState
from bocopt.app.features.panel_rows import PanelFeaturiser
from bocopt.app.features.seasons import weekday
from bocopt.app.reading.times import Clock
from bocopt.core import Array, BoolArray, Bounds, IntArray


class Series(NamedTuple):
    """Stages in time order; whatever a decision sees is known when it is taken."""

    time: tuple[str, ...]  # (T) as it stands in the table, or its number
    x: Array  # (T, k) contexts; NaN where a number is missing and is to be kept so
    x_names: tuple[str, ...]  # (k)
    xi: Array  # (T, m) outcomes; NaN where one was not seen as it is, or never came
    xi_names: tuple[str, ...]  # (m)
    arrives: IntArray  # (T) the first stage whose decision may know the outcome; T where none does
    now: Array | None  # (T, d) decisions that were taken; NaN in a row where none was
    lines: IntArray  # (T) where the stage stands in the file: its line, or its row
    notes: tuple[str, ...]  # what was found in the table, and what was assumed: a sentence each
    warm_up: int = 0  # first stages, that no number counts
    featuriser: Featuriser | None = None  # makes x of further rows; None where x is from elsewhere
    state: FeaturiserState | None = None  # its state after all stages, for further rows
    seen: Bounds | None = None  # (T, m) bounds of the outcomes, NaN where none came; None: no need

    @property
    def came(self) -> BoolArray:
        """Return at which stages (T) the outcome came, in full or in part."""
        known = np.isfinite(self.xi).all(axis=-1)
        return np.asarray(known if self.seen is None else ~np.isnan(self.seen.low).any(axis=-1))

    @property
    def in_part(self) -> BoolArray:
        """Return at which stages (T) the outcome was not seen in full, though something came."""
        return np.asarray(self.came & ~np.isfinite(self.xi).all(axis=-1))

    def seen_at(self, stage: int) -> Array | Bounds:
        """Return the outcome (m) of a stage, or bounds of it."""
        xi: Array = self.xi[stage]
        if self.seen is None or np.isfinite(xi).all():
            return xi
        return Bounds(self.seen.low[stage], self.seen.high[stage])


class Panel(NamedTuple):
    """Several series of one table, each played by itself.

    A decision of a series sees the past of that series alone. So all series of one time are decided
    before any outcome of that time is known.
    """

    names: tuple[str, ...]  # (n) of the series, rising
    series: tuple[Series, ...]  # (n) each in its own time order
    notes: tuple[str, ...]  # what is said of the whole table; the others are those of the series
    time: tuple[str, ...]  # (M) all times of the table
    at: tuple[IntArray, ...]  # (n) of (T) the number of the time of each stage, among these
    columns: tuple[str, ...]  # that name the series
    keys: tuple[tuple[str, ...], ...]  # (n, columns) what stands in them
    clock: Clock | None  # (M) the times as their clock shows them; None for numbers
    warm_up: int  # first times of the table: no stage of theirs counts
    featuriser: PanelFeaturiser

    @property
    def weekdays(self) -> IntArray | None:
        """Return the weekdays (M) of the times, from 0 on Mondays; None where they are no days."""
        if self.clock is None or self.featuriser.kind == "month":
            return None
        return weekday(self.clock)

    @property
    def stages(self) -> int:
        """Return the number of decisions of all series."""
        return sum(len(one.x) for one in self.series)

    @property
    def x_names(self) -> tuple[str, ...]:
        """Return the names (k) of the contexts, which all series share."""
        return self.series[0].x_names

    @property
    def xi_names(self) -> tuple[str, ...]:
        """Return the names (m) of the outcomes."""
        return self.series[0].xi_names
