"""Streams from tables in files."""

import csv
from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any

import numpy as np

from bocopt import arguments
from bocopt.core import Array
from bocopt.streams.replay import Replay


def from_csv(
    path: str | PathLike[str], *, context: Sequence[str], outcome: Sequence[str]
) -> Replay:
    """Replay a CSV file, one stage per row: the named columns are x and xi, in this order.

    The first row names the columns; others than those named are not read. The stages have their
    names.
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
