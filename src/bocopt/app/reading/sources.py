"""Tables from files, by what is in them and not by their names, and from databases."""

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from bocopt import arguments
from bocopt.app.reading import notation
from bocopt.app.reading.columns import Table, TableError
from bocopt.app.reading.csv_file import read_csv
from bocopt.app.reading.database import is_address, read_query, without_password
from bocopt.app.reading.excel_file import read_excel
from bocopt.app.reading.frame import read_parquet
from bocopt.app.reading.notation import Notation

#: What `read` can be told of a table.
SETTINGS = (*notation.FIELDS, "sheet", "query")

_PARQUET = b"PAR1"
_EXCEL = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")  # a zip file (.xlsx, .ods), or an older one (.xls)
_EXCEL_NAMES = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
_OTHER_FILES = {  # by how they begin: what they are, and what to do
    b"\x1f\x8b": "compressed: unpack it",
    b"\xff\xfe": "in UTF-16: save it in UTF-8",
    b"\xfe\xff": "in UTF-16: save it in UTF-8",
}


def read(
    path: str | PathLike[str],
    *,
    decimal: str = ".",
    thousands: str = "",
    dates: str = "",
    missing_words: Sequence[str] | str = (),
    sheet: str | None = None,
    query: str | None = None,
) -> Table:
    """Return the table of a CSV, Excel or Parquet file, by its content, or the rows of a database.

    CSV is in UTF-8, and its first line names the columns, which are separated by commas, semicolons
    or tabs. Excel needs the extra `excel`. Parquet needs polars, or pandas with pyarrow. A database
    has an address, such as "sqlite:///sales.db" or "postgresql://...", and needs the extra `sql`.

    - `decimal`, "." or ",", and `thousands`, which stands between thousands: of numbers in texts.
    - `dates`: the form of times in the words of `datetime.strptime`, such as "%d.%m.%Y"; those of
      ISO 8601 are always read.
    - `missing_words`: what stands for a missing value in any column, besides an empty cell.
    - `sheet`: the name of a sheet of an Excel file; None: the only one that holds anything.
    - `query`: what to select, where `path` is the address of a database.
    """
    signs = Notation(decimal, thousands, dates, missing_words)
    for error in wrong_settings({"sheet": sheet, "query": query}):
        raise error
    if not isinstance(path, str | PathLike):  # a number would be taken for an open file
        raise arguments.wrong("read", "path", "a path", path)
    if isinstance(path, str) and is_address(path):
        return _read_address(path, query, sheet, signs)
    if query is not None:
        raise TableError(f"{path} is no address of a database: leave out 'query'.")
    return _read_file(Path(path), sheet, signs)


def _read_address(path: str, query: str | None, sheet: str | None, signs: Notation) -> Table:
    if query is None or sheet is not None:
        needs = "a 'query', and no 'sheet'"
        raise TableError(f"{without_password(path)}: the address of a database needs {needs}.")
    return read_query(path, query, signs)


def _read_file(file: Path, sheet: str | None, signs: Notation) -> Table:
    start = _start(file)
    if start.startswith(_EXCEL):
        return read_excel(file, sheet, signs)
    if sheet is not None:
        raise TableError(f"{file} is no Excel file: leave out 'sheet'.")
    if start.startswith(_PARQUET):
        return read_parquet(file, signs)
    _refuse_other(file, start)
    return read_csv(file, signs)


def _refuse_other(file: Path, start: bytes) -> None:
    """Refuse a file that is no CSV, by its name or its first bytes."""
    for names, what in (((".parquet", ".pq"), "a Parquet"), (_EXCEL_NAMES, "an Excel")):
        if file.suffix.lower() in names:
            raise TableError(f"{file} is not {what} file, by its first bytes.")
    for magic, what in _OTHER_FILES.items():
        if start.startswith(magic):
            raise TableError(f"{file} is {what}.")
    if b"\0" in start:
        raise TableError(f"{file} is neither CSV, Excel nor Parquet: it has bytes of value zero.")


def wrong_settings(given: Mapping[str, Any]) -> list[arguments.WrongError]:
    """Return the errors of some parameters of `read`.

    >>> [error.name for error in wrong_settings({"decimal": ";", "sheet": ""})]
    ['decimal', 'sheet']
    """
    signs = {name: value for name, value in given.items() if name in notation.FIELDS}
    wrong = notation.all_wrong(signs)
    for name, expected in (("sheet", "the name of a sheet"), ("query", "a query in SQL")):
        value = given.get(name)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            wrong.append(arguments.wrong("read", name, expected, value))
    return wrong


def read_like(path: str | PathLike[str], settings: Mapping[str, Any]) -> Table:
    """Return the table of another file, by these settings as far as they concern it."""
    signs = {name: value for name, value in settings.items() if name in notation.FIELDS}
    if "sheet" in settings and Path(path).suffix.lower() in _EXCEL_NAMES:
        signs["sheet"] = settings["sheet"]
    return read(path, **signs)


def _start(path: Path) -> bytes:
    """Return the first bytes of a file; errors say which file it is."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: a CSV, Excel or Parquet file expected.")
    try:
        with path.open("rb") as file:
            return file.read(4096)
    except FileNotFoundError as error:
        raise FileNotFoundError(f"There is no file {path}.") from error
    except PermissionError as error:
        raise PermissionError(f"There is no permission to read {path}.") from error
