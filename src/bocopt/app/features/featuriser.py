"""Rows to contexts, one row at a time: what a live decision sees is what a table would show it."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from bocopt import arguments
from bocopt.app.faults import FaultsError
from bocopt.app.features.category import GAP, Category, one_hot
from bocopt.app.features.checked import LARGEST
from bocopt.app.features.learned import all_wrong, from_text, to_text
from bocopt.app.features.looking_back import LookingBack
from bocopt.app.features.memory import (
    FeaturiserState,
    filled,
    filled_all,
    is_learned,
    learn,
    no_memory,
)
from bocopt.app.features.row import Row, check_row, numbers_of, read_row
from bocopt.app.features.seasons import calendar
from bocopt.app.features.spec import Spec
from bocopt.app.features.stages import Stages, TableColumns
from bocopt.app.features.succession import wrong_gaps, wrong_times, zones_of, zones_with
from bocopt.app.reading.times import Clock, Kind, Time, time_of, words_of
from bocopt.core import Array, IntArray

_EARLIEST = np.iinfo(np.int64).min


@dataclass(frozen=True)
class Featuriser:
    """Featuriser of rows into contexts x (k): a `Spec`, and what the start of a table said.

    `series_of` makes one of a table: `Series.featuriser`. Rows that are sent to it one at a time
    give the same x as the table, bit for bit.

    - `kind` of the times: "date", "month", "moment" or "number", which also stands for none.
    - `zoned`: whether times have a time zone.
    - `origin`: the first time, from which 'trend' counts: in microseconds since 1970 as the clock
      shows it, or a number.
    - `categories`: the values of each column of categories in the warm-up.

    >>> prices = Featuriser(Spec("demand", context="price", lags=[1], rolling=[2]))
    >>> prices.x_names
    ('price', 'demand, lag 1', 'demand, mean of last 2')
    >>> state = prices.begin()
    >>> for price, demand in [(1.5, 31), (None, 22), (2.0, 19)]:
    ...     state, x = prices.decide(state, {"price": price})
    ...     state = prices.learn(state, int(state.t) - 1, [demand])
    ...     print(x.tolist())
    [1.5, 0.0, 0.0]
    [1.5, 31.0, 31.0]
    [2.0, 22.0, 26.5]
    """

    spec: Spec
    kind: Kind = "number"
    zoned: bool = False
    origin: float = 0
    categories: Sequence[Category] = ()

    def __post_init__(self) -> None:
        for error in all_wrong({field.name: getattr(self, field.name) for field in fields(self)}):
            raise error
        object.__setattr__(self, "categories", tuple(self.categories))

    @cached_property
    def x_names(self) -> tuple[str, ...]:
        """Return the names (k) of x, as in the `Series`."""
        clock = None
        if self.kind != "number":
            clock = np.array([np.datetime64(int(self.origin), "us")])
        first = np.array([self.origin])
        return (
            *self.spec.context,
            *(name for category in self.categories for name in category.names),
            *(name for name, _ in calendar(first, clock, self.spec, self.origin)),
            *self._back.names(self.spec.outcome),
        )

    @property
    def lag_places(self) -> tuple[int, ...]:
        """Return the places in x of lags and means of outcomes: numbers in units of these."""
        names = self.x_names
        many = len(self._back.names(self.spec.outcome))
        return tuple(range(len(names) - many, len(names)))

    @property
    def xi_names(self) -> tuple[str, ...]:
        """Return the names (m) of the outcomes."""
        return tuple(self.spec.outcome)

    @property
    def fields(self) -> dict[str, str]:
        """Return the fields of a row, and what each must be.

        >>> Featuriser(Spec("demand", context="price")).fields
        {'price': 'a number'}
        """
        found = {} if self.spec.time is None else {self.spec.time: self._words}
        found |= dict.fromkeys(self.spec.context, "a number")
        return found | dict.fromkeys(self.spec.categories, "a text or a number")

    @property
    def _words(self) -> str:
        return words_of(self.kind, self.zoned)

    def missing(self, row: Row) -> tuple[str, ...]:
        """Return the fields of a row that are gaps: not there, None, or empty.

        >>> Featuriser(Spec("demand", context=["price", "rain"])).missing({"price": 1.5})
        ('rain',)
        """
        check_row("Featuriser.missing", row)
        read, faults = read_row(row, self.spec, self.kind, self.categories)
        _refuse(faults)
        return read.gaps

    def outcome(self, row: Row) -> Array:
        """Return the outcome (m) of a row of named numbers; NaN for one that is missing.

        >>> Featuriser(Spec(["demand", "returns"])).outcome({"returns": 2, "demand": 31})
        array([31.,  2.])
        """
        check_row("Featuriser.outcome", row)
        xi, faults = numbers_of(row, self.xi_names)
        _refuse(faults)
        return xi

    def begin(self) -> FeaturiserState:
        """Return the state before the first row."""
        return FeaturiserState(
            t=np.array(0),
            time=self._as_times(0),
            zones=np.array([np.iinfo(np.int64).max, _EARLIEST]),
            numbers=np.full(len(self.spec.context), np.nan),
            codes=np.full(len(self.categories), GAP),
            shared=np.array(False),
            filled=np.array(False),
            memory=no_memory(len(self.spec.outcome), self._as_times([])),
        )

    def decide(self, state: FeaturiserState, row: Row) -> tuple[FeaturiserState, Array]:
        """Return the state after a row, and x (k) of its stage, which is number `state.t`.

        A row has the fields of `fields`; one that is not there, None or empty is a gap. An error
        tells all that is wrong with it.
        """
        arguments.kind("Featuriser.decide", "state", state, FeaturiserState)
        check_row("Featuriser.decide", row)
        spec, t = self.spec, int(state.t)
        read, faults = read_row(row, spec, self.kind, self.categories)
        if read.time is not None:
            faults += wrong_times(state, row, spec, read.time, self.zoned, self._words)
        again = t > 0 and read.time is not None and read.time.order == state.time
        shared, gaps = bool(state.shared or again), read.gaps
        faults += wrong_gaps(state, spec, gaps, shared)
        _refuse(faults)
        time = Time(t, None) if read.time is None else read.time
        numbers, codes = read.numbers, read.codes
        if spec.missing == "last":
            numbers = filled(state.numbers, numbers, np.isnan(numbers))
            codes = filled(state.codes, codes, codes == GAP)
        now, latest = (time.order, -1) if spec.arrives else (t, t - 1 - spec.delay)
        memory, back = self._back.take(state.memory, now, latest)
        after = FeaturiserState(
            t=np.array(t + 1),
            time=self._as_times(time.order),
            zones=zones_with(state.zones, time.offset),
            numbers=numbers,
            codes=codes,
            shared=np.array(shared),
            filled=np.array(bool(state.filled) or (spec.missing == "last" and bool(gaps))),
            memory=memory,
        )
        times = np.array([time.order])
        clock = None if time.clock is None else np.array([time.clock])
        return after, self._x(numbers[:, None], codes[:, None], times, clock, back[None])[0]

    def decide_all(self, stages: Stages, columns: TableColumns) -> tuple[FeaturiserState, Array]:
        """Return the state after all stages of a table, and x (T, k): the bits of one at a time.

        The table has been checked. It is begun with, and its outcomes are learned where they come.
        """
        spec, nothing = self.spec, self.begin()
        numbers, codes = columns.numbers, columns.codes
        gaps = np.isnan(numbers), codes == GAP
        fills = spec.missing == "last"
        if fills:
            numbers = filled_all(nothing.numbers, numbers, gaps[0])
            codes = filled_all(nothing.codes, codes, gaps[1])
        memory, back = self._back.take_all(nothing.memory, columns.outcomes)
        after = FeaturiserState(
            t=np.array(len(stages.times)),
            time=stages.times[-1].astype(nothing.time.dtype),
            zones=zones_of(nothing.zones, stages),
            numbers=numbers[:, -1].copy(),
            codes=codes[:, -1].copy(),
            shared=np.array(bool((np.diff(stages.moments) == 0).any())),
            filled=np.array(fills and bool(gaps[0].any() or gaps[1].any())),
            memory=memory,
        )
        return after, self._x(numbers, codes, stages.times, stages.clock, back)

    def learn(
        self, state: FeaturiserState, stage: int, xi: ArrayLike, came: object = None
    ) -> FeaturiserState:
        """Return the state with the outcome (m) of a stage, once for each, in any order.

        A NaN in it says that it never comes. Decisions know it as the `Spec` says: after its delay,
        or with `arrives` at times later than `came`; without that from the next decision on.
        """
        arguments.kind("Featuriser.learn", "state", state, FeaturiserState)
        stage = arguments.integer("Featuriser.learn", "stage", stage, "[0, inf)")
        if stage >= int(state.t):
            expected = f"one of the {int(state.t)} stages that have been decided"
            raise arguments.wrong("Featuriser.learn", "stage", expected, stage)
        found = self._outcome(xi)
        after = self._after(stage, came)
        if not (self.spec.lags or self.spec.rolling):
            return state
        if is_learned(state.memory, stage):
            raise arguments.wrong("Featuriser.learn", "stage", "learned once", stage)
        if np.isnan(found).any():
            if self.spec.arrives is None:
                return state
            found = np.full(len(found), np.nan)
        waits = [*state.memory.after.tolist(), after]
        return state._replace(memory=learn(state.memory, stage, found, self._as_times(waits)))

    def to_json(self) -> str:
        """Return the featuriser as a text, which `from_json` reads.

        >>> prices = Featuriser(Spec("demand", context="price"))
        >>> Featuriser.from_json(prices.to_json()) == prices
        True
        """
        return to_text(self.spec, self.kind, self.zoned, self.origin, self.categories)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the featuriser that `to_json` wrote; an error lists all that is wrong."""
        return cls(**from_text(text))

    @cached_property
    def _back(self) -> LookingBack:
        return LookingBack(self.spec.lags, self.spec.rolling)

    def _x(
        self,
        numbers: Array,
        codes: IntArray,
        times: Array | IntArray,
        clock: Clock | None,
        back: Array,
    ) -> Array:
        """Return x (T, k) of numbers (n, T), codes (c, T), times (T) and columns of outcomes."""
        keep = self.spec.missing == "keep"
        if not keep:
            numbers, back = (np.nan_to_num(part, nan=0.0) for part in (numbers, back))
        hot = [
            one_hot(code, len(category.values), keep=keep)
            for code, category in zip(codes, self.categories, strict=True)
        ]
        said = [values[:, None] for _, values in calendar(times, clock, self.spec, self.origin)]
        return np.concatenate([numbers.T, *hot, *said, back], axis=1)

    def _as_times(self, values: float | list[float]) -> Array | IntArray:
        if self.spec.time is not None and self.kind == "number":
            return np.array(values, np.float64)
        return np.array(values, np.int64)

    def _outcome(self, xi: ArrayLike) -> Array:
        owner, size = "Featuriser.learn", len(self.spec.outcome)
        found = arguments.array(owner, "xi", xi, (size,), gaps=True)
        if found.ndim != 1 or (np.abs(found) > LARGEST).any():
            expected = f"{size} numbers up to {LARGEST:g} in size"
            raise arguments.wrong(owner, "xi", expected, xi)
        return found

    def _after(self, stage: int, came: object) -> float:
        """Return the stage, or the time, that a decision must be later than to know the outcome."""
        if self.spec.arrives is None:
            if came is not None:
                expected = "None where the Spec has no 'arrives'"
                raise arguments.wrong("Featuriser.learn", "came", expected, came)
            return stage + self.spec.delay
        if came is None:
            return _EARLIEST
        kinds: list[Kind] = ["date", "moment"] if self.kind in ("date", "moment") else [self.kind]
        found = next(filter(None, (time_of(came, kind) for kind in kinds)), None)
        if found is None or (found.offset is not None) != self.zoned:
            expected = f"None, or {self._words}"
            raise arguments.wrong("Featuriser.learn", "came", expected, came)
        return found.order


def _refuse(faults: Sequence[str]) -> None:
    if faults:
        raise FaultsError(*faults)
