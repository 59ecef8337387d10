"""The fleet: all streams in a table, those that need a person first."""

from collections.abc import Mapping, Sequence
from math import ceil, nan
from urllib.parse import urlencode

from bocopt.app.page.markup import name, paragraph, text
from bocopt.app.page.numbers import decimals, fixed, percent, target
from bocopt.app.service.page.concerns import StreamConcerns
from bocopt.app.service.page.document import page
from bocopt.app.service.page.times import length, moment
from bocopt.app.service.stores import StreamSummary
from bocopt.app.service.stream_template import StreamTemplate
from bocopt.app.text import count

SHOWN = 50  # streams on a page
_HEADS = ("stream", "", "average", "hindsight", "feasible", "outcomes", "open", "last event")


def fleet_page(
    found: Sequence[StreamConcerns],
    templates: Mapping[str, StreamTemplate],
    now: float,
    *,
    query: str = "",
    number: int = 1,
    leave: bool = False,
) -> str:
    """One page of those whose id, kind or trouble has the words of the query."""
    wanted = [one for one in found if _fits(one, query.lower().split())]
    pages = max(ceil(len(wanted) / SHOWN), 1)
    number = min(max(number, 1), pages)
    here = wanted[(number - 1) * SHOWN : number * SHOWN]
    content = "".join(
        [
            _headline(found),
            _search(query),
            _table(here, templates, now),
            _others(query, number, pages, len(wanted)),
        ]
    )
    return page("Streams", content, leave=leave, data='data-every="5"')


def _fits(one: StreamConcerns, words: Sequence[str]) -> bool:
    texts = (one.standing.id, one.standing.problem, *(each.short for each in one.concerns))
    return all(any(word in each.lower() for each in texts) for word in words)


def _headline(found: Sequence[StreamConcerns]) -> str:
    troubled = sum(bool(one.concerns) for one in found)
    below = sum(bool(one.below) for one in found)
    of = "stream" if len(found) == 1 else "streams"
    if not found:
        said = "There are no streams yet."
    elif troubled:
        need = "needs" if troubled == 1 else "need"
        said = f"{troubled:,} of {len(found):,} {of} {need} a person."
    elif below:
        so_far = "is below its target" if below == 1 else "are below their target"
        said = f"No stream is surely worse than asked; {below:,} of {len(found):,} {so_far} so far."
    else:
        said = f"None of {len(found):,} {of} needs a person."
    return f'<header id="headline"><h1>Streams</h1>\n{paragraph(said, css="headline")}</header>\n'


def _search(query: str) -> str:
    return (
        '<form class="search" method="get" action="/" role="search">'
        f'<input type="search" name="q" value="{text(query)}" aria-label="Search" '
        'placeholder="a stream, a kind, or overdue" maxlength="100">'
        "<button>Search</button></form>\n"
    )


def _table(
    here: Sequence[StreamConcerns], templates: Mapping[str, StreamTemplate], now: float
) -> str:
    if not here:
        return '<div id="streams"><p class="note">None.</p></div>\n'
    heads = "".join(f'<th scope="col">{head}</th>' for head in _HEADS)
    digits = decimals(one.standing.costs / max(one.standing.known, 1) for one in here)
    rows = "".join(_row(one, templates[one.standing.problem], digits, now) for one in here)
    return (
        '<div class="wide" id="streams" tabindex="0" role="region" aria-label="Streams">'
        f'<table class="fleet"><thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody></table>'
        "</div>\n"
    )


def _feasible(each: StreamSummary, alpha: float | None) -> str:
    asked = "" if alpha is None else f" <small>of {target(alpha)}</small>"
    return f"{percent(each.feasibles / each.known)}%{asked}"


def _row(one: StreamConcerns, template: StreamTemplate, digits: int, now: float) -> str:
    each, sign = one.standing, template.problem.sense.sign
    n = each.known
    average = sign * each.costs / n if n else nan
    best = sign * each.hindsights / n if n and each.hindsights is not None else nan
    feasible = _feasible(each, template.problem.risk.alpha) if n else "-"
    last = "-" if each.last is None else f"{length(now - each.last)} ago"
    title = "" if each.last is None else f' title="{moment(each.last)} UTC"'
    like = "" if each.problem == each.id else f"<small>{name(each.problem)}</small>"
    word = f"{text(template.unit)} {template.problem.sense.value}".strip()
    shown = f"{fixed(average, digits)} <small>{word}</small>" if n else "-"
    values = shown, fixed(best, digits), feasible, f"{each.outcomes:,}", f"{each.open:,}"
    cells = f"<td>{'</td><td>'.join(values)}</td>"
    return (
        f'<tr><th scope="row"><a href="/streams/{text(each.id)}">{name(each.id)}</a>{like}</th>'
        f'<td class="flags">{_flags(one)}</td>{cells}<td{title}>{last}</td></tr>\n'
    )


def _flags(one: StreamConcerns) -> str:
    return " ".join(
        f'<span class="flag r{each.rank}" title="{text(each.words)}">{text(each.short)}</span>'
        for each in one.concerns
    )


def _others(query: str, number: int, pages: int, many: int) -> str:
    """Links to the pages around this one."""
    if pages == 1:
        return f'<p class="note" id="pages">{count(many, "stream")}.</p>\n'
    first = (number - 1) * SHOWN + 1
    said = f"{first:,} to {min(number * SHOWN, many):,} of {many:,} streams"
    links = [
        f'<a href="{text(_address(query, other))}">{words}</a>'
        for other, words in ((number - 1, "Before"), (number + 1, "Next"))
        if 1 <= other <= pages
    ]
    return f'<p class="pages" id="pages"><span>{said}</span> {" ".join(links)}</p>\n'


def _address(query: str, number: int) -> str:
    asked = {"q": query} if query else {}
    return "/?" + urlencode({**asked, "page": number})
