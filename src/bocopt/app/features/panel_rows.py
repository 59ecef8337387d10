"""Rows of several series to contexts, one row at a time: each series has a state of its own."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from bocopt import arguments
from bocopt.app.faults import FaultsError
from bocopt.app.features.category import Category
from bocopt.app.features.featuriser import Featuriser
from bocopt.app.features.memory import FeaturiserState
from bocopt.app.features.row import Row, check_row, is_nothing, read_row, wrong_field
from bocopt.app.features.spec import Spec
from bocopt.app.reading.cells import number_from, text_of
from bocopt.app.reading.times import Kind, time_of
from bocopt.core import Array

_VERSION = 1  # of what is written
BETWEEN = " / "  # the parts of a name that is made of several columns


class SeriesState(NamedTuple):
    """The featuriser of one series, and its state after some rows."""

    featuriser: Featuriser  # which knows its first time
    state: FeaturiserState


PanelState = Mapping[str, SeriesState]  # by the name of the series


@dataclass(frozen=True)
class PanelFeaturiser:
    """Contexts x from rows of several series: `panel_of` makes one, `Panel.featuriser`.

    Each row goes to the state of its series, whatever rows of others come between. A series that is
    new begins with its first row.

    - `spec`, with the `series` that name them; `kind`, `zoned`, `categories` as in a `Featuriser`.
    - `numbers`: whether each of the columns of `series` holds numbers.

    >>> shops = PanelFeaturiser(Spec("demand", time="day", series="shop", lags=[1]), "date")
    >>> state = shops.begin()
    >>> for shop, demand in [("north", 31), ("south", 5)]:
    ...     state, name, x = shops.decide(state, {"shop": shop, "day": "2024-03-01"})
    ...     state = shops.learn(state, name, 0, [demand])
    >>> _, name, x = shops.decide(state, {"shop": "south", "day": "2024-03-02"})
    >>> name, x.tolist()
    ('south', [5.0])
    """

    spec: Spec
    kind: Kind = "number"
    zoned: bool = False
    categories: Sequence[Category] = ()
    numbers: Sequence[bool] = ()

    def __post_init__(self) -> None:
        arguments.kind("PanelFeaturiser", "spec", self.spec, Spec)
        columns, numbers = self.spec.series, tuple(self.numbers) or (False,) * len(self.spec.series)
        if not columns:
            raise arguments.wrong("PanelFeaturiser", "spec", "a Spec with 'series'", self.spec)
        if len(numbers) != len(columns) or not all(isinstance(one, bool) for one in numbers):
            expected = f"True or False for each of {list(columns)}"
            raise arguments.wrong("PanelFeaturiser", "numbers", expected, self.numbers)
        object.__setattr__(self, "numbers", numbers)
        object.__setattr__(self, "categories", tuple(self.categories))
        self.alone(0)  # which refuses what else is wrong

    def alone(self, origin: float) -> Featuriser:
        """Return the featuriser of one series, whose first time is the origin."""
        spec = replace(self.spec, series=())
        return Featuriser(spec, self.kind, self.zoned, origin, self.categories)

    def begin(self) -> PanelState:
        """Return the state before the first row, in which no series is known."""
        return {}

    def name(self, row: Row) -> str:
        """Return the name of the series of a row."""
        check_row("PanelFeaturiser.name", row)
        name, faults = self._named(row)
        if faults:
            raise FaultsError(*faults)
        return name

    def decide(self, state: PanelState, row: Row) -> tuple[PanelState, str, Array]:
        """Return the state after a row, the name of its series, and x (k) of its stage.

        A row has the columns of `series` and the fields of a `Featuriser`. An error tells all that
        is wrong with it.
        """
        check_row("PanelFeaturiser.decide", row)
        name, faults = self._named(row)
        rest = self.rest(row)
        if faults:
            faults += read_row(rest, self.spec, self.kind, self.categories)[1]
            raise FaultsError(*faults)
        known = state.get(name)
        if known is None:
            alone = self.first(rest)
            known = SeriesState(alone, alone.begin())
        after, x = known.featuriser.decide(known.state, rest)
        return {**state, name: known._replace(state=after)}, name, x

    def learn(
        self, state: PanelState, name: str, stage: int, xi: ArrayLike, came: object = None
    ) -> PanelState:
        """Return the state with the outcome (m) of a stage, as `Featuriser.learn` takes it."""
        if name not in state:
            expected = "a series of which a row was decided"
            raise arguments.wrong("PanelFeaturiser.learn", "name", expected, name)
        known = state[name]
        learned = known.featuriser.learn(known.state, stage, xi, came)
        return {**state, name: known._replace(state=learned)}

    def to_json(self) -> str:
        """Return the featuriser as a text, which `from_json` reads."""
        one = self.alone(0).to_json()
        found = {"version": _VERSION, "series": self.spec.series, "numbers": self.numbers}
        return json.dumps({**found, "each": one})

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` wrote; an error tells what is wrong with it."""
        try:
            found: dict[str, Any] = json.loads(text)
            one, series = Featuriser.from_json(found["each"]), found["series"]
            if found["version"] != _VERSION:
                raise KeyError("version")
        except (KeyError, TypeError, json.JSONDecodeError) as error:
            raise FaultsError(f"This is not the featuriser of a panel: {error!r}.") from error
        spec = replace(one.spec, series=series)
        return cls(spec, one.kind, one.zoned, one.categories, tuple(found["numbers"]))

    def first(self, row: Row) -> Featuriser:
        """Return the featuriser of a series whose first row this is."""
        time = time_of(row.get(str(self.spec.time)), self.kind)
        origin: float = 0
        if time is not None:
            clock = time.clock
            origin = time.order if clock is None else int(clock.astype("M8[us]").astype(np.int64))
        return self.alone(origin)

    def rest(self, row: Row) -> dict[str, object]:
        """Return a row without what names its series, as the featuriser of one series takes it."""
        named = {*self.spec.series} - {*self.spec.categories}
        return {key: value for key, value in row.items() if key not in named}

    def _named(self, row: Row) -> tuple[str, list[str]]:
        parts, faults = list[str](), list[str]()
        for column, numbers in zip(self.spec.series, self.numbers, strict=True):
            part = _part(row.get(column), numbers)
            if part is None:
                expected = "a number" if numbers else "a text or a whole number"
                faults.append(wrong_field(row, column, expected))
            else:
                parts.append(part)
        return BETWEEN.join(parts), faults


def _part(value: object, numbers: bool) -> str | None:
    """Return a value as it stands in the table; None for what never does."""
    if is_nothing(value) or isinstance(value, bool | np.bool_):
        return None
    if isinstance(value, str) and not numbers:
        return value.strip()
    number = number_from(value)
    if number is not None and np.isfinite(number):
        return text_of(number)
    return value.strip() if isinstance(value, str) else None
