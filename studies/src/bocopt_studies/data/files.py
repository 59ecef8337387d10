"""The files of each study: bocopt.toml, problem.py, and the data, made of what a package holds."""

import csv
import io
from importlib import import_module
from importlib.resources import files
from typing import Any, Protocol, cast

from numpy.typing import NDArray

from bocopt_studies.data.table import Table, Tables


class DataStudy(Protocol):
    """The folder of a study, as a module."""

    def read(self) -> Tables:
        """Return the tables as a package has them, by name."""
        ...

    def rows(self, tables: Tables) -> Table:
        """Return the columns (T) by name, a row a stage: what is known then, and the outcome."""
        ...


def files_of(name: str) -> dict[str, bytes]:
    """Return the contents of a study's files, by file name."""
    folder, study = files("bocopt_studies.data") / name, study_of(name)
    return {
        "bocopt.toml": (folder / "bocopt.toml").read_bytes(),
        "problem.py": (folder / "problem.txt").read_bytes(),
        "data.csv": csv_of(study.rows(study.read())),
    }


def study_of(name: str) -> DataStudy:
    """Return the module of a study."""
    return cast(DataStudy, import_module(f"bocopt_studies.data.{name}"))


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
