"""Section on feasibility: how often decisions were feasible, beside the target."""

import math

import numpy as np

from bocopt.app.findings import Played
from bocopt.app.page.markup import paragraph, section, text
from bocopt.app.page.numbers import ends, percent, span, target
from bocopt.app.page.plot import Level, Line, lines, styles
from bocopt.app.page.view import ReportView
from bocopt.compared import RECORDED, whatever
from bocopt.core import Array
from bocopt.guarantees import Feasibility
from bocopt.guarantees.feasibility import Counts

FEASIBILITY = "Feasibility"


def share(view: ReportView, played: Played) -> float:
    """Return the share of feasible decisions at the stages that count; NaN where it is unknown."""
    known = played.feasible[view.judged]
    known = known[np.isfinite(known)]
    return float(known.mean()) if known.size else math.nan


def band(view: ReportView, played: Played) -> tuple[float, float]:
    """Return the band of the chance of a feasible decision, at all times at once; NaN if unknown.

    It is that of all stages, whatever the outcomes were that never came.
    """
    counts = _counts(view, played)
    if not counts.t.size or counts.t[-1] == 0:
        return math.nan, math.nan
    whole = Counts(*(part[-1] for part in counts))
    low, high = _ends(view, whole, np.array(float(len(view.missing(played)))))
    return float(low), float(high)


def feasibility(view: ReportView) -> str:
    """Return running shares with the first policy's band, or a sentence if all was feasible."""
    policies = {p: played for p, played in view.findings.played.items() if _known(view, played)}
    if not policies:
        return ""
    alpha = view.findings.alpha
    if alpha in (None, 1.0) and all(share(view, played) == 1.0 for played in policies.values()):
        return section(FEASIBILITY, paragraph(_always(view)))
    style = styles(view)
    drawn = [_line(view, p, style[p]) for p in view.ordered if p in policies]
    level = None if alpha is None else Level("target", 100.0 * alpha)
    caption = (
        f"Shares of all stages so far{_known_only(view)}, in percent. {_target(alpha)}The band is "
        f"that of <bdi>{text(view.first)}</bdi>: {view.sure}, at all times at once"
        f"{_whatever(view)}. Early stages may leave the picture."
    )
    chart = lines(view, "Feasible so far (%)", caption, drawn, level, limits(drawn, level))
    return section(FEASIBILITY, paragraph(_verdict(view)), chart)


def limits(drawn: list[Line], level: Level | None) -> tuple[float, float]:
    """Return the limits of the chart, which the first stages, little known, do not squeeze."""
    settled = slice(len(drawn[0].values) // 5, None)
    parts = [
        part[settled] for line in drawn for part in (line.values, line.low) if part is not None
    ]
    low, _ = span([*parts, *([np.array([level.value])] if level else [])])
    return min(max(low, 0.0), 99.0), 100.0


def _known(view: ReportView, played: Played) -> bool:
    return bool(np.isfinite(played.feasible[view.stages]).any())


def _target(alpha: float | None) -> str:
    return "" if alpha is None else f"The horizontal line is the target, {target(alpha)}. "


def _known_only(view: ReportView) -> str:
    return " whose outcome is known" if len(view.missing(view.played)) else ""


def _whatever(view: ReportView) -> str:
    missing = len(view.missing(view.played))
    return f", {whatever(missing, view.in_part)}" if missing else ""


def _provided(view: ReportView) -> str:
    """Return an assumption on stages without a decision of some policy, which do not count."""
    return f", provided that {RECORDED}" if view.left_out else ""


def _always(view: ReportView) -> str:
    low, _ = band(view, view.played)
    every = f"Every decision of every policy{_known_only(view)} was feasible."
    if math.isnan(low):
        return every
    return (
        f"{every} With {view.sure} confidence, at all times at once{_whatever(view)}, "
        f"the chance of one that is not is at most {percent(1.0 - low)}% for "
        f"<bdi>{text(view.first)}</bdi>{_provided(view)}."
    )


def _verdict(view: ReportView) -> str:
    (low, high), alpha = band(view, view.played), view.findings.alpha
    if math.isnan(low):
        return ""
    seen = (
        f"<bdi>{text(view.first)}</bdi> was feasible in {percent(share(view, view.played))}% of "
        f"the {_how_many(view)}: {ends(percent(low), percent(high))})"
        f"{_provided(view)}"
    )
    if alpha is None:
        return f"{seen}. No target was declared."
    asked = f"the target of {target(alpha)}"
    if low < alpha <= high:
        return f"{seen}: whether {asked} is met is open."
    return f"{seen}: {asked} is {'met' if low >= alpha else 'not met'}."


def _how_many(view: ReportView) -> str:
    """Return the words for the stages that the share is of, and for those that the band is of."""
    missing = len(view.missing(view.played))
    if not missing:
        return f"stages ({view.sure}, at all times"
    known = int(np.isfinite(view.played.feasible[view.judged]).sum())
    return (
        f"{known:,} stages whose outcome is known ({view.sure}, at all times, of all "
        f"{known + missing:,} {whatever(missing, view.in_part)}"
    )


def _counts(view: ReportView, played: Played) -> Counts:
    """Return the counts (n) so far, at each stage that counts."""
    feasible = played.feasible[view.judged]
    known = np.isfinite(feasible)
    infeasible = np.cumsum(known & (feasible < 0.5)).astype(float)
    return Counts.of(np.cumsum(known).astype(float), infeasible)


def _ends(view: ReportView, counts: Counts, missing: Array) -> tuple[Array, Array]:
    least, most = Feasibility(delta=view.findings.delta).interval(counts, missing)
    return 1.0 - most, 1.0 - least


def _line(view: ReportView, policy: str, style: int) -> Line:
    at = np.searchsorted(view.judged, view.drawn)
    played = view.findings.played[policy]
    counts = Counts(*(part[at] for part in _counts(view, played)))
    missing = np.searchsorted(view.missing(played), view.drawn).astype(float)  # before each
    seen = counts.t > 0
    running = np.where(seen, 1.0 - counts.infeasible / np.maximum(counts.t, 1.0), np.nan)
    if policy != view.first:
        return Line(policy, 100.0 * running, style)
    low, high = (np.where(seen, 100.0 * end, np.nan) for end in _ends(view, counts, missing))
    return Line(policy, 100.0 * running, style, low, high)
