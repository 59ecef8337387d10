"""Why this z: what it was expected to bring, beside its neighbours, arms and shadows."""

from collections.abc import Mapping, Sequence
from typing import Any

from bocopt.app.page.markup import name, paragraph, section, text
from bocopt.app.page.numbers import figure, money, percent, target
from bocopt.app.service.outcomes import seen_words
from bocopt.app.service.page.candidates import (
    ExplainedDecision,
    candidates_section,
    gain_of,
    is_allowed,
    is_under_scenarios,
    label,
)
from bocopt.app.service.page.document import page
from bocopt.app.service.page.times import length, stamp
from bocopt.core import Sense
from bocopt.live.events import from_bytes
from bocopt.live.fold import Corrected, Decided, Observed

_FIGURES = "0123456789-"  # with which a number begins


def why_page(case: ExplainedDecision, *, leave: bool = False) -> str:
    """The whole page."""
    content = "".join([_header(case), candidates_section(case), _came(case), _asked(case)])
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
    if is_under_scenarios(case.explained):
        return said
    return (
        f"{said} That is under the outcomes that this arm goes by. Below, all are judged under the "
        "model's scenarios, another law: others may be better there."
    )


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
    if alpha is not None and not is_allowed(taken, alpha):
        return f"{said}: below the target of {target(alpha)}."
    return f"{said}. {_rivals(case, explained)}"


def _rivals(case: ExplainedDecision, explained: Mapping[str, Any]) -> str:
    """Return the paragraph on decisions that are expected to be better and meet the target."""
    taken, alpha = explained["candidates"][0], explained["alpha"]
    rivals = [each for each in explained["candidates"][1:] if gain_of(case, each, taken) > 0]
    allowed = [each for each in rivals if is_allowed(each, alpha)]
    better = "cost less" if case.template.problem.sense is Sense.MINIMISE else "bring more"
    if allowed:
        these = "These" if is_under_scenarios(explained) else "Under the model's scenarios, these"
        met = "" if alpha is None else " and meet the target"
        return f"{these} would {better}{met}: {_listed(allowed)}."
    if rivals:
        return f"What would {better} misses the target of {target(alpha)}."
    return f"Nothing that it was compared with would {better}."


def _listed(candidates: Sequence[Mapping[str, Any]]) -> str:
    shown = ", ".join(label(each) for each in candidates[:3])
    return shown if len(candidates) <= 3 else f"{shown} and {len(candidates) - 3} more"


def _came(case: ExplainedDecision) -> str:
    ends = list(case.rows[1:])
    if not ends:
        return section("What came of it", paragraph("Its outcome is not known yet."))
    after = length(ends[0].at - case.rows[0].at)
    problem = case.template.problem
    events = [from_bytes(each.body, problem) for each in ends]
    came = [each for each in events if isinstance(each, Observed | Corrected)]
    if not came:
        said = f"It was given up {stamp(ends[0].at)} UTC, {after} later."
        return section("What came of it", paragraph(said))
    word, sign = case.template.problem.sense.value, case.template.problem.sense.sign
    names = case.template.outcomes
    tiles = [("xi", worded(names, seen_words(came[-1].seen)), f"{after} later")]
    if len(came) > 1:
        last = length(ends[-1].at - ends[0].at)
        tiles.append(
            ("before", worded(names, seen_words(came[-2].seen)), f"corrected {last} later")
        )
    if case.outcome is not None and case.outcome.cost is None:
        tiles.append((word, "unknown", "the outcome was seen in part"))
    elif case.outcome is not None and case.outcome.cost is not None:
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
    return worded(names, [figure(value) for value in values])


def worded(names: Sequence[str], words: Sequence[str]) -> str:
    """Numbers in words, by their names where there are as many.

    >>> worded(["bread"], ["at least 87"])
    'bread: at least 87'
    """
    if len(names) != len(words):
        return ", ".join(words)
    return ", ".join(
        f"{what}{' =' if said[:1] in _FIGURES else ':'} {said}"
        for what, said in zip(names, words, strict=True)
    )
