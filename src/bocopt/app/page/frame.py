"""Frame of a chart, around its drawing: title, legend, axes, and its numbers as a table.

The drawing is stretched to whatever room there is, and texts stand beside it: they keep their size
on a phone and on paper. Nothing has a style of its own, which a strict policy of a server would
not let through. A script moves a cursor over it, and shows in the legend the
row of the table that is nearest; without one the legend shows the last.
"""

from collections.abc import Sequence
from typing import NamedTuple

from bocopt.app.page.markup import name, table, text, unmarked

SIZE = 1000  # of a drawing, in its own units, both ways
_WIDEST = 16  # letters beside a chart: see page.css
_LONG = 11  # letters of a label, from which three of them do not fit on a phone


class Key(NamedTuple):
    """An entry of the legend."""

    label: str
    column: int  # of the table, whose cell is shown
    mark: str  # markup


class Axis(NamedTuple):
    """Labels along an axis, each at a share of its length: from the left, or from the bottom."""

    at: Sequence[float]
    labels: Sequence[str]


class ChartFrame(NamedTuple):
    """Chart, all but its drawing; title and caption are markup."""

    title: str
    caption: str
    keys: Sequence[Key]
    left: Axis
    below: Axis
    header: Sequence[str]
    rows: Sequence[Sequence[str]]  # the first cell says where on the axis below
    bars: bool = False  # a row is a stretch of the axis rather than a point of it


def framed(frame: ChartFrame, drawing: str, over: str = "") -> str:
    """Return the whole figure; `over` is SVG that lies on the drawing, with places in percent."""
    gutter = max((len(label) for label in frame.left.labels), default=1)
    title = unmarked(frame.title)
    label = f"{title}. {frame.header[0]}: {', '.join(frame.header[1:])}"
    return (
        f'<figure class="plotted"{" data-bars" if frame.bars else ""}>\n'
        f"<figcaption><b>{frame.title}</b></figcaption>\n{_legend(frame)}"
        f'<div class="plot g{min(gutter, _WIDEST)}">\n{_left(frame.left)}'
        f'<div class="canvas" role="img" aria-label="{text(label)}">\n'
        f'<svg viewBox="0 0 {SIZE} {SIZE}" preserveAspectRatio="none" aria-hidden="true">\n'
        f"{_grid(frame.left)}{drawing}</svg>\n{_over(over)}"
        f'<i class="cursor" hidden></i></div>\n{_below(frame.below)}</div>\n'
        f'<p class="note">{frame.caption}</p>\n'
        f"<details><summary>These numbers as a table</summary>\n"
        f"{table(frame.header, frame.rows, label=label)}</details>\n</figure>\n"
    )


def _over(markup: str) -> str:
    return f'<svg class="over" aria-hidden="true">{markup}</svg>\n' if markup else ""


def _legend(frame: ChartFrame) -> str:
    last = frame.rows[-1]
    items = "".join(
        f"<li>{key.mark}{name(key.label)} "
        f'<b data-column="{key.column}">{text(last[key.column])}</b></li>\n'
        for key in frame.keys
    )
    where = f'<li class="where"><b data-column="0">{text(last[0])}</b></li>\n'
    return f'<ul class="legend">\n{where}{items}</ul>\n'


def _left(axis: Axis) -> str:
    spans = "".join(
        f'<text x="100%" y="{100 * (1 - at):.2f}%">{text(label)}</text>'
        for at, label in zip(axis.at, axis.labels, strict=True)
    )
    return f'<div class="beside"><svg class="left" aria-hidden="true">{spans}</svg></div>\n'


def _below(axis: Axis) -> str:
    spans = "".join(
        f'<text x="{100 * at:.2f}%" y="1.25em">{text(label)}</text>'
        for at, label in zip(axis.at, axis.labels, strict=True)
    )
    long = " long" if max(map(len, axis.labels), default=0) > _LONG else ""
    return f'<svg class="below{long}" aria-hidden="true">{spans}</svg>\n'


def _grid(axis: Axis) -> str:
    return "".join(f'<path class="grid" d="M0 {SIZE * (1 - at):.1f}H{SIZE}"/>\n' for at in axis.at)
