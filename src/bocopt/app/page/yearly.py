"""Gains of a year, if a year is as the times that were played."""

from typing import NamedTuple

import numpy as np

from bocopt.app.findings import PanelFindings
from bocopt.app.page.contrast import Ends, contrast, level
from bocopt.app.page.markup import paragraph, text
from bocopt.app.page.numbers import ends, figure, money
from bocopt.app.page.view import ReportView
from bocopt.core import Sense

#: Of a gain: what was done, and what stands after the number.
_WORDS = {
    (Sense.MINIMISE, True): ("saved", ""),
    (Sense.MINIMISE, False): ("cost", " more"),
    (Sense.MAXIMISE, True): ("earned", " more"),
    (Sense.MAXIMISE, False): ("earned", " less"),
}
_YEAR = np.timedelta64(31_557_600, "s")  # 365.25 days


class Yearly(NamedTuple):
    """Gains of the first policy in a year; negative where it is worse."""

    gain: float
    always: Ends | None  # where that lies which is to be expected, at all times at once
    times: float  # of decisions that are compared, in a year
    played: float  # years from the first time that counts to the last


def in_a_year(findings: PanelFindings, view: ReportView) -> Yearly | None:
    """Return the gains of a year; None where no clock shows times, or nothing is compared."""
    found, clock = contrast(view, view.first), findings.panel.clock
    if clock is None or found is None or len(found.at) < 2:
        return None
    first, last = clock[found.at[[0, -1]]].astype("M8[s]")  # months have no length of their own
    played = float((last - first) / _YEAR)
    times = (len(found.at) - 1) / played
    always = None if found.always is None else (found.always[0] * times, found.always[1] * times)
    return Yearly(found.gain * times, always, times, played)


def a_year(findings: PanelFindings, view: ReportView) -> str:
    """Return a paragraph on the gain of a year, and on what is assumed of that year.

    It is empty where outcomes are missing of which nothing is known.
    """
    found, compared = in_a_year(findings, view), contrast(view, view.first)
    if found is None or compared is None or (compared.missing and found.always is None):
        return ""
    gained = _whatever(view, found) if compared.missing else _as_seen(view, found)
    first, last = (text(view.times[at]) for at in compared.at[[0, -1]].tolist())
    seasons = " Not all seasons of a year were seen." if found.played < 0.99 else ""
    return paragraph(
        f"In a year of such times it would have {gained}: "
        f"{found.times:,.0f} times of decisions, as often as from {first} to {last}, with as many "
        f"series at each.{seasons}"
    )


def _as_seen(view: ReportView, found: Yearly) -> str:
    """Return the gain at the average that was seen, and its interval at all times."""
    verb, more = _WORDS[view.findings.sense, found.gain >= 0]
    gained = text(money(abs(found.gain), view.findings.unit))
    if found.always is None:
        return f"{verb} {gained}{more} at the average that was seen, of which no interval is known"
    return f"{verb} {gained} ({_sure(view)}: {_between(found.always, found.gain)}){more}"


def _whatever(view: ReportView, found: Yearly) -> str:
    """Return between what the gain is, whatever the outcomes were that never came."""
    assert found.always is not None
    high = found.always[1]
    verb, more = _WORDS[view.findings.sense, high > 0]
    said = f"{_between(found.always, high)} {view.findings.unit}".strip()
    return f"{verb} {text(said)}{more} ({_sure(view)}), whatever the missing outcomes were"


def _sure(view: ReportView) -> str:
    return f"{100 * level(view):g}%"


def _between(always: Ends, gain: float) -> str:
    """Return an interval, in the direction of the sentence."""
    low, high = always if gain >= 0 else (-always[1], -always[0])
    return ends(figure(low), figure(high))
