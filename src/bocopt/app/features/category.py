"""The values of a column of categories, as ones and zeros."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bocopt.app.reading.cells import number_from, text_of
from bocopt.app.reading.columns import Table, TableError
from bocopt.core import Array, IntArray

MOST_CATEGORIES = 500  # of one column
OTHER, GAP = -1, -2  # codes of a value that the warm-up did not have, and of a missing one


class Category(NamedTuple):
    """A column and the values that the warm-up of its table had.

    >>> weather = Category("weather", ("rain", "sun"))
    >>> weather.names, weather.code("sun"), weather.code("snow") == OTHER
    (('weather = rain', 'weather = sun'), 1, True)
    """

    name: str
    values: tuple[str, ...]  # rising
    numbers: bool = False  # whether the column holds numbers, of which these are the texts

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names (n) of the columns of x, one for each value."""
        return tuple(f"{self.name} = {value}" for value in self.values)

    def code(self, text: str) -> int:
        """Return the place of a value, OTHER or GAP."""
        if not text:
            return GAP
        place = bisect_left(self.values, text)
        return place if self.values[place : place + 1] == (text,) else OTHER

    def text(self, value: object) -> str | None:
        """Return a value of a program as it would stand in the table; None for what never does.

        >>> Category("shop", ("1", "2"), numbers=True).text("1.0"), Category("shop", ()).text("1.0")
        ('1', '1.0')
        """
        if isinstance(value, str) and not self.numbers:
            return value.strip()
        if isinstance(value, bool | np.bool_) and not self.numbers:
            return None  # files write it in several ways
        number = number_from(value)
        if number is None:  # a text among numbers
            return value.strip() if isinstance(value, str) else None
        return text_of(number)

    def codes(self, texts: Sequence[str]) -> IntArray:
        """Return the codes (T) of the texts of a column, each as if it stood in a row by itself."""
        code_of = {text: self.code(self.text(text) or "") for text in {*texts}}
        return np.array([code_of[text] for text in texts], np.int64)


def category_of(frame: Table, name: str, texts: Sequence[str], where: str) -> Category:
    """Return the category of a column by the texts of its warm-up; errors call it `where`."""
    values = sorted({*texts} - {""})
    if len(values) > MOST_CATEGORIES:
        raise TableError(
            f"{frame.path}, column '{name}': at most {MOST_CATEGORIES} categories expected, "
            f"{len(values)} found in {where}."
        )
    return Category(
        name, tuple(values), bool(values) and isinstance(frame.column(name), np.ndarray)
    )


def one_hot(codes: Sequence[int] | IntArray, count: int, *, keep: bool) -> Array:
    """Return ones (n, count) at the codes (n); a gap is kept as NaN, or has zeros like OTHER.

    >>> one_hot([1, GAP], 2, keep=True)
    array([[ 0.,  1.],
           [nan, nan]])
    """
    found = np.asarray(codes)
    hot: Array = (found[:, None] == np.arange(count)).astype(np.float64)
    if keep:
        hot[found == GAP] = np.nan
    return hot
