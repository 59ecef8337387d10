"""The files of each study: bocopt.toml, problem.py, and the data, made of what a package holds."""

from collections.abc import Mapping
from importlib import import_module
from importlib.resources import files
from typing import Any

from bocopt_studies.data.columns import Table, csv_of
from bocopt_studies.learning.data.source import Columns

NAMES = ("chicago", "calls", "flights", "electricity", "pizzas")


def files_of(name: str) -> dict[str, bytes]:
    """By file name."""
    folder = files("bocopt_studies.data") / name
    return {
        "bocopt.toml": (folder / "bocopt.toml").read_bytes(),
        "problem.py": (folder / "problem.txt").read_bytes(),
        "data.csv": csv_of(rows_of(name, tables_of(name))),
    }


def tables_of(name: str) -> Mapping[str, Columns]:
    """What the package holds."""
    tables: Mapping[str, Columns] = _code(name).read()
    return tables


def rows_of(name: str, tables: Mapping[str, Columns]) -> Table:
    """What is made of it: a row a stage, with what is known and what came of it."""
    table: Table = _code(name).rows(tables)
    return table


def _code(name: str) -> Any:
    return import_module(f"bocopt_studies.data.{name}.rows")
