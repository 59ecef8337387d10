"""Sections on what was paid over time, and on how all policies compare."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from bocopt.app.page.contrast import Contrast, Ends, contrast, level
from bocopt.app.page.feasible import band, share
from bocopt.app.page.markup import paragraph, section, table, text
from bocopt.app.page.numbers import NONE, decimals, ends, fixed, percent, target
from bocopt.app.page.plot import Level, Line, lines, styles
from bocopt.app.page.view import ReportView
from bocopt.compared import NO_SAMPLE, RECORDED
from bocopt.core import Sense
from bocopt.guarantees.phrases import together

OVER_TIME, POLICIES = "Over time", "All policies"


def over_time(view: ReportView) -> str:
    """Return charts of cumulative gains against the reference, and of costs or rewards."""
    if not view.stages.size:
        return ""
    return section(OVER_TIME, _gains(view), _totals(view))


def _gained(view: ReportView) -> str:
    return "Saved" if view.findings.sense is Sense.MINIMISE else "Earned more"


def _in_unit(view: ReportView) -> str:
    return f" ({text(view.findings.unit)})" if view.findings.unit else ""


def _against(view: ReportView) -> str:
    return "what is done now" if view.findings.now is not None else view.reference or ""


def _thinning(view: ReportView) -> str:
    if len(view.drawn) == len(view.stages):
        return "Every stage is drawn."
    return f"{len(view.drawn)} of {len(view.stages):,} stages are drawn, evenly; sums count all."


def _gains(view: ReportView) -> str:
    if view.reference is None:
        return ""
    style, played = styles(view), view.findings.played
    reference = played[view.reference].cost
    at = np.searchsorted(view.stages, view.drawn)
    drawn = [
        Line(p, np.nancumsum((reference - played[p].cost)[view.stages])[at], style[p])
        for p in view.ordered
        if p != view.reference
    ]
    title = f"{_gained(view)} in all against <bdi>{text(_against(view))}</bdi>{_in_unit(view)}"
    caption = (
        f"Sums since the warm-up; above the line at 0 is better.{_left_out(view)} {_thinning(view)}"
    )
    return lines(view, title, caption, drawn, Level("", 0.0))


def _totals(view: ReportView) -> str:
    style, played = styles(view), view.findings.played
    at = np.searchsorted(view.stages, view.drawn)
    drawn = [
        Line(p, np.nancumsum(view.shown(played[p].cost)[view.stages])[at], style[p])
        for p in view.ordered
    ]
    word = view.findings.sense.value
    better = "lower" if view.findings.sense is Sense.MINIMISE else "higher"
    title = f"{word.capitalize()} in all{_in_unit(view)}"
    return lines(
        view, title, f"Sums since the warm-up; {better} is better.{_left_out(view)}", drawn
    )


def _left_out(view: ReportView) -> str:
    if not view.in_part:
        return ""
    return f" Left out: {view.in_part:,} stages whose outcome was seen in part."


def policies(view: ReportView, feasible: Mapping[str, str] | None = None) -> str:
    """Return the table of all policies.

    feasible    what is said of each in that column, where stages are sums of decisions
    """
    if not view.stages.size:
        return ""
    word, gained = view.findings.sense.value, _gained(view).lower()
    contrasts = {p: contrast(view, p) for p in view.ordered}
    header = ["policy", f"{word} a stage"]
    if view.certified:
        header += [gained, f"{100 * level(view):g}%, at all times", "95%, one look", "on average"]
    elif view.reference is not None:
        header += [gained, "95%, one look"]
    alpha = view.findings.alpha
    asked = "" if alpha is None else f" (target {target(alpha)})"
    header += [f"feasible{asked}", "regret"]
    rows = _rows(view, contrasts, feasible)
    shown = table(header, rows, label=POLICIES, strong=view.first)
    legend = _legend(view, contrasts, summed=feasible is not None)
    return section(POLICIES, shown, paragraph(legend, css="note"))


def _rows(
    view: ReportView, contrasts: dict[str, Contrast | None], feasible: Mapping[str, str] | None
) -> list[list[str]]:
    played = [view.findings.played[p] for p in view.ordered]
    paid = [view.findings.sense.sign * view.mean(one.cost) for one in played]
    regret = [view.mean(one.cost - one.hindsight) for one in played]
    digits = decimals(found.gain for found in contrasts.values() if found is not None)
    rows = []
    for policy, one, mean, above in zip(view.ordered, played, paid, regret, strict=True):
        cells = [policy, fixed(mean, decimals(paid))]
        if view.reference is not None:
            cells += _differences(view, contrasts[policy], digits)
        met = feasible[policy] if feasible else _feasible(share(view, one), band(view, one))
        rows.append([*cells, met, fixed(above, decimals(regret))])
    return rows


def _feasible(share: float, band: Ends) -> str:
    if math.isnan(share):
        return NONE
    return f"{percent(share)}% ({ends(percent(band[0]), percent(band[1]))})"


def _differences(view: ReportView, found: Contrast | None, digits: int) -> list[str]:
    if found is None:
        return [NONE] * (4 if view.certified else 2)
    percents = "" if math.isnan(found.share) else f" ({percent(found.share)}%)"
    seen, once = f"{fixed(found.gain, digits)}{percents}", _interval(found.once, digits)
    if not view.certified:
        return [seen, once]
    return [seen, _interval(found.always, digits), once, surely(view, found)]


def _interval(bounds: Ends | None, digits: int) -> str:
    return NONE if bounds is None else ends(fixed(bounds[0], digits), fixed(bounds[1], digits))


def surely(view: ReportView, found: Contrast) -> str:
    """Return whether a policy is better or worse on average, and since when that is known."""
    if found.always is None:
        return NONE
    if not found.verdict:
        return "open"
    side = "better" if found.verdict > 0 else "worse"
    return f"{side}, known since {view.times[int(found.since)]}"


def _legend(view: ReportView, contrasts: dict[str, Contrast | None], summed: bool) -> str:
    unit = f" in {text(view.findings.unit)}" if view.findings.unit else ""
    seen = " whose outcome was seen in full, which depends on what it was" * bool(view.in_part)
    said = f"Means a stage{unit} over {len(view.stages):,} stages{seen}. "
    known = [found for found in contrasts.values() if found is not None]
    said += _compared(view, known)
    if summed:
        of = " whose outcome is known" if any(one.missing for one in known) else ""
        return f"{said}Feasible: share of the decisions{of}. Regret: to hindsight."
    return f"{said}Feasible: {_band_of(view)}, at all times. {_together(view)}Regret: to hindsight."


def _compared(view: ReportView, known: Sequence[Contrast]) -> str:
    """Return the sentences that say what differences and their intervals mean and assume."""
    said = ""
    if known:
        said += f"{_gained(view)}: against <bdi>{text(_against(view))}</bdi>, positive is better. "
        blocks = ", ".join(str(length) for length in sorted({found.block for found in known}))
        said += (
            f"One look: {NO_SAMPLE}. "
            if view.in_part
            else f"One look: roughly, by a block bootstrap (blocks of {blocks}) for the mean of a "
            "process that does not change, asymptotic, each policy alone. "
        )
    if view.certified:
        said += (
            "At all times: a confidence sequence for the expected difference at these stages on "
            "average, all policies together. On average: whether that is on one side of 0, and "
            "since when this is known; it says nothing of the stages since. "
        )
    if any(found.missing for found in known):
        said += "What was not seen of an outcome counts at all times at its worst for either side. "
    if any(found.unrecorded for found in known):
        said += f"It is assumed that {RECORDED}. "
    return said


def _band_of(view: ReportView) -> str:
    if any(len(view.missing(played)) for played in view.findings.played.values()):
        whose = "of the stages whose outcome is known"
        return f"{whose}, with a {view.sure} band of all, whatever is missing"
    return f"with its {view.sure} band"


def _together(view: ReportView) -> str:
    """Return how sure all bands and comparisons are together; empty where there is one."""
    bands = [band(view, played) for played in view.findings.played.values()]
    deltas = [view.findings.delta for low, _ in bands if not math.isnan(low)]
    certified = any(found.certificate.applicable for found in view.findings.compared.values())
    said = together([*deltas, *[1.0 - level(view)] * certified], "bands and comparisons")
    return f"{said} " if said else ""
