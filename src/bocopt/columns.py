"""Data frames, series and dictionaries as arrays, with the names of their columns.

Frames of any library are read by what they can do (`columns`, `to_numpy`), so none is imported.
"""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Literal, NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.core import Array

Wanted = Literal["row", "rows", "either"]

_GAPS = ("None", "nan", "NaN", "NaT", "<NA>")  # each library has its own


class Columns(NamedTuple):
    """Numbers, and what each column of them is called; no names where nobody gave any."""

    values: Any
    names: tuple[str, ...] = ()


def columns_of(
    owner: str, name: str, given: Any, known: Sequence[str] = (), *, wanted: Wanted = "either"
) -> Columns:
    """An array with the names of its columns; what has no names is returned as it came.

    A data frame is (T, k), or (k) where one "row" is wanted and it has one. A dictionary is (k) of
    numbers, or (T, k) of columns. A series is a column (T, 1) where "rows" are wanted and (k) where
    a "row" is, named by its index; else it is a row where its index is made of names. True and
    false are 1 and 0, and a missing value is NaN. Where names are `known`, columns are put in their
    order, and a missing or unknown one is an error.

    >>> columns_of("Agent.decide", "x", {"rain": 0.2, "weekend": True}, ["weekend", "rain"])
    Columns(values=array([1. , 0.2]), names=('weekend', 'rain'))
    >>> try:
    ...     columns_of("decide", "x", {"rian": 0.2, "weekend": 1}, ["weekend", "rain"])
    ... except ValueError as error:
    ...     print(str(error).partition(" Got")[0])
    The 'x' parameter of decide must be named weekend, rain (missing: rain; unknown: rian).
    """
    if isinstance(given, np.ndarray | list | tuple):
        return Columns(given, tuple(known))
    if isinstance(given, Mapping):
        found = _of_columns(owner, name, list(given), list(given.values()))
    elif _is_frame(given):
        labels = list(getattr(given, "column_names", given.columns))
        _check_different(owner, name, labels)
        found = _of_columns(owner, name, labels, [given[label] for label in labels])
        if wanted == "row" and len(found.values) == 1:
            found = found._replace(values=found.values[0])
    elif hasattr(given, "to_numpy"):
        found = _of_series(owner, name, given, wanted)
    else:
        return Columns(given, tuple(known))
    return _in_order(owner, name, found, tuple(known))


def _is_frame(given: Any) -> bool:
    return hasattr(given, "columns") and len(getattr(given, "shape", ())) == 2


def _of_columns(owner: str, name: str, labels: list[Any], columns: list[Any]) -> Columns:
    """Columns of numbers beside each other, in C order."""
    names = _names(owner, name, labels)
    if not labels:
        raise arguments.wrong(owner, name, "one or more columns", labels)
    read = [_numbers(owner, name, *pair) for pair in zip(labels, columns, strict=True)]
    if len({column.shape for column in read}) > 1:
        sizes = [column.shape for column in read]
        raise arguments.wrong(owner, name, "columns of one length", sizes)
    return Columns(np.stack(read, axis=-1), names)


def _of_series(owner: str, name: str, given: Any, wanted: Wanted) -> Columns:
    label = getattr(given, "name", None)
    values = _numbers(owner, name, label, given)
    names = _index_names(given)
    if wanted == "row" or (wanted == "either" and names):
        _check_different(owner, name, names)
        return Columns(values, tuple(names))
    return Columns(values[..., None], (label,) if isinstance(label, str) else ())


def _index_names(series: Any) -> list[str]:
    """Return the index of a series where it is made of names."""
    index = getattr(series, "index", None)
    labels = [] if index is None or callable(index) else list(index)
    return labels if all(isinstance(each, str) for each in labels) else []


def _names(owner: str, name: str, labels: list[Any]) -> tuple[str, ...]:
    """Texts; none where columns are only numbered."""
    if all(isinstance(label, int | np.integer) for label in labels):
        return ()
    if not all(isinstance(label, str) for label in labels):
        raise arguments.wrong(owner, name, "made of columns that are named by texts", labels)
    return tuple(labels)


def _check_different(owner: str, name: str, labels: list[Any]) -> None:
    twice = sorted({str(label) for label in labels if labels.count(label) > 1})
    if twice:
        raise arguments.wrong(owner, name, "made of columns of different names", twice)


def _numbers(owner: str, name: str, label: Any, cells: Any) -> Array:
    """One column, or one number."""
    found = np.asarray(cells)
    if found.dtype.kind in "iufb":
        return found.astype(np.float64)
    if found.dtype.kind not in "OSU":
        raise _other(owner, name, label, found.dtype)
    numbers = [_number(owner, name, label, cell) for cell in found.ravel().tolist()]
    return np.array(numbers, np.float64).reshape(found.shape)


def _number(owner: str, name: str, label: Any, cell: Any) -> float:
    if isinstance(cell, int | float | np.number | np.bool_ | Decimal):
        return float(cell)
    if not isinstance(cell, str) and str(cell) in _GAPS:
        return float("nan")
    raise _other(owner, name, label, cell)


def _other(owner: str, name: str, label: Any, found: object) -> arguments.WrongError:
    where = f", in column {label!r} too" if isinstance(label, str) else ""
    return arguments.wrong(owner, name, f"made of numbers{where}", found)


def wrong_names(given: Iterable[str], known: Sequence[str]) -> str:
    """Return which names are missing and which are unknown, as text; empty where all are right.

    >>> wrong_names(["rian", "weekend"], ["weekend", "rain"])
    'missing: rain; unknown: rian'
    """
    given = list(given)
    parts = {
        "missing": [name for name in known if name not in given],
        "unknown": [name for name in given if name not in known],
    }
    return "; ".join(f"{what}: {', '.join(names)}" for what, names in parts.items() if names)


def _in_order(owner: str, name: str, found: Columns, known: tuple[str, ...]) -> Columns:
    """The columns in the order of the names that are known; in C order, so that bits agree."""
    if not known or not found.names or found.names == known:
        return found._replace(names=known or found.names)
    wrong = wrong_names(found.names, known)
    if wrong:
        expected = f"named {', '.join(known)} ({wrong})"
        raise arguments.wrong(owner, name, expected, list(found.names))
    order = [found.names.index(each) for each in known]
    return Columns(np.ascontiguousarray(found.values[..., order]), known)
