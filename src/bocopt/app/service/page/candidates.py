"""A decision beside others that could have been taken: its neighbours, arms and shadows."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple

from bocopt.app.page.markup import name, paragraph, section, text
from bocopt.app.page.numbers import figure, money, percent, target
from bocopt.app.service.stores import EventRow, OutcomeTotals
from bocopt.app.service.stream_template import StreamTemplate
from bocopt.live.explanation import gain, meets

_MOST = 24  # candidates that are drawn at once
_ROOM = 6.0  # percent of a track, left and right


class ExplainedDecision(NamedTuple):
    """A decision, what is said for it (or why nothing is), and what came of it."""

    stream: str
    template: StreamTemplate
    number: int
    rows: Sequence[EventRow]
    outcome: OutcomeTotals | None
    last: int  # the number of the latest decision
    explained: Mapping[str, Any] | str


class _Scale(NamedTuple):
    """A linear map from numbers in [low, high] to percent of a track."""

    low: float
    high: float

    def at(self, value: float) -> float:
        """Return the place of a value, in percent of the track, clipped at its ends."""
        share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return _ROOM + (100.0 - 2 * _ROOM) * min(max(share, 0.0), 1.0)


def is_under_scenarios(explained: Mapping[str, Any]) -> bool:
    """Return True if z was decided under the scenarios that all are judged under."""
    return explained["arm"] is None or bool(explained["arm"]["own_scenarios"])


def label(each: Mapping[str, Any]) -> str:
    """Return the markup that says which candidate it is."""
    what = str(each["what"])
    if what == "taken":
        return "<b>taken</b>"
    if what in ("one more", "one less"):
        return f"{what} of {name(str(each['name']))}"
    return f"{what} {name(str(each['name']))}"


def gain_of(case: ExplainedDecision, each: Mapping[str, Any], taken: Mapping[str, Any]) -> float:
    """Return how much better a candidate is expected to be than the z that was taken."""
    return gain(case.template.problem.sense, each["expected"], taken["expected"])


def is_allowed(each: Mapping[str, Any], alpha: float | None) -> bool:
    """Return True if a candidate meets the target, or there is none."""
    return meets(each["feasibility"], alpha)


def candidates_section(case: ExplainedDecision) -> str:
    """Return the section with a row a candidate, or with the reason that there are none."""
    explained = case.explained
    if isinstance(explained, str):
        return section("Why this z", paragraph(text(explained)))
    taken, alpha = explained["candidates"][0], explained["alpha"]
    groups = {
        "": [taken],
        "Its neighbours": _of(case, ("one more", "one less")),
        "What the arms decided": _of(case, ("arm",)),
        "What the shadows decided": _of(case, ("shadow",)),
    }
    scale, shares = _scales(explained)
    word = case.template.problem.sense.value
    feasible = "feasible" if alpha is None else f"feasible (target {target(alpha)})"
    bodies = "".join(
        _group(case, title, rows, scale, shares) for title, rows in groups.items() if rows
    )
    own = is_under_scenarios(explained)
    whose = "that z was decided under" if own else "of the model, and z was decided under others"
    lead = (
        f"Each is judged under the {explained['scenarios']:,} scenarios {whose}. "
        f"The line on the left is the expected {word} of z"
        f"{'' if alpha is None else ', the one on the right is the target'}. "
        "A hollow mark misses the target."
    )
    unit = f" ({text(case.template.unit)})" if case.template.unit else ""
    head = (
        '<thead><tr><th scope="col">decision</th>'
        f'<th scope="col" colspan="2">expected {word}{unit}</th>'
        f'<th scope="col" colspan="2">{feasible}</th><th class="than" scope="col">beside z</th>'
        "</tr></thead>"
    )
    return section("Why this z", paragraph(lead), f'<table class="why">{head}\n{bodies}</table>\n')


def _of(case: ExplainedDecision, kinds: Sequence[str]) -> list[Mapping[str, Any]]:
    """Return the candidates of these kinds: those that meet the target first, the best first."""
    assert not isinstance(case.explained, str)
    taken, alpha = case.explained["candidates"][0], case.explained["alpha"]
    found = [each for each in case.explained["candidates"] if each["what"] in kinds]
    return sorted(
        found, key=lambda each: (not is_allowed(each, alpha), -gain_of(case, each, taken))
    )


def _scales(explained: Mapping[str, Any]) -> tuple[_Scale, _Scale]:
    """Return those of what is expected and of feasibility, each over all that can be done."""
    taken, alpha = explained["candidates"][0], explained["alpha"]
    able = [taken, *(each for each in explained["candidates"] if each["feasibility"] > 0)]
    values = [each["expected"] for each in able if each["expected"] is not None] or [0.0]
    lowest = min(each["feasibility"] for each in able)
    shares = _Scale(lowest if alpha is None else min(lowest, alpha), 1.0)
    return _Scale(min(values), max(values)), shares


def _group(
    case: ExplainedDecision,
    title: str,
    rows: Sequence[Mapping[str, Any]],
    scale: _Scale,
    shares: _Scale,
) -> str:
    head = f'<tr class="group"><th scope="rowgroup" colspan="6">{title}</th></tr>\n'
    shown = "".join(_row(case, each, scale, shares) for each in rows[:_MOST])
    left = len(rows) - _MOST
    more = f'<tr class="group"><td colspan="6">and {left} that are worse</td></tr>\n'
    return f"<tbody>{head if title else ''}{shown}{more if left > 0 else ''}</tbody>\n"


def _row(case: ExplainedDecision, each: Mapping[str, Any], scale: _Scale, shares: _Scale) -> str:
    assert not isinstance(case.explained, str)
    taken, alpha = case.explained["candidates"][0], case.explained["alpha"]
    chosen, able = each["what"] == "taken", each["feasibility"] > 0
    css = "taken" if chosen else "met" if is_allowed(each, alpha) else "missed"
    drawn = chosen or able  # what can never be done would squeeze all others together
    earned = _track(scale, taken["expected"], each["expected"] if drawn else None)
    met = _track(shares, alpha, each["feasibility"] if drawn else None)
    expected = "-" if each["expected"] is None else figure(each["expected"])
    return (
        f'<tr class="{css}"><th scope="row">{label(each)}</th>'
        f'<td class="drawn">{earned}</td><td>{expected}</td>'
        f'<td class="drawn">{met}</td><td>{percent(each["feasibility"])}%</td>'
        f'<td class="than">{_beside(case, each)}</td></tr>\n'
    )


def _track(scale: _Scale, line: float | None, value: float | None) -> str:
    """A mark where the value is, on a stem from the line that it is read against."""
    parts = [f'<line class="axis" x1="{_ROOM}%" x2="{100 - _ROOM}%" y1="50%" y2="50%"/>']
    zero = None if line is None else f"{scale.at(line):.2f}%"
    if zero is not None:
        parts.append(f'<line class="zero" x1="{zero}" x2="{zero}" y1="0" y2="100%"/>')
    if value is not None and isfinite(value):
        at = f"{scale.at(value):.2f}%"
        if zero is not None:
            parts.append(f'<line class="stem" x1="{zero}" x2="{at}" y1="50%" y2="50%"/>')
        parts.append(f'<circle cx="{at}" cy="50%" r="5"/>')
    return f'<svg class="track" aria-hidden="true">{"".join(parts)}</svg>'


def _beside(case: ExplainedDecision, each: Mapping[str, Any]) -> str:
    assert not isinstance(case.explained, str)
    taken, alpha = case.explained["candidates"][0], case.explained["alpha"]
    if each["what"] == "taken":
        return "what was done"
    if each["z"] == taken["z"]:
        return "the same z"
    if not each["feasibility"]:
        return "never feasible"
    if each["expected"] is None or taken["expected"] is None:
        return "not a finite number"
    difference = each["expected"] - taken["expected"]
    said = (
        f"{text(money(abs(difference), case.template.unit))} {'more' if difference > 0 else 'less'}"
        if difference
        else "as much"
    )
    return said if is_allowed(each, alpha) else f"{said}, misses the target"
