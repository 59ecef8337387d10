"""Section on calibration: whether outcomes lay where they were predicted to lie."""

from collections.abc import Mapping

import numpy as np
from scipy.special import betaincinv

from bocopt.app.page.frame import SIZE, Axis, ChartFrame, Key, framed
from bocopt.app.page.markup import paragraph, section, table, text
from bocopt.app.page.numbers import ends, percent, target
from bocopt.app.page.view import ReportView
from bocopt.core import Array

CALIBRATION = "Calibration"
_BINS, _MOST_CHARTS = 10, 9
_INTERVALS = (0.5, 0.9)


def calibration(view: ReportView) -> str:
    """Return the section on the first policy that predicts; empty where none does."""
    for policy in view.ordered:
        levels = _levels(view, policy)
        if levels:
            drawn = _DRAWN if view.in_part else ""
            return shown(f"<bdi>{text(policy)}</bdi>", levels, drawn)
    return ""


def _levels(view: ReportView, policy: str) -> dict[str, Array]:
    """Return by outcome the predicted chances (n) of a smaller one: uniform if the law is right."""
    info, series = view.findings.played[policy].info, view.findings.series
    found = probabilities(info)
    if found is None or found.shape[1] != len(series.xi_names):
        return {}
    stages = np.flatnonzero(view.findings.series.in_part)
    counted = found[np.union1d(view.stages, stages[stages >= view.findings.warm_up])]
    columns = [column[np.isfinite(column)] for column in counted.T]
    pairs = zip(_distinct(series.xi_names), columns, strict=True)
    return {outcome: column for outcome, column in pairs if column.size}


_DRAWN = (
    "Where an outcome was seen in part, a draw from what was predicted stands for it, within what "
    "was seen."
)


def probabilities(info: Mapping[str, Array]) -> Array | None:
    """Return the values (T, m) under the name that a mixture gives them, alone or as an arm."""
    for key, values in info.items():
        if key.split(".")[-1] == "probability" and values.ndim == 2:
            return values
    return None


def _distinct(names: tuple[str, ...]) -> list[str]:
    """Return names of which no two are the same."""
    return [n if names.count(n) == 1 else f"{n} ({i})" for i, n in enumerate(names, start=1)]


def coverage(levels: Array, inside: float) -> tuple[float, float, float]:
    """Return the share of outcomes (n) in the middle interval, and its exact binomial 95% interval.

    >>> [round(end, 3) for end in coverage(np.array([0.1, 0.4, 0.6, 0.9]), 0.5)]
    [0.5, 0.068, 0.932]

    Reference: Clopper, Pearson (1934), The use of confidence or fiducial limits.
    """
    hits, n = int((np.abs(levels - 0.5) <= inside / 2).sum()), len(levels)
    low = float(betaincinv(hits, n - hits + 1, 0.025)) if hits else 0.0
    high = float(betaincinv(hits + 1, n - hits, 0.975)) if hits < n else 1.0
    return hits / n, low, high


def shown(who: str, levels: dict[str, Array], more_said: str = "") -> str:
    """Return the section: who predicts, as markup, and by outcome the predicted chances of less."""
    header = ["outcome", "stages"]
    for inside in _INTERVALS:
        header += [f"inside the {target(inside)} interval", "95%"]
    charts = "".join(histogram(*item) for item in list(levels.items())[:_MOST_CHARTS])
    left = len(levels) - _MOST_CHARTS
    more = f"Drawn are the first {_MOST_CHARTS} of {len(levels)} outcomes." if left > 0 else ""
    return section(
        CALIBRATION,
        paragraph(
            f"{who} predicts a law before each outcome. If the laws are right, "
            "half of the outcomes lie in the middle 50% of what was predicted, and every bar below "
            "is about as high as the others. High at both ends: it is too sure of itself. High in "
            "the middle: not sure enough. High at one end: it predicts too little, or too much."
        ),
        table(header, [_row(*item) for item in levels.items()], label=CALIBRATION),
        f'<div class="many">\n{charts}</div>\n',
        paragraph(
            "95%: exact binomial, as if stages were independent.",
            "Bars are shares of the outcomes; about 95% of them would end in the tint by chance.",
            more,
            more_said,
            css="note",
        ),
    )


def _bar(left: float, wide: float, high: float) -> str:
    """Return the drawing of a bar, with a little room on both sides."""
    room = 0.08 * wide
    upwards = f"V{SIZE * (1 - high):.1f}h{wide - 2 * room:.0f}"
    return f'<path class="bar" d="M{left + room:.0f} {SIZE}{upwards}V{SIZE}Z"/>\n'


def _row(outcome: str, levels: Array) -> list[str]:
    cells = [outcome, f"{len(levels):,}"]
    for inside in _INTERVALS:
        share, low, high = coverage(levels, inside)
        cells += [f"{percent(share)}%", ends(percent(low), percent(high))]
    return cells


def histogram(outcome: str, levels: Array) -> str:
    """Return a chart of predicted chances (n) of less: ten bars beside those of chance alone."""
    counts, _ = np.histogram(levels, bins=_BINS, range=(0.0, 1.0))
    shares, fair, n = counts / len(levels), 1.0 / _BINS, len(levels)
    chance = 1.96 * np.sqrt(fair * (1.0 - fair) / n)
    low, high = max(fair - chance, 0.0), fair + chance
    top = 1.1 * max(float(shares.max()), high)
    wide = SIZE / _BINS
    bars = "".join(_bar(i * wide, wide, s / top) for i, s in enumerate(shares.tolist()))
    tint = (
        f'<path class="band s1" d="M0 {SIZE * (1 - high / top):.1f}H{SIZE}'
        f'V{SIZE * (1 - low / top):.1f}H0Z"/>\n'
        f'<path class="level" d="M0 {SIZE * (1 - fair / top):.1f}H{SIZE}"/>\n'
    )
    frame = ChartFrame(
        title=f"<bdi>{text(outcome)}</bdi>",
        caption="",
        keys=[Key("share", 1, "")],
        left=Axis([0.0, fair / top], ["0%", target(fair)]),
        below=Axis([0.0, 0.5, 1.0], ["low", "middle", "high"]),
        header=["predicted chance of less", "share of the outcomes", "number"],
        rows=[
            [f"{10 * i} to {10 * i + 10}%", f"{percent(s)}%", str(c)]
            for i, (s, c) in enumerate(zip(shares.tolist(), counts.tolist(), strict=True))
        ],
        bars=True,
    )
    return framed(frame, tint + bars)
