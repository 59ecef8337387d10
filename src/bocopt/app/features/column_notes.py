"""Notes on the columns that a decision sees: gaps, values that are new, holidays."""

from collections.abc import Iterator

import numpy as np

from bocopt.app.features.category import GAP, OTHER
from bocopt.app.features.featuriser import Featuriser
from bocopt.app.features.memory import filled_all
from bocopt.app.features.odd import alike
from bocopt.app.features.public_holidays import version
from bocopt.app.features.spec import Spec
from bocopt.app.features.stages import Stages, TableColumns
from bocopt.app.reading.columns import Table
from bocopt.core import IntArray

_RULES = {
    "last": "the last known one stands for it, and 0 before the first",
    "keep": "it stays so",
}


def notes_of_columns(
    frame: Table, stages: Stages, featuriser: Featuriser, columns: TableColumns, *, alone: bool
) -> Iterator[str]:
    """Yield notes on what the columns of a table hold, in the order of x.

    Where a series is not alone, its categories are those of a larger table.
    """
    spec = featuriser.spec
    for name, missing in zip(spec.context, np.isnan(columns.numbers).sum(axis=1), strict=True):
        yield from _gaps(spec, name, int(missing), len(frame))
    for name, codes in zip(spec.categories, columns.codes, strict=True):
        yield from _gaps(spec, name, int((codes == GAP).sum()), len(frame))
        yield from _others(spec, name, codes, stages.unit if alone else "times")
        if alone:
            yield from (f"{note}." for note in alike(name, {*frame.texts(name)} - {""}))
    if spec.holidays:
        region, made = spec.holidays, version()
        yield f"The holidays are those of {region}, by version {made} of 'holidays'."


def _gaps(spec: Spec, name: str, count: int, rows: int) -> Iterator[str]:
    if count:
        some = "all" if count == rows else count
        yield f"'{name}' is missing in {some} of {rows} rows: {_RULES[spec.missing]}."


def _others(spec: Spec, name: str, codes: IntArray, unit: str) -> Iterator[str]:
    if spec.missing == "last":
        codes = filled_all(np.array([GAP], np.int64), codes[None], codes[None] == GAP)[0]
    others = int((codes == OTHER).sum())
    if others:
        yield (
            f"'{name}' has values that are not in the first {spec.warm_up} {unit} in {others} "
            f"of {len(codes)} rows: they count as none of the others."
        )
