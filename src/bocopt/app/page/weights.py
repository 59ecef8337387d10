"""Section on weights: whom a policy trusted over time, its arms and the laws it predicts by."""

from math import isnan
from typing import NamedTuple

import numpy as np

from bocopt.app.page.frame import SIZE, Axis, ChartFrame, Key, framed
from bocopt.app.page.markup import labels, paragraph, section, text
from bocopt.app.page.numbers import NONE, percent
from bocopt.app.page.plot import Across, area, places, time_axis
from bocopt.app.page.view import ReportView
from bocopt.core import Array

WEIGHTS = "Weights"
_MOST = 6  # areas; the rest is one
_SEEN = 0.04  # of the height, from which an area has room for its number


class _WeightVector(NamedTuple):
    key: str  # in the info
    one: str  # what each weight is of, where it has no name
    title: str


_VECTORS = (
    _WeightVector("arm_weights", "arm", "Arms: whose decision is taken"),
    _WeightVector("weights", "law", "Laws: which predictions are mixed"),
)


def weights(view: ReportView) -> str:
    """Return the section on weights of the first policy that shows any; empty where none does."""
    if not view.stages.size:
        return ""
    for policy in view.ordered:
        info = view.findings.played[policy].info
        given = [vector for vector in _VECTORS if vector.key in info and info[vector.key].ndim == 2]
        vectors = [vector for vector in given if _are_weights(info[vector.key][view.drawn])]
        if vectors:
            charts = [_stacked_weights(view, vector, info[vector.key]) for vector in vectors]
            said = f"Of <bdi>{text(policy)}</bdi>, after each outcome, in percent."
            return section(WEIGHTS, paragraph(said), *charts)
    return ""


def _are_weights(values: Array) -> bool:
    """Return True for two or more values (T, n) that sum to 1 wherever they are known."""
    if values.shape[1] < 2:
        return False
    sums = values.sum(axis=1)
    known = np.isfinite(sums)
    return bool(known.any() and (values[known] >= 0).all() and np.allclose(sums[known], 1.0))


def _stacked_weights(view: ReportView, vector: _WeightVector, values: Array) -> str:
    named = labels(view.names, vector.key, values.shape[1], vector.one)
    return stacked(view, vector.title, values[view.drawn], named)


def stacked(view: Across, title: str, values: Array, named: list[str]) -> str:
    """Return a chart of shares (n, k) of what is named, at the stages that are drawn."""
    shares, shown = _largest(values, named)
    tops = np.cumsum(shares, axis=1)
    bottoms = tops - shares
    across = places(view)
    areas = [
        f'<path class="area a{j % (_MOST + 1)}" '
        f'd="{area(across, SIZE * (1 - tops[:, j]), SIZE * (1 - bottoms[:, j]))}"/>\n'
        for j in range(len(shown))
    ]
    numbers = [_number(view, j, shares[:, j], bottoms[:, j]) for j in range(len(shown))]
    frame = ChartFrame(
        title=title,
        caption="Numbers in the areas are those of the legend, from the bottom up.",
        keys=[Key(label, j + 1, _mark(j)) for j, label in enumerate(shown)],
        left=Axis([0.0, 0.5, 1.0], ["0%", "50%", "100%"]),
        below=time_axis(view),
        header=[view.axis, *shown],
        rows=[
            [view.times[stage], *map(_percent, row)]
            for stage, row in zip(view.drawn.tolist(), shares.tolist(), strict=True)
        ],
    )
    return framed(frame, "".join(areas), "".join(numbers))


def _percent(share: float) -> str:
    """Return a share in percent, rounded where it is next to zero: 5e-53% is no news."""
    return NONE if isnan(share) else f"{percent(round(share, 4))}%"


def _largest(values: Array, named: list[str]) -> tuple[Array, list[str]]:
    """Return the columns with most weight on average, in their order, and the sum of the others."""
    if len(named) <= _MOST + 1:
        return values, named
    kept = np.sort(np.argsort(-np.nanmean(values, axis=0), kind="stable")[:_MOST])
    rest = 1.0 - values[:, kept].sum(axis=1, keepdims=True)
    others = f"{len(named) - _MOST} others"
    return np.hstack([values[:, kept], np.maximum(rest, 0.0)]), [*(named[i] for i in kept), others]


def _mark(j: int) -> str:
    return (
        '<svg class="key" viewBox="0 0 30 8" aria-hidden="true">'
        f'<path class="area a{j % (_MOST + 1)}" d="M0 0H30V8H0Z"/></svg>'
        f'<span class="badge">{j + 1}</span>'
    )


def _number(view: Across, j: int, share: Array, bottom: Array) -> str:
    """Return the number of an area, drawn where it is highest; empty if low, or at an edge."""
    inner = np.where((places(view) >= 0.03 * SIZE) & (places(view) <= 0.97 * SIZE), share, -1.0)
    at = int(np.nanargmax(inner))
    if not inner[at] >= _SEEN:
        return ""
    left, down = 100 * places(view)[at] / SIZE, 100 * (1 - bottom[at] - share[at] / 2)
    place = f'x="{left:.1f}%" y="{down:.1f}%"'
    circle = f'<circle cx="{left:.1f}%" cy="{down:.1f}%" r=".65rem"/>'
    return f'<g class="inside">{circle}<text {place}>{j + 1}</text></g>\n'
