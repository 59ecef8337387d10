"""The files of each study: bocopt.toml, problem.py, and the data, made of what a package holds."""

import csv
import io
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from numpy.typing import NDArray

from bocopt_studies.data.rows import STUDIES, Table
from bocopt_studies.learning.data.source import Columns

NAMES = tuple(STUDIES)


def files_of(name: str) -> dict[str, bytes]:
    """Return the contents of a study's files, by file name."""
    folder = files("bocopt_studies.data") / name
    return {
        "bocopt.toml": (folder / "bocopt.toml").read_bytes(),
        "problem.py": (folder / "problem.txt").read_bytes(),
        "data.csv": csv_of(rows_of(name, tables_of(name))),
    }


def tables_of(name: str) -> Mapping[str, Columns]:
    """Return the tables of a study as the package has them, by name."""
    read, _ = STUDIES[name]
    return read()


def rows_of(name: str, tables: Mapping[str, Columns]) -> Table:
    """Return a study's columns (T) by name, a row a stage: what is known then, and the outcome."""
    _, made = STUDIES[name]
    return made(tables)


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
