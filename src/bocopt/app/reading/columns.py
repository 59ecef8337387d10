"""A table by columns, which knows where everything stands in its file."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Literal

import numpy as np

from bocopt.app.faults import MOST_FAULTS, Fault, FaultsError
from bocopt.app.reading.cells import is_gap, text_of
from bocopt.app.reading.cures import for_numbers
from bocopt.app.reading.notation import Notation
from bocopt.core import Array, BoolArray, IntArray

Column = Array | list[str]  # numbers with NaN for gaps, or texts with "" for gaps

_MOST_NAMES = 20  # of columns, in an error


class TableError(FaultsError):
    """Something in a table that cannot be used: the message says where it stands."""


def at_rows(rows: IntArray, fault: Callable[[int], Fault]) -> TableError:
    """Return the error of some rows, of which the first are shown; the caller raises it."""
    shown = rows[:MOST_FAULTS].tolist()
    return TableError(*map(fault, shown), more=len(rows) - len(shown))


def all_of(makes: Iterable[Callable[[], Any]]) -> list[Any]:
    """Return what each call returns; where some raise, raise one error with all that is wrong."""
    made, wrong = [], list[TableError]()
    for make in makes:
        try:
            made.append(make())
        except TableError as error:
            wrong.append(error)
    if wrong:
        faults = (fault for error in wrong for fault in error.faults)
        raise TableError(*faults, more=sum(error.more for error in wrong))
    return made


@dataclass(frozen=True)
class Table:
    """Named columns: numbers or texts. Times are texts, or numbers.

    >>> frame = Table("sales.csv", "line", np.array([2, 3]), {"demand": ["5", "abc"]})
    >>> try:
    ...     frame.numbers("demand")
    ... except TableError as error:
    ...     print(error)
    sales.csv, line 3, column 'demand': a number expected, 'abc' found.
    """

    path: str
    place: Literal["line", "row"]
    places: IntArray  # of each row in its file
    columns: Mapping[str, Column]
    unusable: Mapping[str, str] = field(default_factory=dict)  # what other columns hold
    broken: TableError | None = None  # lines that are no rows: no column is given out without them
    notes: tuple[str, ...] = ()  # on how it was made
    notation: Notation = field(
        default_factory=Notation
    )  # of the texts in which numbers are looked for

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.places)

    def column(self, name: str) -> Column:
        """Return a column, which must be there."""
        self.refuse_broken()
        if name in self.unusable:
            found = self.unusable[name]
            raise TableError(
                f"{self.path}, column '{name}': numbers, texts or times expected, {found} found."
            )
        if name not in self.columns:
            raise TableError(f"{self.path} has no column '{name}'.{self._others(name)}")
        return self.columns[name]

    def refuse_broken(self) -> None:
        """Raise the error of lines that are no rows, if there are any."""
        if self.broken is not None:
            raise self.broken

    def numbers(self, name: str) -> Array:
        """Return a column of numbers, NaN where one is missing; true and false are 1 and 0."""
        values, others = self.values(name)
        self.refuse_texts(name, others)
        return values

    def refuse_texts(self, name: str, others: BoolArray) -> None:
        """Raise the error of all cells that are no numbers, if any is, with what may cure it."""
        if others.any():
            self.refuse(name, others, "a number", for_numbers(self.texts(name), self.notation))

    def values(self, name: str) -> tuple[Array, BoolArray]:
        """Return the numbers (rows) of a column, NaN for other cells, and a mask of these."""
        cells = self.column(name)
        if isinstance(cells, np.ndarray):
            return cells, np.zeros(len(cells), bool)
        found = [self.notation.number(cell) for cell in cells]
        return np.array(found, np.float64), np.array([value is None for value in found])

    def texts(self, name: str) -> list[str]:
        """Return a column of texts, empty where one is missing; numbers are written out."""
        cells = self.column(name)
        return [text_of(cell) for cell in cells] if isinstance(cells, np.ndarray) else cells

    def gaps(self, name: str, *, of_texts: bool) -> BoolArray:
        """Return a mask (rows) of missing cells; of texts only an empty one is a gap."""
        cells = self.column(name)
        if isinstance(cells, np.ndarray):
            return np.isnan(cells)
        return np.array([not cell if of_texts else is_gap(cell) for cell in cells])

    def fault(self, row: int, name: str, expected: str, hint: str = "") -> Fault:
        """Return the fault of a cell: where it is, what was expected, what was found."""
        cell = self.columns[name][row]
        found = cell if isinstance(cell, str) else self.notation.text_of(cell)
        place = int(self.places[row])
        where = f"{self.path}, {self.place} {place}, column '{name}'"
        return Fault(
            place,
            f"{where}: {expected} expected, {repr(found) if found else 'nothing'} found.",
            hint,
        )

    def fault_of_two(self, rows: Sequence[int], what: str, hint: str = "") -> Fault:
        """Return the fault of two rows together."""
        one, other = sorted(int(self.places[row]) for row in rows)
        return Fault(one, f"{self.path}, {self.place}s {one} and {other}{what}", hint)

    def refuse(
        self, name: str, bad: BoolArray, expected: str, hint: str | Callable[[str], str] = ""
    ) -> None:
        """Raise the error of all cells that are bad, if any is."""

        def fault(row: int) -> Fault:
            """Return the fault of a bad cell, with its hint."""
            hint_given = hint if isinstance(hint, str) else hint(self.texts(name)[row])
            return self.fault(row, name, expected, hint_given)

        if bad.any():
            raise at_rows(np.flatnonzero(bad), fault)

    def _others(self, name: str) -> str:
        names = [*self.columns, *self.unusable]
        listed = ", ".join(f"'{n}'" for n in names[:_MOST_NAMES])
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        near = get_close_matches(name, names, 1)
        meant = f" Is '{near[0]}' meant?" if near else ""
        return f" It has: {listed}{more}.{meant}"
