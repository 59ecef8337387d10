"""Excel files: one sheet as a table, whose first row that is not empty names the columns."""

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from bocopt.app.reading.columns import Column, Table, TableError
from bocopt.app.reading.notation import Notation
from bocopt.app.reading.times import looks_like_a_time
from bocopt.app.reading.values import of_values
from bocopt.extras import needed


def read_excel(path: Path, sheet: str | None, notation: Notation) -> Table:
    """Return the table of a sheet; None stands for the only one that is not empty."""
    calamine = needed("python_calamine", f"{path}, an Excel file,", '"bocopt[excel]"')
    try:
        with calamine.CalamineWorkbook.from_path(str(path)) as book:
            name, rows = _rows(book, path, sheet)
    except calamine.CalamineError as error:
        said = str(error).splitlines()[0]
        raise TableError(f"{path} is no Excel file that can be read: {said}.") from error
    return _table(f"{path}, sheet '{name}'", rows, notation)


def _rows(book: Any, path: Path, sheet: str | None) -> tuple[str, list[list[Any]]]:
    """Return the name of a sheet, and its cells from its first row and column on."""
    names = book.sheet_names
    listed = ", ".join(f"'{name}'" for name in names)
    if sheet is not None and sheet not in names:
        raise TableError(f"{path} has no sheet '{sheet}'. It has: {listed}.")
    cells = {
        name: book.get_sheet_by_name(name).to_python(skip_empty_area=False)
        for name in (names if sheet is None else [sheet])
    }
    found = {name: rows for name, rows in cells.items() if _filled(rows)}
    if not found:
        raise TableError(f"{path} is empty." if sheet is None else f"{path}: '{sheet}' is empty.")
    first = next(iter(found))
    if len(found) > 1:
        raise TableError(f'{path} has the sheets {listed}: say which, by sheet = "{first}".')
    return first, found[first]


def _table(where: str, rows: list[list[Any]], notation: Notation) -> Table:
    header, *body = _filled(rows)
    names = [str(cell).strip() for cell in rows[header]]
    _check_names(f"{where}, row {header + 1}", names)
    if not body:
        raise TableError(f"{where} has no rows below the names of its columns.")
    columns: dict[str, Column] = {}
    unusable: dict[str, str] = {}
    for place, name in enumerate(names):
        cells = [_value(rows[number][place]) for number in body]
        if not name:
            _refuse_nameless(where, place, header, [row[place] for row in rows])
            continue
        found = of_values(_as_moments(cells), notation)
        if found is None:
            unusable[name] = "times of day or durations"
        else:
            columns[name] = found
    places = np.array(body, np.int64) + 1
    return Table(where, "row", places, columns, unusable, notation=notation)


def _check_names(where: str, names: Sequence[str]) -> None:
    given = [name for name in names if name]
    if all(looks_like_a_time(name) for name in given):
        raise TableError(f"{where}: the names of the columns expected, '{given[0]}' found.")
    for name in given:
        if names.count(name) > 1:
            one, other = [_letters(place) for place, found in enumerate(names) if found == name][:2]
            raise TableError(f"{where}: columns {one} and {other} are both named '{name}'.")


def _filled(rows: list[list[Any]]) -> list[int]:
    """Return the numbers of the rows that are not empty."""
    return [number for number, row in enumerate(rows) if any(cell != "" for cell in row)]


def _refuse_nameless(where: str, place: int, header: int, cells: Sequence[Any]) -> None:
    """Raise an error if a column without a name has cells: titles above names look like it."""
    row = next((row for row, cell in enumerate(cells) if cell != ""), None)
    if row is not None:
        raise TableError(
            f"{where}, cell {_letters(place)}{row + 1}: a column with a name in row {header + 1} "
            f"expected, '{cells[row]}' found. Leave out titles above the names and notes beside "
            "the table."
        )


def _letters(place: int) -> str:
    """Return the name that Excel gives a column.

    >>> _letters(0), _letters(25), _letters(26)
    ('A', 'Z', 'AA')
    """
    head, last = divmod(place, 26)
    return (_letters(head - 1) if head else "") + chr(ord("A") + last)


def _value(cell: Any) -> Any:
    """Return a cell: None for empty, whole numbers as such, times to the nearest millisecond.

    Excel counts in days as floats, which are some microseconds off.
    """
    if isinstance(cell, float) and cell.is_integer():
        return int(cell)
    if isinstance(cell, datetime):
        rounded = cell + timedelta(microseconds=500)
        return rounded.replace(microsecond=rounded.microsecond // 1000 * 1000)
    return None if cell == "" else cell


def _as_moments(cells: list[Any]) -> list[Any]:
    """Return days as midnights where other cells have a time of day, as Excel shows both."""
    if not any(isinstance(cell, datetime) for cell in cells):
        return cells
    return [
        datetime.combine(cell, time()) if type(cell) is date else cell  # no datetime
        for cell in cells
    ]
