"""Lines and stacked areas over stages, as drawings."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from bocopt.app.page.frame import SIZE, Axis, ChartFrame, Key, framed
from bocopt.app.page.numbers import figure, span, ticks
from bocopt.app.page.view import ReportView
from bocopt.core import Array, IntArray

_LONGEST = 16  # of a label below a chart
_STYLES = 7  # that lines can have: see page.css


class Across(Protocol):
    """Stages along the axis below a chart."""

    @property
    def axis(self) -> str:
        """Return the name of the axis, such as "time"."""
        ...

    @property
    def drawn(self) -> IntArray:
        """Return the numbers (n) of the stages that are drawn."""
        ...

    @property
    def times(self) -> Sequence[str]:
        """Return the labels of all stages, also of those that are not drawn."""
        ...


class Line(NamedTuple):
    """Line of values (n), NaN where there is none. The style is a number: colour and dashes."""

    label: str
    values: Array
    style: int
    low: Array | None = None  # (n) a band around it
    high: Array | None = None


class Level(NamedTuple):
    """A horizontal line that others are read against."""

    label: str
    value: float


def styles(view: ReportView) -> dict[str, int]:
    """Return the style of each policy's line: 0 for the first, 1 for what it is compared with."""
    rest = iter(range(2, 2 + len(view.findings.played)))
    fixed = {view.first: 0} | ({view.reference: 1} if view.reference else {})
    return {
        p: fixed[p] if p in fixed else 2 + (next(rest) - 2) % (_STYLES - 2) for p in view.ordered
    }


def _span(drawn: Sequence[Line], level: Level | None) -> tuple[float, float]:
    """Return the span of all that is drawn, bands and the level included."""
    bands = [part for line in drawn for part in (line.values, line.low, line.high)]
    at = None if level is None else np.array([level.value])
    return span([part for part in (*bands, at) if part is not None])


def _with_room(low: float, high: float) -> tuple[float, float]:
    room = 0.04 * (high - low)
    return low - room, high + room


def lines(
    view: Across,
    title: str,
    caption: str,
    drawn: Sequence[Line],
    level: Level | None = None,
    limits: tuple[float, float] | None = None,
) -> str:
    """Return a chart of lines over the stages that are drawn, cut off beyond the limits."""
    low, high = _with_room(*(limits or _span(drawn, level)))
    across = places(view)
    bands = [_band(across, line, low, high) for line in drawn if line.low is not None]
    curves = [
        f'<path class="line s{line.style}" d="{_path(across, _up(line.values, low, high))}"/>\n'
        for line in reversed(drawn)
    ]
    keys = [Key(line.label, j, mark(line.style)) for j, line in enumerate(drawn, start=1)]
    at = ticks(low, high)
    frame = ChartFrame(
        title=title,
        caption=caption,
        keys=keys,
        left=Axis([(tick - low) / (high - low) for tick in at], [figure(tick) for tick in at]),
        below=time_axis(view),
        header=[view.axis, *(line.label for line in drawn), *_band_names(drawn)],
        rows=_rows(view, drawn),
    )
    return framed(frame, "".join([*bands, _level(level, low, high), *curves]))


def _level(level: Level | None, low: float, high: float) -> str:
    if level is None:
        return ""
    down = float(_up(np.array(level.value), low, high))
    return f'<path class="level" d="M0 {down:.1f}H{SIZE}"/>\n'


def mark(style: int) -> str:
    """Return the markup of a legend key: a short line in one of the styles."""
    return (
        '<svg class="key" viewBox="0 0 30 8" aria-hidden="true">'
        f'<path class="line s{style}" d="M0 4H30"/></svg>'
    )


def places(view: Across) -> Array:
    """Return the places (n) of the stages that are drawn, from 0 to `SIZE`."""
    stages = view.drawn - view.drawn[0]
    return np.asarray(SIZE * stages / max(int(stages[-1]), 1))


def time_axis(view: Across) -> Axis:
    """Return the axis below, with the labels of at most five of the stages that are drawn."""
    count = len(view.drawn)
    chosen = sorted({0, count // 4, count // 2, 3 * count // 4, count - 1})
    across = places(view)
    return Axis(
        [float(across[i]) / SIZE for i in chosen],
        [_short(view.times[view.drawn[i]]) for i in chosen],
    )


def _short(words: str) -> str:
    return words if len(words) <= _LONGEST else f"{words[: _LONGEST - 1]}\u2026"


def _up(values: Array, low: float, high: float) -> Array:
    """Return the distances of values from the top: 0 for `high`, `SIZE` for `low`."""
    return np.asarray(SIZE * (high - values) / (high - low))


def _path(across: Array, down: Array) -> str:
    """Return lines between the points that there are; one point alone is a line over the width."""
    if len(across) == 1:
        return f"M0 {down[0]:.1f}H{SIZE}" if np.isfinite(down[0]) else ""
    steps, begun = [], False
    for x, y in zip(across.tolist(), down.tolist(), strict=True):
        if np.isfinite(y):
            steps.append(f"{'L' if begun else 'M'}{x:.1f} {y:.1f}")
        begun = bool(np.isfinite(y))
    return "".join(steps)


def area(across: Array, top: Array, bottom: Array) -> str:
    """Return the outline of the area between two lines."""
    if len(across) == 1:
        across, top, bottom = np.array([0.0, SIZE]), np.repeat(top, 2), np.repeat(bottom, 2)
    known = np.isfinite(top) & np.isfinite(bottom)
    there = zip(across[known], top[known], strict=True)
    back = zip(across[known][::-1], bottom[known][::-1], strict=True)
    points = [f"{x:.1f} {y:.1f}" for x, y in [*there, *back]]
    return f"M{'L'.join(points)}Z" if points else ""


def _band(across: Array, line: Line, low: float, high: float) -> str:
    if line.low is None or line.high is None:
        return ""
    top, bottom = _up(line.high, low, high), _up(line.low, low, high)
    return f'<path class="band s{line.style}" d="{area(across, top, bottom)}"/>\n'


def _band_names(drawn: Sequence[Line]) -> list[str]:
    return [
        f"{line.label}, {end}"
        for line in drawn
        if line.low is not None
        for end in ("least", "most")
    ]


def _rows(view: Across, drawn: Sequence[Line]) -> list[list[str]]:
    bands = [part for line in drawn for part in (line.low, line.high) if part is not None]
    columns = [*(line.values for line in drawn), *bands]
    numbers = zip(*(column.tolist() for column in columns), strict=True)
    return [
        [view.times[stage], *map(figure, row)]
        for stage, row in zip(view.drawn.tolist(), numbers, strict=True)
    ]
