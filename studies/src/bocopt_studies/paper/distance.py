"""Distances of our numbers from table 1 of the print, averaged along time and over trials (E19)."""

from collections.abc import Mapping
from math import sqrt
from typing import NamedTuple

from bocopt.core import Array
from bocopt_studies.paper.settings import PRINTED
from bocopt_studies.study import Summary
from bocopt_studies.summaries import Cell, along_time, over_trials

STATISTICS = {"along_time": along_time, "over_trials": over_trials}


class _Measure(NamedTuple):
    columns: tuple[str, ...]
    part: str  # of a cell


#: Root mean square distances over these columns of table 1.
_MEASURES = {
    "reward": _Measure(("reward", "reward_last"), "mean"),
    "feasibility": _Measure(("feasibility", "feasibility_last"), "mean"),
    "spread": _Measure(("reward", "reward_last"), "sd"),
}


def fit(series: Mapping[str, dict[str, Array]]) -> Summary:
    """The cells of table 1 by statistic and policy, and their distances from the print."""
    found = {
        statistic: {policy: cells_of(values) for policy, values in series.items()}
        for statistic, cells_of in STATISTICS.items()
    }
    return {
        statistic: {
            "cells": cells,
            "distance": {name: _distance(cells, measure) for name, measure in _MEASURES.items()},
            "distances": {
                policy: _distance({policy: cells[policy]}, _MEASURES["reward"]) for policy in cells
            },
        }
        for statistic, cells in found.items()
    }


def _distance(cells: Mapping[str, Mapping[str, Cell]], measure: _Measure) -> float | None:
    squares = []
    for policy, columns in cells.items():
        for column in measure.columns:
            ours, theirs = columns[column][measure.part], PRINTED[policy][column][measure.part]
            if ours is None or theirs is None:
                return None
            squares.append((ours - theirs) ** 2)
    return sqrt(sum(squares) / len(squares))
