"""A table by its columns, and as the file that a planner would have."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from bocopt.core import Array

Table = Mapping[str, NDArray[Any]]  # (T) each


def named(names: Sequence[str], values: Array) -> Table:
    """(T, names) -> a column each."""
    return {name: values[:, i] for i, name in enumerate(names)}


def csv_of(table: Table) -> bytes:
    """Numbers in their shortest form."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(table)
    columns = [_texts(column) for column in table.values()]
    writer.writerows(zip(*columns, strict=True))
    return out.getvalue().encode()


def _texts(column: NDArray[Any]) -> list[str]:
    if column.dtype.kind == "f":
        return [repr(value).removesuffix(".0") for value in column.tolist()]
    if column.dtype.kind == "M":
        whole_days = column.dtype == "datetime64[D]"
        times = column if whole_days else column.astype("datetime64[m]")
        return [str(time).replace("T", " ") for time in times]
    return [str(value) for value in column]
