"""Columns of a study's table, as a planner would have it: a row a stage."""

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from bocopt.core import Array
from bocopt_studies.learning.data.source import Columns

Table = Mapping[str, NDArray[Any]]  # (T) each, by the names of the columns
Tables = Mapping[str, Columns]  # what a package holds


def named(names: Sequence[str], values: Array) -> Table:
    """(T, names) -> a column each."""
    return {name: values[:, i] for i, name in enumerate(names)}
