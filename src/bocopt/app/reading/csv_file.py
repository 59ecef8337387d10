"""CSV files, read some rows at a time: no more is kept than the numbers and texts themselves."""

import csv
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bocopt.app.faults import Fault
from bocopt.app.reading.columns import Column, Table, TableError
from bocopt.app.reading.notation import Notation
from bocopt.app.reading.times import looks_like_a_time
from bocopt.core import Array

_DELIMITERS = (",", ";", "\t")
_ROWS = 256  # that are texts at a time: few enough to stay in the cache of the processor
_MOST_SHARED = 10_000  # different texts of a column of which only one copy is kept


class CsvLayout(NamedTuple):
    """Layout of a CSV file."""

    path: Path
    delimiter: str
    names: list[str]  # of all columns; "" for one that has none
    rows: int  # at most
    notation: Notation


def read_csv(path: Path, notation: Notation) -> Table:
    """Return the table of a file in UTF-8, whose first line names the columns."""
    try:
        return _read(path, notation)
    except UnicodeDecodeError as error:
        raise _not_utf8(path) from error


def _read(path: Path, notation: Notation) -> Table:
    layout = _layout(path, notation)
    wanted = [place for place, name in enumerate(layout.names) if name]
    faults: list[Fault] = []
    lines, columns = _columns(layout, wanted, faults, numbers=True)
    if not lines and not faults:
        raise TableError(f"{path} has no rows below the names of its columns.")
    late = [place for place in wanted if columns[place] is None]
    if late:
        columns |= _columns(layout, late, [], numbers=False)[1]
    found = {layout.names[place]: column for place, column in columns.items()}
    whole = {name: column for name, column in found.items() if column is not None}
    broken = TableError(*faults) if faults else None
    places = np.array(lines, np.int64)
    return Table(str(path), "line", places, whole, broken=broken, notation=notation)


def _layout(path: Path, notation: Notation) -> CsvLayout:
    found = {delimiter: _first_records(path, delimiter) for delimiter in _DELIMITERS}
    delimiter = max(_DELIMITERS, key=lambda delimiter: _fits(found[delimiter]))
    header = next(_records(path, delimiter), None)
    if header is None:
        raise TableError(f"{path} is empty.")
    line, cells = header
    names = [cell.strip() for cell in cells]
    _check_names(f"{path}, line {line}", names)
    return CsvLayout(path, delimiter, names, _line_breaks(path), notation)


def _line_breaks(path: Path) -> int:
    """Return a number that is at least that of the rows below the names."""
    with path.open("rb") as file:
        parts = iter(lambda: file.read(1 << 20), b"")
        return sum(part.count(b"\n") + part.count(b"\r") for part in parts)


def _first_records(path: Path, delimiter: str) -> list[list[str]]:
    try:
        return [cells for _, cells in islice(_records(path, delimiter), 2)]
    except TableError:  # quotes that only make sense with another one
        return []


def _fits(records: list[list[str]]) -> tuple[bool, bool, int]:
    """Return a key: the larger, the more it looks like the right delimiter."""
    widths = [len(cells) for cells in records]
    return max(widths, default=0) > 1, len(set(widths)) == 1, max(widths, default=0)


def _check_names(where: str, names: list[str]) -> None:
    given = list(filter(None, names))
    if all(map(looks_like_a_time, given)):
        found = repr(given[0]) if given else "nothing"
        raise TableError(f"{where}: the names of the columns expected, {found} found.")
    for other, name in enumerate(names):
        if name and name in names[:other]:
            one = names.index(name)
            twice = f"columns {one + 1} and {other + 1} are both named '{name}'"
            raise TableError(f"{where}: {twice}.")
    if len(names) == 1 and "|" in names[0]:
        raise TableError(f"{where}: columns separated by , ; or tab expected, '|' found.")


def _records(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of each row, and the line where it begins."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, delimiter=delimiter, strict=True, skipinitialspace=True)
        line = 1
        try:
            for cells in reader:
                if cells:
                    yield line, cells
                line = reader.line_num + 1
        except csv.Error as error:
            raise TableError(Fault(line, f"{path}, line {line}: {_in_words(error)}.")) from error


def _in_words(error: csv.Error) -> str:
    if str(error) == "unexpected end of data":
        return "a quote is opened and never closed"
    return f"no CSV ({error})"


def _columns(
    layout: CsvLayout, wanted: Sequence[int], faults: list[Fault], *, numbers: bool
) -> tuple[list[int], dict[int, Column | None]]:
    """Return the lines of all rows, and columns; None for one that turned out to be texts too late.

    Lines that are no rows are left out, and told in `faults`.
    """
    growing = {place: _Growing(layout, numbers) for place in wanted}
    lines: list[int] = []
    for part_lines, rows in _parts(layout, faults):
        lines += part_lines
        by_column = list(zip(*rows, strict=True))
        for place, column in growing.items():
            column.add(by_column[place])
    return lines, {place: column.whole() for place, column in growing.items()}


def _parts(layout: CsvLayout, faults: list[Fault]) -> Iterator[tuple[list[int], list[list[str]]]]:
    """Yield some rows below the names at a time, each as wide as it should be."""
    records = islice(_records(layout.path, layout.delimiter), 1, None)
    while part := _some(records, faults):
        lines, rows = list[int](), list[list[str]]()
        for line, cells in part:
            if len(cells) == len(layout.names):
                lines.append(line)
                rows.append(cells)
            else:
                faults.append(_ragged(layout, line, len(cells)))
        if rows:
            yield lines, rows


def _some(
    records: Iterator[tuple[int, list[str]]], faults: list[Fault]
) -> list[tuple[int, list[str]]]:
    """Return the next records; none after a line that cannot be told from the next."""
    part = list[tuple[int, list[str]]]()
    try:
        part.extend(islice(records, _ROWS))  # those before the error stay
    except TableError as error:
        faults += error.faults
    return part


def _ragged(layout: CsvLayout, line: int, found: int) -> Fault:
    sign = "tab" if layout.delimiter == "\t" else layout.delimiter
    hint = f" A cell with a {sign} in it must stand in quotes." if found > len(layout.names) else ""
    expected = f"{len(layout.names)} cells expected, {found} found"
    return Fault(line, f"{layout.path}, line {line}: {expected}.", hint)


class _Growing:
    """A column of numbers, until something else is found in it: then it is one of texts."""

    def __init__(self, layout: CsvLayout, numbers: bool) -> None:
        rows, self.notation = layout.rows, layout.notation
        self.numbers: Array | None = np.empty(rows) if numbers else None  # no page until written
        self.count = 0
        self.late = False  # the texts of its numbers are gone
        self.texts: list[str] = []
        self.shared: dict[str, str] = {}

    def add(self, cells: Sequence[str]) -> None:
        """Append cells: as numbers while all are, else as texts, unless it is late."""
        found = None if self.numbers is None else self.notation.numbers(cells)
        if self.numbers is not None and found is not None:
            self.numbers[self.count : self.count + len(cells)] = found
            self.count += len(cells)
            return
        self.numbers, self.late = None, self.count > 0
        if not self.late:
            self._add_texts(self.notation.texts(cells))

    def _add_texts(self, cells: list[str]) -> None:
        few = len(self.shared) < _MOST_SHARED
        self.texts.extend(map(self.shared.setdefault, cells, cells) if few else cells)

    def whole(self) -> Column | None:
        """Return the whole column; None where it is late."""
        if self.numbers is not None:
            return self.numbers[: self.count]
        return None if self.late else self.texts


def _not_utf8(path: Path) -> TableError:
    with path.open("rb") as file:
        for line, text in enumerate(file, 1):
            try:
                text.decode()
            except UnicodeDecodeError as error:
                return TableError(
                    f"{path}, line {line}: UTF-8 expected, the byte {text[error.start]:#04x} "
                    "found. Save the file in UTF-8."
                )
    return TableError(f"{path} is not in UTF-8.")
