"""Numbers that summarise records: arrays (trials, T) of one number per trial and stage."""

from collections.abc import Mapping
from math import isfinite
from typing import NamedTuple

import numpy as np

from bocopt.core import Array, Sense
from bocopt.trace import MeanSd, averages, last_half, mean_sd
from bocopt_studies.work.task import Record

Cell = Mapping[str, float | None]  # by name; None where there is none: JSON has no NaN

COLUMNS = ("reward", "reward_last", "feasibility", "feasibility_last")


class Paired(NamedTuple):
    """The mean difference of two policies on the same streams, with its 95% interval."""

    mean: float
    low: float
    high: float


def shown(record: Record) -> dict[str, Array]:
    """(trials, T): what table 1 is about; a cost where the problem is a minimisation."""
    objective = _objective(record)
    return {objective: record[objective], "feasibility": record["feasible"]}


def clairvoyant(record: Record) -> dict[str, Array]:
    """(trials, T): the same for one who knows xi."""
    objective = _objective(record)
    return {objective: record[f"hindsight_{objective}"], "feasibility": record["solvable"]}


def _objective(record: Record) -> str:
    return next(sense.value for sense in Sense if sense.value in record)


def over_trials(values: dict[str, Array]) -> dict[str, Cell]:
    """Mean and sd over trials of their averages: what we report."""
    return {column: cell(mean_sd(values)) for column, values in averages(values).items()}


def along_time(values: dict[str, Array]) -> dict[str, Cell]:
    """Mean and sd *over stages* of the running average, itself averaged over trials.

    What table 1 of the print turns out to report (E19).
    """
    cells = {}
    for name, series in values.items():
        curve = running(series).mean(axis=0)
        cells[name] = cell(mean_sd(curve))
        cells[f"{name}_last"] = cell(mean_sd(last_half(curve)))
    return cells


def running(values: Array) -> Array:
    """(trials, T): the average of all stages up to each."""
    average: Array = np.cumsum(values, axis=-1) / np.arange(1, values.shape[-1] + 1)
    return average


def paired(ours: Array, theirs: Array) -> Paired:
    """(trials), (trials) -> Student's interval for the mean difference.

    >>> paired(np.array([3.0, 5.0]), np.array([1.0, 1.0])).mean
    3.0
    """
    from scipy.special import stdtrit

    mean, sd = mean_sd(ours - theirs)
    half = float(stdtrit(max(1, ours.size - 1), 0.975)) * sd / float(np.sqrt(ours.size))
    return Paired(mean, mean - half, mean + half)


def differences(ours: Mapping[str, Array], theirs: Mapping[str, Array]) -> dict[str, Paired]:
    """(trials) each: paired differences by column; those of shares lie in [-1, 1]."""
    found = {column: paired(values, theirs[column]) for column, values in ours.items()}
    return {
        column: _of_shares(difference) if column.startswith("feasibility") else difference
        for column, difference in found.items()
    }


def _of_shares(difference: Paired) -> Paired:
    low, high = np.clip((difference.low, difference.high), -1.0, 1.0).tolist()
    return Paired(difference.mean, low, high)


def curve(values: Array) -> list[float]:
    """The mean over trials at each stage in `stages_shown`, to six digits."""
    return _short(_at_stages_shown(values).mean(axis=0))


def band(values: Array) -> dict[str, list[float]]:
    """The curve and its 10-90 percentiles over trials."""
    low, high = np.percentile(_at_stages_shown(values), [10, 90], axis=0)
    return {"mean": curve(values), "low": _short(low), "high": _short(high)}


def _at_stages_shown(values: Array) -> Array:
    return values[:, np.array(stages_shown(values.shape[-1])) - 1]


def _short(values: Array) -> list[float]:
    return [float(f"{value:.6g}") for value in values]


def stages_shown(horizon: int) -> list[int]:
    """The first twenty stages, then about 180 more: enough for a curve, small enough to keep.

    >>> stages_shown(3), len(stages_shown(1000))
    ([1, 2, 3], 200)
    """
    later = np.linspace(min(20, horizon), horizon, 181).round().astype(int)
    return sorted({*range(1, min(20, horizon) + 1), *later.tolist()})


def cell(numbers: MeanSd | Paired) -> Cell:
    """Return the numbers by name, with None for those that are not finite."""
    return {name: v if isfinite(v) else None for name, v in numbers._asdict().items()}
