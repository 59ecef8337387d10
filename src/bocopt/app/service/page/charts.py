"""Charts of a stream's outcomes over time: reward, feasibility, weights and calibration."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from bocopt.app.page.calibration import shown
from bocopt.app.page.feasible import limits
from bocopt.app.page.markup import paragraph, section, text
from bocopt.app.page.numbers import ends, percent, span, target
from bocopt.app.page.plot import Level, Line, lines
from bocopt.app.page.weights import stacked
from bocopt.app.service.page.seen import StreamView
from bocopt.app.service.stores import OutcomeTotals
from bocopt.app.service.summaries import read
from bocopt.app.text import count
from bocopt.core import Array, IntArray, Sense
from bocopt.guarantees import Feasibility
from bocopt.guarantees.feasibility import Counts

_SETTLED = 0.05  # of the outcomes: before that, averages of a few squeeze the rest of the picture


class OutcomeSeries(NamedTuple):
    """Along the axis below."""

    drawn: IntArray
    times: Sequence[str]
    axis: str = "after"


def _across(drawn: Sequence[OutcomeTotals]) -> OutcomeSeries:
    return OutcomeSeries(np.arange(len(drawn)), [f"outcome {each.n:,}" for each in drawn])


def reward(seen: StreamView) -> str:
    """The average so far, of the latest, and in hindsight."""
    word, sign = seen.template.problem.sense.value, seen.template.problem.sense.sign
    shown = seen.in_full
    n = np.array([each.known for each in shown], float)
    costs = np.array([each.costs for each in shown])
    drawn = [
        Line("all so far", sign * costs / n, 0),
        Line(f"the latest {seen.back}", sign * _latest(seen), 4),
    ]
    if all(each.hindsights is not None for each in shown):
        best = np.array([each.hindsights for each in shown], float)
        drawn.append(Line("in hindsight", sign * best / n, 1))
    drawn = [line for line in drawn if np.isfinite(line.values).any()]
    better = "lower" if seen.template.problem.sense is Sense.MINIMISE else "higher"
    caption = (
        f"Averages of the {word} of a decision; {better} is better. In hindsight: had every "
        "outcome been known, which nobody can reach. The first outcomes may leave the picture."
        f"{_left_out(seen)}"
    )
    settled = slice(int(_SETTLED * len(n)), None)
    around = span([line.values[settled] for line in drawn])
    title = f"Average {word}{f' ({text(seen.template.unit)})' if seen.template.unit else ''}"
    chart = lines(_across(shown), title, caption, drawn, limits=around)
    return section(word.capitalize(), chart)


def _left_out(seen: StreamView) -> str:
    """Return a sentence on outcomes that no average has; empty if there are none."""
    if not seen.in_part:
        return ""
    return f" {count(seen.in_part, 'outcome')} seen in part: what these decisions cost is unknown."


def _latest(seen: StreamView) -> Array:
    """(n) the average cost of the latest, NaN where there are not as many."""
    values = np.full(len(seen.in_full), np.nan)
    for i, each in enumerate(seen.in_full):
        if each.n == seen.back:
            values[i] = each.costs / each.known
        elif each.n - seen.back in seen.before:
            before = seen.before[each.n - seen.back]
            if each.known > before.known:
                values[i] = (each.costs - before.costs) / (each.known - before.known)
    return values


def feasibility(seen: StreamView) -> str:
    """The share so far with its band, and the target."""
    n = np.array([each.known for each in seen.in_full], float)
    met = np.array([each.feasibles for each in seen.in_full], float)
    alpha = seen.template.problem.risk.alpha
    least, most = Feasibility(delta=seen.template.delta).interval(
        Counts.of(n, n - met), _missing(seen)
    )
    low, high = 1.0 - most, 1.0 - least
    share = percent(met[-1] / n[-1])
    said = f"{_verdict(seen, share, float(low[-1]), float(high[-1]))}{_open(seen)}"
    if alpha in (None, 1.0) and (met == n).all():
        return section("Feasibility", paragraph(said))
    drawn = [Line("feasible", 100.0 * met / n, 0, 100.0 * low, 100.0 * high)]
    level = None if alpha is None else Level("target", 100.0 * alpha)
    asked = "" if alpha is None else f" The horizontal line is the target, {target(alpha)}."
    caption = (
        f"In percent of all outcomes so far.{asked} The band has the chance of a feasible "
        f"decision with {target(1.0 - seen.template.delta)} confidence, at all times at "
        f"once{_whatever(seen)}."
    )
    chart = lines(
        _across(seen.in_full), "Feasible so far (%)", caption, drawn, level, limits(drawn, level)
    )
    return section("Feasibility", paragraph(said), chart)


def _missing(seen: StreamView) -> Array:
    """(n) decisions whose outcome was not seen in full before each that is drawn, or given up.

    After the last, all of them.
    """
    latest = np.maximum.accumulate([each.decision for each in seen.in_full])
    passed = latest + 1.0 - np.array([each.known for each in seen.in_full])
    found = np.clip(passed, 0.0, seen.given_up + seen.in_part)
    found[-1] = seen.given_up + seen.in_part
    return np.asarray(found)


def _whatever(seen: StreamView) -> str:
    parts = [
        f"the {count(many, 'decision')} {how}"
        for many, how in ((seen.given_up, "given up"), (seen.in_part, "seen in part"))
        if many
    ]
    return f", whatever the outcomes were of {' and '.join(parts)}" if parts else ""


def _open(seen: StreamView) -> str:
    """Return a sentence on what is assumed of open decisions; empty if none is open."""
    if not seen.open:
        return ""
    return (
        f" {count(seen.open, 'decision')} that still {'waits' if seen.open == 1 else 'wait'} "
        f"{'does' if seen.open == 1 else 'do'} not count: it is assumed that how long an outcome "
        "takes does not depend on what it is."
    )


def _verdict(seen: StreamView, share: str, low: float, high: float) -> str:
    alpha, n = seen.template.problem.risk.alpha, seen.in_full[-1].known
    some = seen.given_up or seen.in_part
    known = f"{count(n, 'decision')} whose outcome is known" if some else "decisions"
    said = f"{share}% of the {known} were feasible ({target(1.0 - seen.template.delta)}, at all "
    said += f"times{_whatever(seen)}: {ends(percent(low), percent(high))})"
    if alpha is None:
        return f"{said}. No target was declared."
    verdict = "met" if low >= alpha else "not met" if high < alpha else "open"
    if verdict == "open":
        return f"{said}: whether the target of {target(alpha)} is met is open."
    return f"{said}: the target of {target(alpha)} is {verdict}."


_WEIGHED = {
    "arms": "Arms: whose decision is taken",
    "members": "Members of the model: whose predictions are mixed",
}


def weights(seen: StreamView) -> str:
    """Whom the policy trusted; nothing where it tells no weights."""
    summaries = [(each, read(each.told)) for each in seen.drawn]
    drawn = [
        _shares(title, [(each, found[what]) for each, found in summaries if what in found])
        for what, title in _WEIGHED.items()
    ]
    charts = list(filter(None, drawn))
    if not charts:
        return ""
    return section("Weights", paragraph("After each outcome, in percent."), *charts)


def _shares(title: str, known: Sequence[tuple[OutcomeTotals, Mapping[str, float]]]) -> str:
    names = list(dict.fromkeys(name for _, found in known for name in found))
    if len(names) < 2 or len(known) < 2:
        return ""
    values = np.array([[found.get(name, 0.0) for name in names] for _, found in known])
    return stacked(_across([each for each, _ in known]), title, values, names)


def calibration(seen: StreamView) -> str:
    """Return the section on how outcomes fell in their forecasts; empty without forecasts."""
    found = [levels for each in seen.recent if (levels := read(each.told).get("levels"))]
    if not found:
        return ""
    levels = np.array([each for each in found if len(each) == len(found[-1])])
    names = seen.template.outcomes or [f"xi {i + 1}" for i in range(levels.shape[1])]
    columns = dict(zip(names, levels.T, strict=False))
    return shown(f"Of the latest {len(levels):,} outcomes. The model", columns)
