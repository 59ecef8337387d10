"""Headline of a report: what was found, in words."""

import math
from collections.abc import Callable

from bocopt.app.page.contrast import Contrast, Ends, contrast, level
from bocopt.app.page.markup import name, paragraph, text
from bocopt.app.page.numbers import ends, figure, money, percent
from bocopt.app.page.view import ReportView
from bocopt.compared import IN_FULL, IN_SUMS, NO_BOOTSTRAP, NO_SAMPLE, RECORDED, WITH_OUTCOME
from bocopt.core import Sense

#: Of a gain: what was done, and what stands after the number.
_WORDS = {
    (Sense.MINIMISE, True): ("saved", "against"),
    (Sense.MINIMISE, False): ("cost", "more than"),
    (Sense.MAXIMISE, True): ("earned", "more than"),
    (Sense.MAXIMISE, False): ("earned", "less than"),
}


def headline(view: ReportView, yearly: str = "") -> str:
    """Return one large sentence with its interval, and below it what it means in money.

    yearly      a paragraph on a year
    """
    found, large = contrast(view, view.first), paragraph(sentence(view), css="headline")
    if found is None:
        return large
    if _same(view):
        return large + paragraph(_how_many(view, found))
    return (
        large
        + paragraph(_in_money(view, found), _how_many(view, found))
        + yearly
        + paragraph(_how_sure(view, found), _one_look(view, found), css="note")
    )


def sentence(view: ReportView) -> str:
    """Return the large sentence, as markup."""
    found = contrast(view, view.first)
    if not view.stages.size:
        return "No stage counts yet: outcomes are missing, or the warm-up is too long."
    if found is None:
        return _alone(view)
    if _same(view):
        return f"{_subject(view)} and {_reference(view)} cost the same at every stage."
    return _first_sentence(view, found)


def _alone(view: ReportView) -> str:
    mean = view.findings.sense.sign * view.mean(view.played.cost)
    return f"{_subject(view)}: {text(money(mean, view.findings.unit))} a stage."


def _subject(view: ReportView) -> str:
    return "The ensemble" if view.first.lower() == "ensemble" else name(view.first)


def _reference(view: ReportView) -> str:
    if view.findings.now is not None:
        return "what you do now"
    chosen = "" if view.certified else ", the best of the others"
    return f"{name(view.reference or '')}{chosen}"


def _same(view: ReportView) -> bool:
    found = contrast(view, view.first)
    if found is None or not found.alike:
        return False
    return not found.missing or found.always == (0.0, 0.0)


def _first_sentence(view: ReportView, found: Contrast) -> str:
    if found.missing and found.always and (found.at_random or found.in_part):
        return _with_missing(view, found, found.at_random)
    said = f"{_did(view, found)} ({_sure(view, found)}) {_than(view, found)}"
    said += f"{_where(found)}{_provided(found)}"
    if found.in_part:
        return f"So far {_said(view)} {said}: {_OPEN}."
    if found.missing:
        return f"{_IF}, {_said(view)} {said}{'' if found.verdict else f': {_OPEN}'}."
    return (
        f"{_subject(view)} {said}." if found.verdict else f"So far {_said(view)} {said}: {_OPEN}."
    )


def _with_missing(view: ReportView, found: Contrast, at_random: Contrast | None) -> str:
    """Return what is known whatever the missing outcomes were; where that is little, what is if."""
    many = f"{found.missing:,} of {found.outcomes:,}"
    unseen = "were not seen in full" if found.in_part else "are missing"
    whatever, sure = f"Whatever the {many} outcomes that {unseen} were", f"{100 * level(view):g}%"
    if found.verdict:
        verb, than = _WORDS[view.findings.sense, found.verdict > 0]
        did = f"{_said(view)} {verb} {_amounts(view, found)} ({sure})"
        return f"{whatever}, {did} {than} {_reference(view)}{_provided(found)}."
    open_ = f"{whatever}, {_OPEN} ({sure}: {_amounts(view, found)}){_provided(found)}."
    if at_random is None:
        return open_
    seen = f"{_did(view, at_random)} ({_sure(view, at_random)}) {_than(view, at_random)}"
    seen += f"{_where(found)}{_provided(found)}"
    rest = "" if at_random.verdict else f": {_OPEN} even then"
    return f"{open_} {_IF}, {_said(view)} {seen}{rest}."


def _where(found: Contrast) -> str:
    """Return the stages, or parts of them, that a sentence is about; empty where that is all."""
    some = IN_SUMS if found.sums else f"at {IN_FULL if found.in_part else WITH_OUTCOME}"
    return f", {some}" if found.missing else ""


def _provided(found: Contrast) -> str:
    return f", provided that {RECORDED}" if found.unrecorded else ""


_IF = "If whether an outcome is missing does not depend on what it was"
_OPEN = "which is better is open"


def _said(view: ReportView) -> str:
    """Return the subject, inside a sentence."""
    subject = _subject(view)
    return subject[0].lower() + subject[1:] if view.first.lower() == "ensemble" else subject


def _did(view: ReportView, found: Contrast) -> str:
    """Return what was seen: in percent where there is an interval for a percent, else an amount."""
    share = f"{percent(abs(found.share))}%"
    return f"{_verb(view, found)} {share if _in_percent(found) else _a_stage(view, found.gain)}"


def _verb(view: ReportView, found: Contrast) -> str:
    return _WORDS[view.findings.sense, found.gain >= 0][0]


def _than(view: ReportView, found: Contrast) -> str:
    return f"{_WORDS[view.findings.sense, found.gain >= 0][1]} {_reference(view)}"


def _in_percent(found: Contrast) -> bool:
    return found.always is not None and found.shares is not None and not math.isnan(found.share)


def _a_stage(view: ReportView, gain: float) -> str:
    return text(f"{money(abs(gain), view.findings.unit)} a stage")


def _sure(view: ReportView, found: Contrast) -> str:
    if found.always:
        return f"{100 * level(view):g}%: {_interval(found)}"
    if found.once:
        return f"roughly 95%, for one look: {_ends_of(found, found.once, figure)}"
    return "no interval"


def _interval(found: Contrast) -> str:
    """Return the interval at all times, in percent where the sentence is."""
    assert found.always is not None
    if _in_percent(found) and found.shares is not None:
        return f"{_ends_of(found, found.shares, percent)}"
    return _ends_of(found, found.always, figure)


def _ends_of(found: Contrast, interval: Ends, form: Callable[[float], str]) -> str:
    """Return the ends of an interval, in the direction of the sentence."""
    low, high = interval if found.gain >= 0 else (-interval[1], -interval[0])
    return ends(form(low), form(high))


def _amounts(view: ReportView, found: Contrast) -> str:
    """Return the interval at all times in money a stage, in the direction of the sentence."""
    assert found.always is not None
    low, high = found.always
    low, high = (low, high) if found.verdict >= 0 else (-high, -low)
    verb = "saved" if view.findings.sense is Sense.MINIMISE else "earned more"
    said = f"{ends(figure(low), figure(high))} {text(view.findings.unit)}".strip()
    return f"{said} a stage" if found.verdict else f"{said} a stage {verb}"


def _in_money(view: ReportView, found: Contrast) -> str:
    unit, sense = view.findings.unit, view.findings.sense
    verb = _verb(view, found)
    more = {"saved": "", "cost": " more"}.get(verb, " more" if found.gain >= 0 else " less")
    bounds = found.always if not found.missing else None
    interval = f" ({_ends_of(found, bounds, figure)})" if bounds else ""
    total = money(abs(found.gain) * found.stages, unit)
    where = ", where the outcome is known" if found.missing else ""
    if found.in_part:
        where = ", where the outcome was seen in full, which depends on what it was"
    return text(
        f"{'Seen' if found.missing else 'That'} is {money(abs(found.gain), unit)} a stage"
        f"{interval}{more}, and {total} in all{where}. "
        f"{'What you do now' if view.findings.now is not None else 'The reference'} "
        f"{'cost' if sense is Sense.MINIMISE else 'earned'} "
        f"{money(sense.sign * found.paid, unit)} a stage."
    )


def _how_many(view: ReportView, found: Contrast) -> str:
    warm_up = view.findings.warm_up
    missing = f" with an outcome, and {found.missing:,} without one" if found.missing else ""
    if found.in_part:
        never = found.missing - found.in_part
        none = f", and {never:,} without one" if never else ""
        missing = f" whose outcome was seen in full, {found.in_part:,} with a part of it{none}"
    if found.missing and found.sums:
        missing = f", of whose {found.outcomes:,} decisions {found.missing:,} have no outcome"
    after = f", after a warm-up of {warm_up:,} that no number counts" if warm_up else ""
    return f"Over {found.stages:,} stages{missing}{after}."


def _how_sure(view: ReportView, found: Contrast) -> str:
    if found.always is None:
        return f"There is no interval that holds at all times. {text(found.why)}".strip()
    together = " for all comparisons on this page together" * (len(view.findings.compared) > 1)
    missing = (
        " What was not seen of an outcome counts as the worst that is possible, for either side."
        if found.missing
        else ""
    )
    sure = f"{'each ' * bool(found.missing)}with {100 * level(view):g}% confidence{together}"
    shown = found if found.at_random is None else found.at_random
    word = view.findings.sense.value
    of = f"; the percent is of the {word} expected of {_reference(view)}" * _in_percent(shown)
    return (
        f"Intervals hold at all times at once, {sure}: "
        "they may be looked at, and the study stopped, at any stage. They are about what was to be "
        f"expected at these stages on average, given all outcomes before each{of}.{missing}"
    )


def _one_look(view: ReportView, found: Contrast) -> str:
    if found.in_part:
        return f"There is no interval for one look: {NO_SAMPLE}."
    if found.once is None:
        return f"{NO_BOOTSTRAP[0].upper()}{NO_BOOTSTRAP[1:]}."
    afterwards = view.findings.now is None and not view.findings.compared
    chosen = " The reference was chosen by its result, which favours it." if afterwards else ""
    unit = f" {text(view.findings.unit)}" if view.findings.unit else ""
    sample = "the stages with an outcome" if found.missing else "these stages"
    return (
        f"By a block bootstrap (roughly 95%, blocks of {found.block}): "
        f"{_ends_of(found, found.once, figure)}{unit} a stage. That one is about something else, "
        f"the mean of a process that does not change, of which {sample} are a sample; it is "
        "asymptotic, for one look, and too narrow where what is rare and large has not come yet."
        f"{chosen}"
    )
