"""Features that a decision sees: columns of its own row, the calendar, and known outcomes."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from bocopt.app.features.category import MOST_CATEGORIES, OTHER, Category, one_hot
from bocopt.app.features.known import lagged, names_of_lag, names_of_mean, recent_mean
from bocopt.app.features.odd import alike
from bocopt.app.features.public_holidays import version
from bocopt.app.features.seasons import seasons
from bocopt.app.features.spec import Spec
from bocopt.app.features.stages import Stages
from bocopt.app.reading.columns import Table, TableError
from bocopt.core import Array, IntArray


class StageOutcomes(NamedTuple):
    """Outcomes (T, m) of all stages, and the stages (T) at which they are due and arrive."""

    xi: Array  # (T, m) NaN in all of a row that has none
    due: IntArray  # (T) the first stage at which it should be known
    arrives: IntArray  # (T) the first stage at which it is; T where it never is


class Feature(NamedTuple):
    """A column of x, or several."""

    names: tuple[str, ...]
    values: Array  # (T) or (T, names)
    notes: tuple[str, ...] = ()
    category: Category | None = None  # that it shows


def features(
    frame: Table,
    spec: Spec,
    stages: Stages,
    outcomes: StageOutcomes,
    categories: Mapping[str, Category] | None = None,
) -> Iterator[Feature]:
    """Yield all features, in the order of the fields of a `Spec`.

    categories  by column, where they are those of a larger table; else of the warm-up of this one
    """
    return chain(
        (_context(frame, spec, stages, name) for name in spec.context),
        (_category(frame, spec, stages, name, categories) for name in spec.categories),
        _calendar(frame, spec, stages),
        _lags(spec, outcomes),
        _rolling(spec, outcomes),
    )


def _context(frame: Table, spec: Spec, stages: Stages, name: str) -> Feature:
    values = frame.numbers(name)[stages.rows]
    missing = np.isnan(values)
    if missing.any() and spec.missing == "last":
        values = _filled(values)
    return Feature((name,), values, _gaps(name, int(missing.sum()), len(values)))


def _gaps(name: str, count: int, rows: int) -> tuple[str, ...]:
    if not count:
        return ()
    return (f"'{name}' is missing in {'all' if count == rows else count} of {rows} rows",)


def _filled(values: Array) -> Array:
    """Return the numbers (T) with the last known one in each gap; 0 before the first."""
    last = _last(~np.isnan(values))
    return np.where(last < 0, 0.0, values[last])


def _last(known: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> IntArray:
    """Return the latest stage (T) up to each one where something is known; -1 where none is."""
    return np.maximum.accumulate(np.where(known, np.arange(len(known)), -1))


def _category(
    frame: Table,
    spec: Spec,
    stages: Stages,
    name: str,
    categories: Mapping[str, Category] | None,
) -> Feature:
    texts = np.array(frame.texts(name), object)[stages.rows]
    known = texts != ""
    gaps = _gaps(name, int((~known).sum()), len(texts))
    if spec.missing == "last":
        last = _last(known)
        texts = np.where(last < 0, "", texts[last])
    first = f"the first {spec.warm_up} {stages.unit if categories is None else 'times'}"
    if categories is None:
        category = category_of(frame, name, texts[: stages.first(spec.warm_up)].tolist(), first)
    else:
        category = categories[name]
    code_of = {text: category.code(text) for text in {*texts}}
    codes = np.array([code_of[text] for text in texts])
    hot = one_hot(codes, len(category.values), keep=spec.missing == "keep")
    others = int((codes == OTHER).sum())
    note = (
        f"'{name}' has values that are not in {first} in {others} "
        f"of {len(texts)} rows: they count as none of the others"
    )
    odd = alike(name, {*texts} - {""}) if categories is None else ()
    return Feature(category.names, hot, (*gaps, *([note] if others else []), *odd), category)


def category_of(frame: Table, name: str, texts: Sequence[str], where: str) -> Category:
    """Return the category of a column by the texts of its warm-up; errors call it `where`."""
    values = sorted({*texts} - {""})
    if len(values) > MOST_CATEGORIES:
        raise TableError(
            f"{frame.path}, column '{name}': at most {MOST_CATEGORIES} categories expected, "
            f"{len(values)} found in {where}."
        )
    return Category(
        name, tuple(values), bool(values) and isinstance(frame.column(name), np.ndarray)
    )


def _calendar(frame: Table, spec: Spec, stages: Stages) -> Iterator[Feature]:
    if stages.clock is not None:
        told = _of_holidays(spec)
        for name, values in seasons(stages.clock, spec.calendar, stages.clock[0], spec.holidays):
            yield Feature((name,), values, told)
            told = ()
    elif any(word != "trend" for word in spec.calendar):
        where = f"{frame.path}, column '{spec.time}'"
        raise TableError(f"{where}: dates expected, for 'calendar', numbers found.")
    elif spec.calendar:
        yield Feature(("trend",), (stages.times - stages.times[0]).astype(np.float64))


def _of_holidays(spec: Spec) -> tuple[str, ...]:
    if not spec.holidays:
        return ()
    return (f"The holidays are those of {spec.holidays}, by version {version()} of 'holidays'",)


def _lags(spec: Spec, outcomes: StageOutcomes) -> Iterator[Feature]:
    if spec.lags:
        places = lagged(outcomes.due, outcomes.arrives, spec.lags)
        for lag, place in zip(spec.lags, places.T, strict=True):
            values = np.where(place[:, None] < 0, np.nan, outcomes.xi[place])
            yield _of_outcomes(spec, names_of_lag(spec.outcome, lag), values)


def _rolling(spec: Spec, outcomes: StageOutcomes) -> Iterator[Feature]:
    for count in spec.rolling:
        values = recent_mean(outcomes.xi, outcomes.arrives, count)
        yield _of_outcomes(spec, names_of_mean(spec.outcome, count), values)


def _of_outcomes(spec: Spec, names: tuple[str, ...], values: Array) -> Feature:
    """Return a feature of outcomes; at first none is known, which no rule can refuse."""
    return Feature(names, values if spec.missing == "keep" else np.nan_to_num(values, nan=0.0))
