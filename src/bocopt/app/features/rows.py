"""The rows of a table as a program would send them, one at a time, in the order of their stages."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from bocopt.app.features.censoring import bounds_of_rows, columns_of_censored
from bocopt.app.features.featuriser import Featuriser
from bocopt.app.features.memory import FeaturiserState
from bocopt.app.features.spec import Spec
from bocopt.app.features.stages import stages_of
from bocopt.app.reading.cells import is_gap
from bocopt.app.reading.columns import Table
from bocopt.core import Array, Bounds


class TableRow(NamedTuple):
    """One stage of a table."""

    fields: Mapping[str, object]  # what is known before its decision
    xi: Array  # (m) NaN where the outcome is missing, or where the table has none
    came: str | None  # when it came, where the table says so
    seen: Bounds | None = None  # (m) bounds of the outcome, where it was not seen in full


def rows_of(frame: Table, spec: Spec) -> Iterator[TableRow]:
    """Yield all rows of a table; outcomes may be missing in all of them, as in those of today."""
    order = np.arange(len(frame))[stages_of(frame, _in_any_order(spec)).rows]
    numbers = {name: frame.numbers(name) for name in spec.context}
    texts = {name: frame.texts(name) for name in _texts(spec)}
    xi = _outcomes(frame, spec)
    seen = None
    if all(name in frame.columns for name in (*spec.outcome, *columns_of_censored(spec))):
        seen = bounds_of_rows(frame, spec, xi)
    arrives = spec.arrives or ""
    came = frame.texts(arrives) if arrives in frame.columns else None
    for row in order.tolist():
        fields = {name: values[row].item() for name, values in numbers.items()}
        known = {name: None if np.isnan(value) else value for name, value in fields.items()}
        said = {name: values[row] for name, values in texts.items()}
        arrived = came[row] if came and not is_gap(came[row]) else None
        yield TableRow(known | said, xi[row].copy(), arrived, _in_part(seen, row))


def _in_part(seen: Bounds | None, row: int) -> Bounds | None:
    """Return the bounds of the outcome of a row that was seen in part; None of another one."""
    if seen is None:
        return None
    own = Bounds(seen.low[row].copy(), seen.high[row].copy())
    return None if own.is_exact or np.isnan(own.low).any() else own


def _outcomes(frame: Table, spec: Spec) -> Array:
    """Return the outcomes (rows, m); NaN where the table has none."""
    unknown = np.full(len(frame), np.nan)
    columns = [frame.numbers(n) if n in frame.columns else unknown for n in spec.outcome]
    return np.stack(columns, axis=-1)


def learn_row(
    featuriser: Featuriser, state: FeaturiserState, stage: int, row: TableRow
) -> FeaturiserState:
    """Return the state with the outcome of a stage of a table; a missing one may be due."""
    if featuriser.spec.arrives is not None:
        return state if row.came is None else featuriser.learn(state, stage, row.xi, row.came)
    return state if np.isnan(row.xi).any() else featuriser.learn(state, stage, row.xi)


def _texts(spec: Spec) -> tuple[str, ...]:
    return (*([spec.time] if spec.time else []), *spec.series, *spec.categories)


def _in_any_order(spec: Spec) -> Spec:
    """Return the Spec without what looks back, where rows of several series share times."""
    if not spec.series:
        return spec
    return replace(spec, series=(), repeated="keep", missing="keep", lags=(), rolling=())
