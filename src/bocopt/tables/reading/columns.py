"""A table by columns, which knows where everything stands in its file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Literal

import numpy as np

from bocopt.core import Array, BoolArray, IntArray
from bocopt.tables.reading.cells import hint_for, number_of, text_of

Column = Array | list[str]  # numbers with NaN for gaps, or texts with "" for gaps

_MOST_NAMES = 20  # of columns, in an error


class TableError(ValueError):
    """Something in a table that cannot be used: the message says where it stands."""


@dataclass(frozen=True)
class Frame:
    """Named columns: numbers or texts. Times are texts, or numbers.

    >>> frame = Frame("sales.csv", "line", np.array([2, 3]), {"demand": ["5", "abc"]})
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

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.places)

    def column(self, name: str) -> Column:
        """One that must be there."""
        if name in self.unusable:
            found = self.unusable[name]
            raise TableError(
                f"{self.path}, column '{name}': numbers, texts or times expected, {found} found."
            )
        if name not in self.columns:
            raise TableError(f"{self.path} has no column '{name}'.{self._others(name)}")
        return self.columns[name]

    def numbers(self, name: str) -> Array:
        """One of numbers, NaN where one is missing; true and false are 1 and 0."""
        cells = self.column(name)
        if isinstance(cells, np.ndarray):
            return cells
        found = [number_of(cell) for cell in cells]
        if None in found:
            row = found.index(None)
            raise self.error(row, name, "a number", cells[row], hint_for(cells[row]))
        return np.array(found, np.float64)

    def texts(self, name: str) -> list[str]:
        """One of texts, empty where one is missing; numbers are written out."""
        cells = self.column(name)
        return [text_of(cell) for cell in cells] if isinstance(cells, np.ndarray) else cells

    def error(self, row: int, name: str, expected: str, found: str, hint: str = "") -> TableError:
        """What is wrong with a cell; the caller raises it."""
        what = repr(found) if found else "nothing"
        where = f"{self.path}, {self.place} {self.places[row]}, column '{name}'"
        return TableError(f"{where}: {expected} expected, {what} found.{hint}")

    def error_of_two(self, rows: Sequence[int], name: str, what: str) -> TableError:
        """What is wrong with two cells together."""
        one, other = sorted(int(self.places[row]) for row in rows)
        where = f"{self.path}, {self.place}s {one} and {other}, column '{name}'"
        return TableError(f"{where}: {what}")

    def refuse(self, name: str, bad: BoolArray, expected: str) -> None:
        """Raise the error of the first cell that is bad, if any is."""
        if bad.any():
            row = int(bad.argmax())
            cell = self.columns[name][row]
            found = cell if isinstance(cell, str) else text_of(cell)
            raise self.error(row, name, expected, found)

    def _others(self, name: str) -> str:
        names = [*self.columns, *self.unusable]
        listed = ", ".join(f"'{n}'" for n in names[:_MOST_NAMES])
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        near = get_close_matches(name, names, 1)
        meant = f" Is '{near[0]}' meant?" if near else ""
        return f" It has: {listed}{more}.{meant}"
