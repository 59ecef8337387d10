"""Charts as figures: SVG, PNG and PDF files, the same bytes for the same numbers."""

import io
from contextlib import AbstractContextManager
from importlib.util import find_spec
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from bocopt.app.text import plain
from bocopt_studies.report.blocks import Chart, Curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, PAPER = "#1f2328", "#fffffe"  # in the files; a page puts its own colours in their place
#: Colour-blind safe; the dashes keep the curves apart in grey.
_LINES: tuple[tuple[str, Any], ...] = (
    ("#0072b2", "-"),
    ("#d55e00", (0, (6, 1.5))),
    ("#009e73", (0, (6, 1.5, 1.5, 1.5))),
    ("#b8589a", (0, (1.5, 1))),
    ("#9a7400", (0, (3, 1.5))),
    ("#4a9fd8", (0, (8, 1.5, 1.5, 1.5, 1.5, 1.5))),
    ("#808080", (0, (4, 1, 1, 1))),
)
#: Files without dates and versions.
_FILES: dict[str, dict[str, Any]] = {
    "svg": {"metadata": {"Date": None, "Creator": None}},
    "png": {"metadata": {"Software": None}, "dpi": 200},
    "pdf": {"metadata": {"CreationDate": None, "Creator": None, "Producer": None}},
}
_LABEL_HEIGHT = 0.075  # of the axes


INSTALL = 'pip install "bocopt[plot]"'  # what brings matplotlib


def available() -> bool:
    """Return whether matplotlib, the extra `plot`, is installed."""
    return find_spec("matplotlib") is not None


def files(chart: Chart) -> dict[str, bytes]:
    """The contents of `<name>.svg`, `.png` and `.pdf`, by file name."""
    contents = {}
    with _style(chart.name):
        figure = draw(chart)
        for suffix, options in _FILES.items():
            content = io.BytesIO()
            figure.savefig(content, format=suffix, **options)
            contents[f"{chart.name}.{suffix}"] = content.getvalue()
    return contents


def draw(chart: Chart) -> "Figure":
    """Return the chart as a figure of matplotlib, with each curve's name at its end."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator, NullFormatter

    longest = max(len(_label(chart, curve)) for curve in chart.curves)
    figure = Figure(figsize=(max(6.0, 4.2 + 0.08 * longest), 3.6), layout="constrained")
    axes = figure.add_subplot()
    for curve, (colour, dashes) in zip(chart.curves, _lines(chart), strict=True):
        axes.plot(
            curve.t,
            curve.middle,
            color=colour,
            linestyle=dashes,
            linewidth=1.6,
            drawstyle="steps-mid" if chart.steps else "default",
        )
        if curve.low:
            axes.fill_between(curve.t, curve.low, curve.high, color=colour, alpha=0.18, lw=0)
    if chart.logarithmic:
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.xaxis.set_minor_formatter(NullFormatter())
    first, last = chart.curves[0].t[0], chart.curves[0].t[-1]
    axes.set_xlim(first, last if last > first else first + 1)
    axes.set_xlabel(plain(chart.x_label))
    axes.set_ylabel(plain(chart.y_label))
    axes.grid(visible=True, color=INK, alpha=0.12)
    _name_curves(axes, chart)
    return figure


def _name_curves(axes: "Axes", chart: Chart) -> None:
    """Each curve's name and last value at its end, moved apart where they would overlap."""
    to_axes = axes.transData + axes.transAxes.inverted()
    axes.get_ylim()  # fixes the limits
    heights = [float(to_axes.transform((c.t[-1], c.middle[-1]))[1]) for c in chart.curves]
    upwards = sorted(range(len(heights)), key=heights.__getitem__)
    for below, above in pairwise(upwards):
        heights[above] = max(heights[above], heights[below] + _LABEL_HEIGHT)
    heights[upwards[-1]] = min(heights[upwards[-1]], 1.0)
    for above, below in pairwise(reversed(upwards)):
        heights[below] = min(heights[below], heights[above] - _LABEL_HEIGHT)
    for curve, height, (colour, _) in zip(chart.curves, heights, _lines(chart), strict=True):
        axes.annotate(
            _label(chart, curve),
            xy=(1.0, height),
            xycoords="axes fraction",
            xytext=(5, 0),
            textcoords="offset points",
            color=colour,
            verticalalignment="center",
        )


def _label(chart: Chart, curve: Curve) -> str:
    label = plain(curve.label)
    return label if chart.steps else f"{label}: {curve.middle[-1]:#.3g}"


def _lines(chart: Chart) -> list[tuple[str, Any]]:
    return [_LINES[i % len(_LINES)] for i in range(len(chart.curves))]


def _style(name: str) -> AbstractContextManager[None]:
    """Whatever the user's own matplotlib settings are."""
    from matplotlib import style

    return style.context(["default", _OURS | {"svg.hashsalt": name, "svg.id": name}])


_OURS: dict[str, Any] = {
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "figure.facecolor": PAPER,
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "font.size": 10,
    "svg.fonttype": "none",
    "text.parse_math": False,  # a $ is a $
}
