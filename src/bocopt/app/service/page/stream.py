"""One stream: what is guaranteed, what was earned, what it waits for, and who might do better."""

from collections.abc import Mapping, Sequence
from typing import Any

from bocopt.app.page.markup import name, paragraph, section, text
from bocopt.app.page.numbers import figure, money, percent, target
from bocopt.app.service import compared
from bocopt.app.service.page import charts
from bocopt.app.service.page.concerns import Concern
from bocopt.app.service.page.document import page
from bocopt.app.service.page.seen import StreamView
from bocopt.app.service.page.times import length, stamp
from bocopt.app.service.shown import all_together
from bocopt.app.service.summaries import read
from bocopt.app.text import count
from bocopt.live.events import from_bytes
from bocopt.live.fold import Decided
from bocopt.state import CheckpointError

Certificates = Sequence[Mapping[str, Any]]

_NUMBERS = 8  # of a decision that stand in a table


def stream_page(
    seen: StreamView,
    certificates: Certificates | str,  # or why there are none
    concerns: Sequence[Concern],
    now: float,
    *,
    leave: bool = False,
) -> str:
    """The whole page."""
    drawn = [charts.reward, charts.feasibility] if seen.in_full else []
    drawn += [charts.weights, charts.calibration] if seen.drawn else []
    content = "".join(
        [
            _header(seen, certificates, concerns),
            _tiles(seen, now),
            *(make(seen) for make in drawn),
            _shadows(certificates),
            _compared(seen),
            _waiting(seen, now),
            _latest(seen),
            _guaranteed(certificates),
        ]
    )
    way = ((f"/streams/{seen.stream}", seen.stream),)
    data = f'data-stream="{text(seen.stream)}" data-seq="{seen.seq}"'
    return page(seen.stream, content, way=way, leave=leave, data=data)


def _header(seen: StreamView, certificates: Certificates | str, concerns: Sequence[Concern]) -> str:
    parts = [f"<h1>{name(seen.stream)}</h1>\n", *_headline(seen, certificates)]
    if concerns:
        said = "".join(
            f'<li><span class="flag r{each.rank}">{text(each.short)}</span> {text(each.words)}</li>'
            for each in concerns
            if each.words != certificates  # which is told already
        )
        parts.append(f'<ul class="concerns">{said}</ul>\n')
    return f'<header id="said">\n{"".join(parts)}</header>\n{_status(seen)}'


def _status(seen: StreamView) -> str:
    """Return the line with the latest event, which the page's script updates."""
    if not seen.events:
        said = "No decision was asked for yet."
    else:
        latest = max(seen.events, key=lambda row: row.seq)
        said = f"Event {latest.seq:,}: {text(latest.kind)} {latest.decision:,}, {stamp(latest.at)}"
    return f'<p class="status" aria-live="off"><i class="dot"></i><span>{said}</span></p>\n'


def _headline(seen: StreamView, certificates: Certificates | str) -> list[str]:
    """The certificate in words: what is sure is large, what that rests on is small."""
    if isinstance(certificates, str):
        large = paragraph("What is guaranteed cannot be told now.", css="headline")
        return [large, _soft(certificates)]
    if not seen.decisions:
        return [paragraph("Nothing was decided yet.", css="headline"), _how_to_begin(seen)]
    first = next((each for each in certificates if each["name"] == "headline"), None)
    if first is None:
        none = "No outcome was seen in full" if seen.in_part else "No outcome"
        return [paragraph(f"{none} yet, so nothing is known.", css="headline")]
    if not first["applicable"]:
        why = _soft(f"No certificate: {first['note']}")
        return [paragraph(text(_average(seen)), css="headline"), why]
    return [paragraph(text(f"{first['claim']}."), css="headline"), _soft(_proviso(first))]


def _how_to_begin(seen: StreamView) -> str:
    size = seen.template.problem.dims.x
    x = "[...]" if size is None else str([0.0] * size) if size <= _NUMBERS else f"[{size} numbers]"
    asked = f'POST /v1/streams/{seen.stream}/decisions {{"x": {x}}}'
    return paragraph(f"Ask for the first decision: <code>{text(asked)}</code>")


def _soft(words: str) -> str:
    return paragraph(text(words), css="note")


def _average(seen: StreamView) -> str:
    last, sense = seen.last, seen.template.problem.sense
    if last is None or not last.known:
        return "No outcome was seen in full yet." if last else "No outcome yet."
    average = money(sense.sign * last.costs / last.known, seen.template.unit)
    return f"Average {sense.value} {average} so far."


def _tiles(seen: StreamView, now: float) -> str:
    last, sense, unit = seen.last, seen.template.problem.sense, seen.template.unit
    tiles: list[tuple[str, str, str]] = []
    if last is not None and last.known:
        average = money(sense.sign * last.costs / last.known, unit)
        tiles.append((f"average {sense.value}", average, f"over {count(last.known, 'outcome')}"))
        if last.hindsights is not None:
            regret = money((last.costs - last.hindsights) / last.known, unit)
            best = money(sense.sign * last.hindsights / last.known, unit)
            tiles.append(("in hindsight", best, f"{regret} away"))
        alpha = seen.template.problem.risk.alpha
        more = [] if alpha is None else [f"target {target(alpha)}"]
        some = seen.given_up or seen.in_part
        more += [f"of {count(last.known, 'outcome')} that came"] * bool(some)
        tiles.append(("feasible", f"{percent(last.feasibles / last.known)}%", ", ".join(more)))
    if seen.in_part:
        tiles.append(("seen in part", f"{seen.in_part:,}", "outcomes, of unknown cost"))
    tiles.append(("decisions", f"{seen.decisions:,}", ""))
    oldest = f"the oldest for {length(now - seen.waiting[0][1])}" if seen.waiting else ""
    tiles.append(("wait for an outcome", f"{seen.open:,}", oldest))
    if seen.taught:
        tiles.append(("taught from a table", f"{seen.taught:,}", "outcomes, counted nowhere else"))
    items = "".join(
        f"<div><dt>{words}</dt><dd>{text(value)}</dd><dd>{text(more)}</dd></div>"
        for words, value, more in tiles
    )
    return f'<dl class="tiles" id="tiles">{items}</dl>\n'


def _shadows(certificates: Certificates | str) -> str:
    if isinstance(certificates, str):
        return ""
    said = [each for each in certificates if each["other"]]
    if not said:
        return ""
    items = "".join(
        f"<li><h3>{name(str(each['other']))}</h3>{paragraph(text(_verdict(each)))}"
        f"{_soft(_proviso(each))}</li>"
        for each in said
    )
    lead = (
        "They see the same contexts and outcomes, and decide for themselves; nobody follows them. "
        "How each compares with what decides, on the average of all compared stages so far:"
    )
    return section("Shadows", paragraph(lead), f'<ul class="shadows">{items}</ul>\n')


def _verdict(each: Mapping[str, Any]) -> str:
    return f"{each['claim']}." if each["applicable"] else f"Not applicable. {each['note']}"


def _proviso(each: Mapping[str, Any]) -> str:
    """Return the assumptions and notes of a claim as text; empty if it does not apply."""
    if not each["applicable"]:
        return ""
    provided = f"Provided that {'; '.join(each['assumptions'])}." if each["assumptions"] else ""
    vacuous = "Vacuous: it says no more than the range does." if each["vacuous"] else ""
    return " ".join(part for part in (provided, vacuous, str(each["note"])) if part)


def _compared(seen: StreamView) -> str:
    """Return what an average is of, since when it is known, and who has cost more lately."""
    if not seen.template.shadows:
        return ""
    found = {} if seen.last is None else compared.read(seen.template, read(seen.last.told))
    many = max((each.stages for each in found.values()), default=0)
    lead = (
        f"Each is judged by its average over the {count(many, 'stage')} that were compared so far, "
        "not by the latest. A stage is a decision of this configuration whose outcome is known; "
        f"they count from 1. {compared.since(seen.configured, seen.template.fold.by).words}"
    )
    lately = [f"{words}." for name, each in found.items() if (words := each.lately(name))]
    said = "".join(paragraph(text(words)) for words in [lead, *lately])
    return f'<div id="compared">{said}</div>\n'


def _waiting(seen: StreamView, now: float) -> str:
    if not seen.open:
        return ""
    expire = seen.template.limits.expire
    rows = "".join(
        f'<tr><th scope="row">{_link(seen, number)}</th><td>{stamp(at)}</td>'
        f"<td>{length(now - at)}</td></tr>\n"
        for number, at in seen.waiting
    )
    most = len(seen.waiting)
    which = f" The oldest {most} of {seen.open:,}." if seen.open > most else ""
    until = "as long as it takes" if expire is None else f"{length(expire)} at most"
    said = f"Each is waited for {until}.{which}"
    return section(
        "Waiting for an outcome",
        paragraph(said),
        _table(("decision", "taken (UTC)", "waits"), rows, "Waiting for an outcome"),
    )


def _latest(seen: StreamView) -> str:
    numbers = sorted({row.decision for row in seen.events}, reverse=True)
    if not numbers:
        return ""
    word = seen.template.problem.sense.value
    rows = "".join(_decision(seen, number) for number in numbers)
    unit = f" ({seen.template.unit})" if seen.template.unit else ""
    heads = ("decision", "taken (UTC)", "z", f"{word}{unit}", f"hindsight{unit}", "feasible")
    lead = "A decision's number leads to why it was taken."
    return section(
        "Latest decisions", paragraph(lead), _table(heads, rows, "Latest decisions", "decided")
    )


def _decision(seen: StreamView, number: int) -> str:
    rows = [row for row in seen.events if row.decision == number]
    sign, outcome = seen.template.problem.sense.sign, seen.outcomes.get(number)
    if outcome is not None and outcome.cost is None:
        ends = ["seen in part", "-", "-"]
    elif outcome is not None and outcome.cost is not None:
        best = "-" if outcome.hindsight is None else figure(sign * outcome.hindsight)
        ends = [figure(sign * outcome.cost), best, "yes" if outcome.feasible else "no"]
    else:
        gone = any(row.kind == "forgotten" for row in rows)
        ends = ["given up" if gone else "open", "-", "-"]
    cells = "".join(f"<td>{each}</td>" for each in ends)
    return (
        f'<tr><th scope="row">{_link(seen, number)}</th><td>{stamp(rows[0].at)}</td>'
        f"<td>{_z(seen, number)}</td>{cells}</tr>\n"
    )


def _z(seen: StreamView, number: int) -> str:
    """Its numbers, by name."""
    row = next(row for row in seen.events if row.decision == number)
    try:
        event = from_bytes(row.body, seen.template.problem)
    except CheckpointError:
        return "damaged"
    if not isinstance(event, Decided):
        return "-"
    z = event.waiting.decision.solution.z.tolist()
    pairs = [f"{name(n)} = {figure(v)}" for n, v in zip(seen.template.names, z, strict=True)]
    more = f" and {len(pairs) - _NUMBERS} more" if len(pairs) > _NUMBERS else ""
    return ", ".join(pairs[:_NUMBERS]) + more


def _guaranteed(certificates: Certificates | str) -> str:
    if isinstance(certificates, str) or not certificates:
        return ""
    said = "".join(f"<li>{text(str(each['words']))}</li>\n" for each in certificates)
    sure = all_together(certificates)
    return (
        f"{_soft(sure) if sure else ''}"
        '<details class="certificates" id="certificates"><summary>All certificates, in full'
        f"</summary>\n<ul>\n{said}</ul></details>\n"
    )


def _link(seen: StreamView, number: int) -> str:
    return f'<a href="/streams/{text(seen.stream)}/decisions/{number}">{number:,}</a>'


def _table(heads: Sequence[str], rows: str, label: str, css: str = "") -> str:
    head = "".join(f'<th scope="col">{text(each)}</th>' for each in heads)
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{text(label)}">'
        f'<table class="{css}"><thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{rows}</tbody></table></div>\n"
    )
