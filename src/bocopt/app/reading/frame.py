"""Tables from files and from data frames."""

from importlib.util import find_spec
from os import PathLike
from pathlib import Path

from bocopt import arguments
from bocopt.app.reading.columns import Frame, TableError
from bocopt.app.reading.csv_file import read_csv
from bocopt.app.reading.wrapped import INSTALL, frame_from, narwhals

__all__ = ["Frame", "TableError", "frame_of", "read"]

_PARQUET = b"PAR1"
_OTHER_FILES = {  # by how they begin: what they are, and what to do
    b"PK\x03\x04": "a spreadsheet or a zip file: save it as CSV",
    b"\x1f\x8b": "compressed: unpack it",
    b"\xff\xfe": "in UTF-16: save it in UTF-8",
    b"\xfe\xff": "in UTF-16: save it in UTF-8",
}


def read(path: str | PathLike[str]) -> Frame:
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


def _read_parquet(path: Path) -> Frame:
    library = next((name for name in ("polars", "pandas") if find_spec(name)), None)
    if library is None or (library == "pandas" and not find_spec("pyarrow")):
        raise ModuleNotFoundError(f"Parquet files need polars, or pandas with pyarrow: {INSTALL}.")
    try:
        table = narwhals().read_parquet(str(path), backend=library)
    except Exception as error:  # each library has its own
        said = str(error).splitlines()[0]
        raise TableError(f"{path} is a broken Parquet file: {said}.") from error
    return frame_from(table, str(path))


def frame_of(table: object) -> Frame:
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
