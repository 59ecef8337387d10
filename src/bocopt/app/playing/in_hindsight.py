"""The least costs of a series, had its outcomes been known: the same whoever is played on it."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from bocopt import checkpoint
from bocopt.core import Array, Problem
from bocopt.problems.hindsight import hindsight
from bocopt.state import CheckpointError

_LONG = 5.0  # seconds, about: of a batch nothing is kept before its end


class SeriesData(Protocol):
    """Stages of one series, or of several: their contexts (T, k) and outcomes (T, m)."""

    @property
    def x(self) -> Array: ...
    @property
    def xi(self) -> Array: ...


@dataclass(frozen=True)
class KeptCosts:
    """File of the least costs that are known, so that the same command goes on from there."""

    path: Path
    digest: str  # of everything that they depend on
    seconds: float = 0.0  # that solving must have taken, to be worth a file

    def keep(self, costs: Array) -> None:
        """Write the costs (T) to the file, with the digest."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        checkpoint.save(self.path, {"digest": self.digest}, {"costs": costs})

    def forget(self) -> None:
        """Remove the file, if there is one."""
        self.path.unlink(missing_ok=True)

    def latest(self) -> Array | None:
        """Return the costs (T), NaN where not known yet; None if none of this study are kept."""
        try:
            header, arrays = checkpoint.load(self.path)
        except (CheckpointError, OSError):  # none, of another version, or broken: solved again
            return None
        return arrays["costs"].copy() if header.get("digest") == self.digest else None


def least_costs(problem: Problem, series: SeriesData, kept: KeptCosts | None = None) -> Array:
    """Return min over z of c(z; xi) at each stage (T); NaN where no outcome came.

    Stages are solved in one batch after the first, or where that would take long in several.
    """
    costs = kept.latest() if kept else None
    if costs is None:
        costs = np.full(len(series.x), np.nan)
    left = np.flatnonzero(np.isfinite(series.xi).all(axis=-1) & np.isnan(costs))
    many, start = 1, time.monotonic()
    while left.size:
        some, left, began = left[:many], left[many:], time.monotonic()
        costs[some] = hindsight(problem, series.x[some], series.xi[some]).cost
        took = max(time.monotonic() - began, 1e-6)
        many = max(1, int(_LONG * len(some) / took))
        if kept and time.monotonic() - start >= kept.seconds:
            kept.keep(costs)
    return costs
