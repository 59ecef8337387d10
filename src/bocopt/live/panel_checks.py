"""What may not be asked of a panel: one error tells all series with a fault."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from bocopt import arguments
from bocopt.core import Array, BoolArray, IntArray
from bocopt.live.held import Held
from bocopt.live.series_names import refuse


def check_due(
    names: Sequence[str],
    x: Array,
    ahead: IntArray,
    held: Held,
    rows: IntArray,
    waiting: IntArray,
    max_open: int,
) -> None:
    """Refuse numbers that are not due, other contexts, and series with too much that waits."""
    again = (ahead < 0) & (rows >= 0)
    other = again.copy()
    other[again] = differ(held.x[rows[again]], x[again])
    waits = (ahead == 0) & (waiting >= max_open)
    refuse(
        names,
        (ahead > 0, "have not come to the decision of that number"),
        ((ahead < 0) & (rows < 0), "took that decision too long ago to tell it again"),
        (other, "took the decision of that number under another context"),
        (waits, f"have {max_open} decisions that wait for their outcome, as max_open is"),
    )


def check_open(names: Sequence[str], xi: Array, held: Held, rows: IntArray) -> None:
    """Refuse outcomes of no decision that waits, other ones than before, and parts of one."""
    gaps = np.isnan(xi)
    there = rows >= 0
    other = there.copy()
    known, own = held.xi[rows[there]], xi[there]
    other[there] = differ(known, own) & ~held.open[rows[there]]
    refuse(
        names,
        (~there, "have no such decision that waits for its outcome"),
        (other, "already have another outcome of that decision, or gave it up"),
        (gaps.any(axis=1) & ~gaps.all(axis=1), "have only a part of their outcome"),
    )


def differ(one: Array, other: Array) -> BoolArray:
    """Return whether rows (n, k) differ; a gap is equal to a gap."""
    return np.asarray(((one != other) & ~(np.isnan(one) & np.isnan(other))).any(axis=1))


def numbers_of(method: str, numbers: ArrayLike, many: int) -> IntArray:
    """Return the numbers (n) of decisions, one for each series."""
    given = np.asarray(numbers)
    if given.dtype.kind not in "iu" or given.shape != (many,):
        expected = f"{many} whole numbers, one for each series"
        raise arguments.wrong(f"PanelAgent.{method}", "numbers", expected, numbers)
    return given.astype(np.int64)
