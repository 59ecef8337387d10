"""Why this z: what it was expected to bring, beside its neighbours, arms and shadows."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple

from bocopt.app.page.markup import name, paragraph, section, text
from bocopt.app.page.numbers import figure, money, percent, target
from bocopt.app.service.page.document import page
from bocopt.app.service.page.times import length, stamp
from bocopt.app.service.stores import EventRow, OutcomeTotals
from bocopt.app.service.stream_template import StreamTemplate
from bocopt.core import Sense
from bocopt.live.events import from_bytes
from bocopt.live.explanation import gain, meets
from bocopt.live.fold import Decided, Observed

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


def why_page(case: ExplainedDecision, *, leave: bool = False) -> str:
    """The whole page."""
    content = "".join([_header(case), _chosen(case), _came(case), _asked(case)])
    stream, number = case.stream, case.number
    way = (
        (f"/streams/{stream}", stream),
        (f"/streams/{stream}/decisions/{number}", f"decision {number:,}"),
    )
    return page(f"{stream}, decision {number}", content, way=way, leave=leave)


def _header(case: ExplainedDecision) -> str:
    decided = _decided(case)
    z = decided.waiting.decision.solution.z.tolist() if decided else []
    pairs = zip(case.template.names, z, strict=False)
    said = ", ".join(f"{name(what)} = <b>{figure(value)}</b>" for what, value in pairs)
    parts = [
        f"<h1>Decision {case.number:,}</h1>\n",
        paragraph(_sentence(case), css="headline"),
        paragraph(said, css="z"),
        paragraph(text(_chooser(case)), css="note"),
        paragraph(_neighbouring(case), css="note"),
    ]
    return f'<header id="said">\n{"".join(parts)}</header>\n'


def _chooser(case: ExplainedDecision) -> str:
    """Return who found z, and under which law of outcomes its status holds, as text."""
    if isinstance(case.explained, str):
        return ""
    arm, said = case.explained["arm"], f"{case.explained['status']}."
    if arm is not None:
        said = f"Decided by the arm {arm['name']!r} (weight {percent(arm['weight'])}%): {said}"
    if _is_under_scenarios(case.explained):
        return said
    return (
        f"{said} That is under the outcomes that this arm goes by. Below, all are judged under the "
        "model's scenarios, another law: others may be better there."
    )


def _is_under_scenarios(explained: Mapping[str, Any]) -> bool:
    """Return True if z was decided under the scenarios that all are judged under."""
    return explained["arm"] is None or bool(explained["arm"]["own_scenarios"])


def _neighbouring(case: ExplainedDecision) -> str:
    links = [
        f'<a href="/streams/{text(case.stream)}/decisions/{other}">decision {other:,}</a>'
        for other in (case.number - 1, case.number + 1)
        if 0 <= other <= case.last
    ]
    return f"Taken {stamp(case.rows[0].at)} UTC. Around it: {', '.join(links)}" if links else ""


def _decided(case: ExplainedDecision) -> Decided | None:
    event = from_bytes(case.rows[0].body, case.template.problem)
    return event if isinstance(event, Decided) else None


def _sentence(case: ExplainedDecision) -> str:
    """Why it won, as far as the scenarios say."""
    explained = case.explained
    if isinstance(explained, str):
        return "There is nothing to compare it with."
    taken, alpha = explained["candidates"][0], explained["alpha"]
    if taken["expected"] is None:
        return "What it was expected to bring is not a finite number."
    said = f"Expected {case.template.problem.sense.value} "
    said += text(money(taken["expected"], case.template.unit))
    if alpha is not None:
        said += f", feasible in {percent(taken['feasibility'])}% of the scenarios"
    if alpha is not None and not _meets(taken, alpha):
        return f"{said}: below the target of {target(alpha)}."
    return f"{said}. {_rivals(case, explained)}"


def _rivals(case: ExplainedDecision, explained: Mapping[str, Any]) -> str:
    """Return the paragraph on decisions that are expected to be better and meet the target."""
    taken, alpha = explained["candidates"][0], explained["alpha"]
    rivals = [each for each in explained["candidates"][1:] if _gain(case, each, taken) > 0]
    allowed = [each for each in rivals if _meets(each, alpha)]
    better = "cost less" if case.template.problem.sense is Sense.MINIMISE else "bring more"
    if allowed:
        these = "These" if _is_under_scenarios(explained) else "Under the model's scenarios, these"
        met = "" if alpha is None else " and meet the target"
        return f"{these} would {better}{met}: {_listed(allowed)}."
    if rivals:
        return f"What would {better} misses the target of {target(alpha)}."
    return f"Nothing that it was compared with would {better}."


def _listed(candidates: Sequence[Mapping[str, Any]]) -> str:
    shown = ", ".join(_called(each) for each in candidates[:3])
    return shown if len(candidates) <= 3 else f"{shown} and {len(candidates) - 3} more"


def _called(each: Mapping[str, Any]) -> str:
    what = str(each["what"])
    if what == "taken":
        return "<b>taken</b>"
    if what in ("one more", "one less"):
        return f"{what} of {name(str(each['name']))}"
    return f"{what} {name(str(each['name']))}"


def _gain(case: ExplainedDecision, each: Mapping[str, Any], taken: Mapping[str, Any]) -> float:
    """Return how much better a candidate is expected to be than the z that was taken."""
    return gain(case.template.problem.sense, each["expected"], taken["expected"])


def _meets(each: Mapping[str, Any], alpha: float | None) -> bool:
    return meets(each["feasibility"], alpha)


def _chosen(case: ExplainedDecision) -> str:
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
    own = _is_under_scenarios(explained)
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
    return sorted(found, key=lambda each: (not _meets(each, alpha), -_gain(case, each, taken)))


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
    css = "taken" if chosen else "met" if _meets(each, alpha) else "missed"
    drawn = chosen or able  # what can never be done would squeeze all others together
    earned = _track(scale, taken["expected"], each["expected"] if drawn else None)
    met = _track(shares, alpha, each["feasibility"] if drawn else None)
    expected = "-" if each["expected"] is None else figure(each["expected"])
    return (
        f'<tr class="{css}"><th scope="row">{_called(each)}</th>'
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
    return said if _meets(each, alpha) else f"{said}, misses the target"


def _came(case: ExplainedDecision) -> str:
    ends = list(case.rows[1:])
    if not ends:
        return section("What came of it", paragraph("Its outcome is not known yet."))
    after = length(ends[0].at - case.rows[0].at)
    event = from_bytes(ends[0].body, case.template.problem)
    if not isinstance(event, Observed):
        said = f"It was given up {stamp(ends[0].at)} UTC, {after} later."
        return section("What came of it", paragraph(said))
    word, sign = case.template.problem.sense.value, case.template.problem.sense.sign
    tiles = [("xi", called(case.template.outcomes, event.xi.tolist()), f"{after} later")]
    if case.outcome is not None:
        expected = ""
        if not isinstance(case.explained, str):
            was = case.explained["candidates"][0]["expected"]
            expected = "" if was is None else f"{money(was, case.template.unit)} was expected"
        paid = money(sign * case.outcome.cost, case.template.unit)
        tiles.append((word, paid, expected))
        if case.outcome.hindsight is not None:
            best = money(sign * case.outcome.hindsight, case.template.unit)
            tiles.append(("in hindsight", best, "at best"))
        tiles.append(("feasible", "yes" if case.outcome.feasible else "no", ""))
    items = "".join(
        f"<div><dt>{what}</dt><dd>{text(value)}</dd><dd>{text(more)}</dd></div>"
        for what, value, more in tiles
    )
    return section("What came of it", f'<dl class="tiles">{items}</dl>\n')


def _asked(case: ExplainedDecision) -> str:
    decided = _decided(case)
    if decided is None:
        return ""
    x = called(case.template.contexts, decided.waiting.x.tolist()) or "nothing"
    learned, taught = int(decided.waiting.learned), int(decided.waiting.taught)
    more = f", beside {taught:,} that were taught from a table" if taught else ""
    said = f"The context x was {text(x)}, and {learned:,} outcomes were known{more}."
    return section("What was known", paragraph(said))


def called(names: Sequence[str], values: Sequence[float]) -> str:
    """Numbers by their names, where there are as many.

    >>> called(["rain", "degrees"], [0.0, 21.5]), called([], [0.0, 21.5])
    ('rain = 0, degrees = 21.5', '0, 21.5')
    """
    if len(names) != len(values):
        return ", ".join(map(figure, values))
    return ", ".join(f"{what} = {figure(n)}" for what, n in zip(names, values, strict=True))
