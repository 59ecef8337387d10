"""Data frames of any library, through narwhals."""

from datetime import date, datetime
from decimal import Decimal
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from bocopt.app.reading.cells import numbers_or_none
from bocopt.app.reading.columns import Column, Frame, TableError
from bocopt.app.reading.times import is_midnight

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
    for name in _names(table, path):
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
