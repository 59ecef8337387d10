"""Data frames of any library, through narwhals."""

from collections.abc import Iterable
from datetime import date, datetime, time
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from bocopt.tables.cells import numbers_or_none
from bocopt.tables.columns import Column, Frame, TableError

INSTALL = 'pip install "bocopt[tables]"'  # what brings narwhals and polars


@cache
def narwhals() -> Any:
    """The module, where it is installed."""
    try:
        return import_module("narwhals.stable.v2")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"Data frames and Parquet files need narwhals: {INSTALL}.", name=error.name
        ) from error


def frame_from(table: Any, path: str) -> Frame:
    """A wrapped data frame that is in memory; only its numbers, texts and times can be used."""
    columns: dict[str, Column] = {}
    unusable: dict[str, str] = {}
    for name in map(str, _names(table, path)):
        series = table[name]
        found = _column(series)
        if found is None:
            unusable[name] = str(series.dtype)
        else:
            columns[name] = found
    if not columns or not len(table):
        raise TableError(f"{path} has no rows.")
    return Frame(path, "row", np.arange(1, len(table) + 1), columns, unusable)


def _names(table: Any, path: str) -> list[str]:
    names = list(table.columns)
    for name in names:
        if names.count(name) > 1:
            raise TableError(f"{path} has two columns '{name}'.")
        if not isinstance(name, str):
            raise TableError(f"{path} has a column named {name!r}: a text expected.")
    return names


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
    days_only = all(_is_midnight(value) for value in values)
    texts = list(_texts(values, days_only))
    if len(texts) < len(values):
        return None
    numbers = numbers_or_none(texts)
    return texts if numbers is None else numbers


def _is_midnight(value: Any) -> bool:
    if isinstance(value, datetime):
        return value.tzinfo is None and value.time() == time()
    return not isinstance(value, str)


def _texts(values: Iterable[Any], days_only: bool) -> Iterable[str]:
    """Of each, up to the first that has none."""
    for value in values:
        if value is None or value != value:  # a gap of pandas is not itself
            yield ""
        elif isinstance(value, str):
            yield value.strip()
        elif isinstance(value, datetime):
            yield str(value.date()) if days_only else str(value)
        elif isinstance(value, date | int | float):
            yield str(value)
        else:
            return
