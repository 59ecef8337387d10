"""Gains of a year, if a year is as the times that were played."""

from typing import NamedTuple

import numpy as np

from bocopt.app.findings import PanelFindings
from bocopt.app.page.contrast import Ends, contrast
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
    times: float  # of decisions, in a year
    played: float  # years from the first time that counts to the last


def in_a_year(findings: PanelFindings, view: ReportView) -> Yearly | None:
    """Return the gains of a year; None where no clock shows times, or nothing is compared."""
    found, clock = contrast(view, view.first), findings.panel.clock
    if clock is None or found is None or len(view.stages) < 2:
        return None
    first, last = clock[view.stages[[0, -1]]].astype("M8[s]")  # months have no length of their own
    played = float((last - first) / _YEAR)
    times = (len(view.stages) - 1) / played
    always = None if found.always is None else (found.always[0] * times, found.always[1] * times)
    return Yearly(found.gain * times, always, times, played)


def a_year(findings: PanelFindings, view: ReportView) -> str:
    """Return a paragraph on the gain of a year, and on what is assumed of that year."""
    found = in_a_year(findings, view)
    if found is None:
        return ""
    verb, more = _WORDS[view.findings.sense, found.gain >= 0]
    gained = text(money(abs(found.gain), view.findings.unit))
    first, last = (text(view.times[at]) for at in view.stages[[0, -1]].tolist())
    seasons = " Not all seasons of a year were seen." if found.played < 0.99 else ""
    return paragraph(
        f"In a year of such times it would have {verb} {gained}{_interval(found)}{more}: "
        f"{found.times:,.0f} times of decisions, as often as from {first} to {last}, with as many "
        f"series at each.{seasons}"
    )


def _interval(found: Yearly) -> str:
    """Return the interval at all times, in the direction of the sentence."""
    if found.always is None:
        return ""
    low, high = found.always
    low, high = (low, high) if found.gain >= 0 else (-high, -low)
    return f" ({ends(figure(low), figure(high))})"
