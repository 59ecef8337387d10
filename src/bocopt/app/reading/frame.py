"""Tables from files and from data frames."""

from datetime import date, datetime
from decimal import Decimal
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from bocopt import arguments
from bocopt.app.reading.cells import numbers_or_none
from bocopt.app.reading.columns import Column, Table, TableError
from bocopt.app.reading.csv_file import read_csv
from bocopt.app.reading.times import is_midnight

__all__ = ["Table", "TableError", "frame_of", "read"]

_PARQUET = b"PAR1"
_OTHER_FILES = {  # by how they begin: what they are, and what to do
    b"PK\x03\x04": "a spreadsheet or a zip file: save it as CSV",
    b"\x1f\x8b": "compressed: unpack it",
    b"\xff\xfe": "in UTF-16: save it in UTF-8",
    b"\xfe\xff": "in UTF-16: save it in UTF-8",
}
INSTALL = 'pip install "bocopt[tables]"'  # what brings narwhals and polars


def read(path: str | PathLike[str]) -> Table:
    """A CSV or Parquet file, by what is in it and not by its name.

    CSV is in UTF-8, and its first line names the columns, which are separated by commas, semicolons
    or tabs. Numbers have decimal points. Parquet needs polars, or pandas with pyarrow.
    """
    if not isinstance(path, str | PathLike):  # a number would be taken for an open file
        raise arguments.wrong("read", "path", "a path", path)
    file = Path(path)
    start = _start(file)
    if start.startswith(_PARQUET):
        return _read_parquet(file)
    if file.suffix.lower() in (".parquet", ".pq"):
        raise TableError(f"{file} is not a Parquet file, by its first bytes.")
    for magic, what in _OTHER_FILES.items():
        if start.startswith(magic):
            raise TableError(f"{file} is {what}.")
    if b"\0" in start:
        raise TableError(f"{file} is neither CSV nor Parquet: it has bytes of value zero.")
    return read_csv(file)


def _start(path: Path) -> bytes:
    """The first bytes of a file; errors say which file it is."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: a CSV or Parquet file expected.")
    try:
        with path.open("rb") as file:
            return file.read(4096)
    except FileNotFoundError as error:
        raise FileNotFoundError(f"There is no file {path}.") from error
    except PermissionError as error:
        raise PermissionError(f"There is no permission to read {path}.") from error


def _read_parquet(path: Path) -> Table:
    library = next((name for name in ("polars", "pandas") if find_spec(name)), None)
    if library is None or (library == "pandas" and not find_spec("pyarrow")):
        raise ModuleNotFoundError(f"Parquet files need polars, or pandas with pyarrow: {INSTALL}.")
    try:
        table = narwhals().read_parquet(str(path), backend=library)
    except Exception as error:  # each library has its own
        said = str(error).splitlines()[0]
        raise TableError(f"{path} is a broken Parquet file: {said}.") from error
    return frame_from(table, str(path))


def frame_of(table: object) -> Table:
    """A data frame of polars, pandas, pyarrow or another library that narwhals knows.

    Rows are counted from 1. An index is not read: make it a column.
    """
    nw = narwhals()
    try:
        wrapped = nw.from_native(table)
    except TypeError as error:
        expected = "a data frame, such as one of polars or pandas"
        raise arguments.wrong("frame_of", "table", expected, table) from error
    except nw.exceptions.DuplicateError as error:
        said = " ".join(str(error).split())
        raise TableError(f"The table has two columns of one name. {said}.") from error
    eager = wrapped.collect() if isinstance(wrapped, nw.LazyFrame) else wrapped
    return frame_from(eager, "The table")


@cache
def narwhals() -> Any:
    """The module, where it is installed."""
    try:
        return import_module("narwhals.stable.v2")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"Data frames and Parquet files need narwhals: {INSTALL}.", name=error.name
        ) from error


def frame_from(table: Any, path: str) -> Table:
    """A wrapped data frame that is in memory; only its numbers, texts and times can be used."""
    columns: dict[str, Column] = {}
    unusable: dict[str, str] = {}
    for name in _names(table, path):
        series = table[name]
        found = _column(series)
        if found is None:
            unusable[name] = str(series.dtype)
        else:
            columns[name] = found
    if not columns or not len(table):
        raise TableError(f"{path} has no rows.")
    return Table(path, "row", np.arange(1, len(table) + 1), columns, unusable)


def _names(table: Any, path: str) -> list[str]:
    for name in table.columns:
        if not isinstance(name, str):
            raise TableError(f"{path} has a column named {name!r}: a text expected.")
    return list(table.columns)


def _column(series: Any) -> Column | None:
    nw, dtype = narwhals(), series.dtype
    if series.null_count() == len(series):
        return np.full(len(series), np.nan)
    if dtype.is_numeric() or dtype == nw.Boolean:
        return np.asarray(series.cast(nw.Float64).to_numpy(), np.float64)
    if dtype in (nw.String, nw.Categorical, nw.Enum, nw.Date, nw.Datetime, nw.Object):
        return _of_values(series.to_list())
    return None


def _of_values(values: list[Any]) -> Column | None:
    """Numbers where all are; else texts, with times as they would stand in a file."""
    known = [None if _is_gap(value) else value for value in values]
    days_only = all(is_midnight(value) for value in known if isinstance(value, datetime))
    texts = [_text(value, days_only) for value in known]
    given = [text for text in texts if text is not None]
    if len(given) < len(texts):
        return None
    numbers = numbers_or_none(given)
    return given if numbers is None else numbers


def _is_gap(value: Any) -> bool:
    """Each library has its own."""
    return not isinstance(value, str) and str(value) in ("None", "nan", "NaN", "NaT", "<NA>")


def _text(value: Any, days_only: bool) -> str | None:
    """As it would stand in a file; None for what would not."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, datetime) and days_only:
        return str(value.date())
    if isinstance(value, str | date | int | float | Decimal):
        return str(value).strip()
    return None
