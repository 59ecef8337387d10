"""What was found, in words."""

import math

from bocopt.core import Sense
from bocopt.tables.page.contrast import Contrast, Ends, contrast, level
from bocopt.tables.page.markup import name, paragraph, text
from bocopt.tables.page.numbers import ends, figure, money, percent
from bocopt.tables.page.view import View

#: Of a gain: what was done, and what stands after the number.
_WORDS = {
    (Sense.MINIMISE, True): ("saved", "against"),
    (Sense.MINIMISE, False): ("cost", "more than"),
    (Sense.MAXIMISE, True): ("earned", "more than"),
    (Sense.MAXIMISE, False): ("earned", "less than"),
}


def headline(view: View) -> str:
    """One large sentence with its interval, and below it what it means in money."""
    found = contrast(view, view.first)
    if not view.stages.size:
        return _large("No stage counts yet: outcomes are missing, or the warm-up is too long.")
    if found is None:
        return _large(_alone(view))
    if _same(view):
        paid = f"{_subject(view)} and {_reference(view)} cost the same at every stage."
        return _large(paid) + paragraph(_how_many(view, found))
    return (
        _large(_first_sentence(view, found))
        + paragraph(_in_money(view, found), _how_many(view, found))
        + paragraph(_how_sure(view, found), _one_look(view, found), kind="note")
    )


def _large(words: str) -> str:
    return paragraph(words, kind="headline")


def _alone(view: View) -> str:
    mean = view.findings.sense.sign * view.mean(view.played.cost)
    return f"{_subject(view)}: {text(money(mean, view.findings.unit))} a stage."


def _subject(view: View) -> str:
    return "The ensemble" if view.first.lower() == "ensemble" else name(view.first)


def _reference(view: View) -> str:
    if view.findings.now is not None:
        return "what you do now"
    chosen = "" if view.certified else ", the best of the others"
    return f"{name(view.reference or '')}{chosen}"


def _same(view: View) -> bool:
    found = contrast(view, view.first)
    return found is not None and found.gain == 0.0 and found.once == (0.0, 0.0)


def _first_sentence(view: View, found: Contrast) -> str:
    verb, after = _WORDS[view.findings.sense, found.gain >= 0]
    amount = f"{verb} {_amount(view, found)} ({_sure(view, found)}) {after} {_reference(view)}"
    if found.verdict:
        return f"{_subject(view)} {amount}."
    subject = "the ensemble" if _subject(view) == "The ensemble" else _subject(view)
    return f"So far {subject} {amount}: which is better is open."


def _amount(view: View, found: Contrast) -> str:
    share = found.share(found.gain)
    if math.isnan(share):
        return text(f"{money(abs(found.gain), view.findings.unit)} a stage")
    return f"{percent(abs(share))}%"


def _sure(view: View, found: Contrast) -> str:
    if found.always:
        return f"{100 * level(view):g}%: {_interval(found, found.always)}"
    if found.once:
        return f"95%, for one look: {_interval(found, found.once)}"
    return "no interval"


def _interval(found: Contrast, interval: Ends) -> str:
    """In the direction of the sentence, in percent where the sentence is."""
    low, high = interval if found.gain >= 0 else (-interval[1], -interval[0])
    if math.isnan(found.share(found.gain)):
        return ends(figure(low), figure(high))
    return ends(percent(found.share(low)), percent(found.share(high)))


def _in_money(view: View, found: Contrast) -> str:
    unit, sense = view.findings.unit, view.findings.sense
    verb, _ = _WORDS[sense, found.gain >= 0]
    more = {"saved": "", "cost": " more"}.get(verb, " more" if found.gain >= 0 else " less")
    direction = 1.0 if found.gain >= 0 else -1.0
    bounds = found.always or found.once
    low, high = sorted(direction * end for end in bounds or (math.nan, math.nan))
    interval = f" ({ends(figure(low), figure(high))})" if bounds else ""
    total = money(abs(found.gain) * found.stages, unit)
    return text(
        f"That is {money(abs(found.gain), unit)} a stage{interval}{more}, and {total} in all. "
        f"{'What you do now' if view.findings.now is not None else 'The reference'} "
        f"{'cost' if sense is Sense.MINIMISE else 'earned'} "
        f"{money(sense.sign * found.paid, unit)} a stage."
    )


def _how_many(view: View, found: Contrast) -> str:
    warm_up = view.findings.warm_up
    after = f", after a warm-up of {warm_up:,} that no number counts" if warm_up else ""
    return f"Over {found.stages:,} stages{after}."


def _how_sure(view: View, found: Contrast) -> str:
    if found.always is None:
        return f"There is no interval that holds at all times. {text(found.why)}".strip()
    many = len(view.findings.compared) > 1
    together = ", for all comparisons on this page together" if many else ""
    return (
        f"The first interval holds with {100 * level(view):g}% confidence at all times at once"
        f"{together}: it may be looked at, and the study stopped, at any stage. It is about the "
        "expected difference, as a share of what was seen to be paid."
    )


def _one_look(view: View, found: Contrast) -> str:
    if found.once is None:
        return ""
    afterwards = view.findings.now is None and not view.findings.compared
    chosen = " The reference was chosen by its result, which favours it." if afterwards else ""
    scale = "" if math.isnan(found.share(found.gain)) else "%"
    return (
        f"By a block bootstrap (95%, blocks of {found.block}): "
        f"{_interval(found, found.once)}{scale}. That one is asymptotic, and for one look."
        f"{chosen}"
    )
