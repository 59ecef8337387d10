"""Replay of what was recorded, in arrays or in a CSV file."""

import csv
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np

from bocopt import arguments
from bocopt.columns import Columns, columns_of
from bocopt.core import Array, IntArray


@dataclass(frozen=True, eq=False)
class Replay:
    """Recorded contexts (T, k) and outcomes (T, m), once for all trials or one series per trial.

    Each is an array, a data frame of T rows, a dictionary of columns, or a series of T numbers. The
    names of columns go into the stages and the trace. With `gaps`, contexts may have NaN in them,
    for policies that take it.

    >>> replay = Replay(x=[[0.0], [1.0]], xi={"demand": [5.0, 6.0]})
    >>> [float(xi[0]) for x, xi in replay.stages(np.array(0))]
    [5.0, 6.0]
    >>> replay
    <Replay: 2 stages, x (1), xi (1): demand>
    """

    x: Any  # (T, k)
    xi: Any  # (T, m)
    gaps: bool = False

    def __post_init__(self) -> None:
        stages = [series.shape[-2] for series in self._arrays]  # copied and checked here, once
        if stages[0] != stages[1]:
            raise arguments.wrong("Replay", "xi", f"{stages[0]} stages long, as x is", stages[1])

    def __repr__(self) -> str:
        """Return the number of stages and trials, and the sizes and names of x and xi."""
        names = self.x_names, self.xi_names
        shown = ", ".join(
            f"{name} ({series.shape[-1]}){': ' * bool(own)}{', '.join(own)}"
            for name, series, own in zip(("x", "xi"), self._arrays, names, strict=True)
        )
        shape = self._arrays[0].shape if self._arrays[0].ndim > 2 else self._arrays[1].shape
        trials = f" x {math.prod(shape[:-2])} trials" * (len(shape) > 2)
        return f"<Replay: {shape[-2]} stages{trials}, {shown}>"

    @property
    def x_names(self) -> tuple[str, ...]:
        """Return the names (k) of the numbers of a context; none where they have none."""
        return self._columns[0].names

    @property
    def xi_names(self) -> tuple[str, ...]:
        """Return the names (m) of the numbers of an outcome; none where they have none."""
        return self._columns[1].names

    def stages(self, seeds: IntArray) -> Iterator[tuple[Array, Array]]:
        """Yield (x, xi) of each recorded stage, with the leading axes of the seeds."""
        seeds = arguments.seeds_of("Replay.stages", seeds)
        for name, series in zip(("x", "xi"), self._arrays, strict=True):
            if series.ndim > 2 and series.shape[:-2] != seeds.shape:
                expected = f"one series, or one for each of the {seeds.shape} seeds"
                raise arguments.wrong("Replay", name, expected, series.shape)
        x, xi = (
            np.broadcast_to(series, (*seeds.shape, *series.shape[-2:])) for series in self._arrays
        )
        for t in range(x.shape[-2]):
            yield x[..., t, :], xi[..., t, :]

    @cached_property
    def _columns(self) -> tuple[Columns, Columns]:
        return (
            columns_of("Replay", "x", self.x, wanted="rows"),
            columns_of("Replay", "xi", self.xi, wanted="rows"),
        )

    @cached_property
    def _arrays(self) -> tuple[Array, Array]:
        x, xi = (columns.values for columns in self._columns)
        return (
            arguments.array("Replay", "x", x, (None, ...), gaps=self.gaps).copy(),
            arguments.array("Replay", "xi", xi, (None, None)).copy(),
        )


def from_csv(
    path: str | PathLike[str], *, context: Sequence[str], outcome: Sequence[str]
) -> Replay:
    """Replay a CSV file, one stage per row: the named columns are x and xi, in this order.

    The first row names the columns; others than those named are not read.
    """
    if not isinstance(path, str | PathLike):  # a number would be taken for an open file
        raise arguments.wrong("from_csv", "path", "a path", path)
    context = _columns("context", context)
    outcome = _columns("outcome", outcome)
    if not outcome:
        raise arguments.wrong("from_csv", "outcome", "one or more column names", outcome)
    with open(path, newline="", encoding="utf-8-sig") as file:
        try:
            table = _table(path, csv.reader(file), [*context, *outcome])
        except (UnicodeDecodeError, csv.Error) as error:
            raise ValueError(f"{path} is not a CSV file in UTF-8: {error}.") from error
    x, xi = table[:, : len(context)], table[:, len(context) :]
    named = dict(zip(context, x.T, strict=True))
    return Replay(named or x, dict(zip(outcome, xi.T, strict=True)))


def _columns(name: str, columns: Sequence[str]) -> list[str]:
    listed = list(columns) if isinstance(columns, Iterable) else [columns]
    words = not isinstance(columns, str) and all(isinstance(column, str) for column in listed)
    if not words or len(set(listed)) != len(listed):
        raise arguments.wrong("from_csv", name, "a list of different column names", columns)
    return listed


def _table(path: str | PathLike[str], reader: Any, wanted: list[str]) -> Array:
    header = next(reader, None)
    if not header:
        raise ValueError(f"{path} must name its columns in the first line.")
    for column in wanted:
        if header.count(column) != 1:
            raise ValueError(
                f"{path} has {header.count(column) or 'no'} columns '{column}'. "
                f"It has: {', '.join(header)}."
            )
    places = [header.index(column) for column in wanted]
    rows = [
        [_cell(path, reader.line_num, header, line, place) for place in places]
        for line in reader
        if line
    ]
    if not rows:
        raise ValueError(f"{path} has no stages: there is nothing below its first line.")
    return np.array(rows)


def _cell(
    path: str | PathLike[str], line: int, header: list[str], cells: list[str], place: int
) -> float:
    if len(cells) != len(header):
        raise ValueError(f"{path}, line {line}: {len(header)} cells expected, {len(cells)} found.")
    try:
        number = np.nan if "_" in cells[place] else float(cells[place])
    except ValueError:
        number = np.nan
    if not np.isfinite(number):
        raise ValueError(
            f"{path}, line {line}, column '{header[place]}': a finite number expected, "
            f"{cells[place]!r} found."
        )
    return number
