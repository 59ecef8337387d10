"""Tables from Parquet files and from data frames."""

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from bocopt import arguments
from bocopt.app.reading.columns import Column, Table, TableError
from bocopt.app.reading.notation import Notation
from bocopt.app.reading.values import of_values

INSTALL = 'pip install "bocopt[tables]"'  # what brings narwhals and polars


def read_parquet(path: Path, notation: Notation) -> Table:
    """Return the table of a Parquet file."""
    library = next((name for name in ("polars", "pandas") if find_spec(name)), None)
    if library is None or (library == "pandas" and not find_spec("pyarrow")):
        raise ModuleNotFoundError(f"Parquet files need polars, or pandas with pyarrow: {INSTALL}.")
    try:
        table = narwhals().read_parquet(str(path), backend=library)
    except Exception as error:  # each library has its own
        said = str(error).splitlines()[0]
        raise TableError(f"{path} is a broken Parquet file: {said}.") from error
    return frame_from(table, str(path), notation)


def frame_of(table: object) -> Table:
    """Return the table of a data frame of polars, pandas, pyarrow, or another by narwhals.

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
    return frame_from(eager, "The table", Notation())


@cache
def narwhals() -> Any:
    """Return the module, where it is installed."""
    try:
        return import_module("narwhals.stable.v2")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"Data frames and Parquet files need narwhals: {INSTALL}.", name=error.name
        ) from error


def frame_from(table: Any, path: str, notation: Notation) -> Table:
    """Return the table of a data frame in memory; only numbers, texts and times can be used."""
    columns: dict[str, Column] = {}
    unusable: dict[str, str] = {}
    for name in _names(table, path):
        series = table[name]
        found = _column(series, notation)
        if found is None:
            unusable[name] = str(series.dtype)
        else:
            columns[name] = found
    if not columns or not len(table):
        raise TableError(f"{path} has no rows.")
    places = np.arange(1, len(table) + 1)
    return Table(path, "row", places, columns, unusable, notation=notation)


def _names(table: Any, path: str) -> list[str]:
    for name in table.columns:
        if not isinstance(name, str):
            raise TableError(f"{path} has a column named {name!r}: a text expected.")
    return list(table.columns)


def _column(series: Any, notation: Notation) -> Column | None:
    nw, dtype = narwhals(), series.dtype
    if series.null_count() == len(series):
        return np.full(len(series), np.nan)
    if dtype.is_numeric() or dtype == nw.Boolean:
        return np.asarray(series.cast(nw.Float64).to_numpy(), np.float64)
    if dtype in (nw.String, nw.Categorical, nw.Enum, nw.Date, nw.Datetime, nw.Object):
        return of_values(series.to_list(), notation)
    return None
