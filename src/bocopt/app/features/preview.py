"""The first stages of a series, to look at."""

import math
from collections.abc import Iterator

from bocopt import arguments
from bocopt.app.features.series import Series
from bocopt.core import Array

_WIDEST = 40  # characters of a name or a time


def shown(series: Series, rows: int = 5) -> str:
    """Return the first stages as a text: one column for each stage, one line for each number.

    Outcomes and past decisions stand below what a decision sees, and after them the stage from
    which on the outcome is known.
    """
    arguments.kind("shown", "series", series, Series)
    rows = min(arguments.integer("shown", "rows", rows, "[1, 1000]"), len(series.time))
    lines = list(_lines(series, rows))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(_aligned(line, widths) for line in lines)


def _lines(series: Series, rows: int) -> Iterator[list[str]]:
    stages = range(rows)
    yield ["stage", *(str(t) for t in stages)]
    yield ["line", *(str(series.lines[t]) for t in stages)]
    yield ["time", *(_printable(series.time[t]) for t in stages)]
    yield from _numbers("sees", series.x_names, series.x[:rows])
    for i, name in enumerate(series.xi_names):
        yield [f"outcome {_printable(name)}", *(_seen(series, t, i) for t in stages)]
    if series.now is not None:
        names = tuple(str(number + 1) for number in range(series.now.shape[1]))
        yield from _numbers("decided", names, series.now[:rows])
    yield ["known at stage", *(_known_at(series, t) for t in stages)]


def _numbers(what: str, names: tuple[str, ...], values: Array) -> Iterator[list[str]]:
    for name, column in zip(names, values.T, strict=True):
        yield [f"{what} {_printable(name)}", *(f"{value:.6g}" for value in column)]


def _seen(series: Series, t: int, i: int) -> str:
    """Return what was seen of a number of the outcome of a stage."""
    if series.seen is None or not series.in_part[t]:
        return f"{series.xi[t, i]:.6g}"
    low, high = float(series.seen.low[t, i]), float(series.seen.high[t, i])
    if low == high:
        return f"{low:.6g}"
    return "not seen" if low == -math.inf else f"{low:.6g} or more"


def _known_at(series: Series, t: int) -> str:
    return str(series.arrives[t]) if series.arrives[t] < len(series.time) else "never"


def _printable(text: str) -> str:
    """Return a text on one line, and not too long."""
    plain = "".join(sign if sign.isprintable() else "?" for sign in text)
    return plain if len(plain) <= _WIDEST else f"{plain[: _WIDEST - 3]}..."


def _aligned(line: list[str], widths: list[int]) -> str:
    name, *cells = line
    padded = (cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))
    return "  ".join([name.ljust(widths[0]), *padded])
