"""Series in which a policy is named better or worse: in words, and as a section of the report."""

from collections.abc import Sequence

import numpy as np

from bocopt.app.findings import Discoveries
from bocopt.app.page.markup import paragraph, section, text
from bocopt.app.page.numbers import target
from bocopt.compared import RECORDED
from bocopt.core import BoolArray

DISCOVERED = "Better or worse, series by series"
BETTER, WORSE, OPEN = "better", "worse", "open"
_LISTED = 20  # names of each side, in the report


def verdicts(found: Discoveries) -> list[str]:
    """Return whether the policy is better or worse in each series (n), or whether that is open."""
    sides = zip(found.better.tolist(), found.worse.tolist(), strict=True)
    return [BETTER if better else WORSE if worse else OPEN for better, worse in sides]


def discovered_words(found: Discoveries, names: Sequence[str], listed: int = _LISTED) -> str:
    """Return in sentences which series are named, and how many of them may be wrong.

    names       (n) of the series
    listed      how many of them are named on each side; the others are counted
    """
    begin, of = f"Compared with {found.reference}, {found.policy}", f"of the {len(names):,} series"
    if not (found.better | found.worse).any():
        said = f"{begin} can be called better or worse in none {of} yet."
        why = " That needs costs whose ranges are known before the outcome, and hold."
        return said + why * (not np.isfinite(found.log_e).any())
    better = _counted(found.better, names, listed, of)
    worse = _counted(found.worse, names, listed)
    provided = f", provided that {RECORDED}" * bool(found.unrecorded)
    return (
        f"{begin} is better on average so far in {better} and worse in {worse}. Of all series that "
        f"are named so, {target(found.delta)} at most are expected to be named wrongly, however "
        f"series depend on each other, and whenever one looks{provided}."
    )


def discovered(found: Discoveries | None, names: Sequence[str]) -> str:
    """Return the section on these series; empty where there is nothing to compare with."""
    if found is None:
        return ""
    note = (
        "By e-BH over all series: bets on each that stake on what was to be expected at its "
        "decisions on average, given all outcomes of earlier times. Nothing is said of decisions "
        "to come. Where it is open, gains and losses of a series may be chance."
    )
    return section(
        DISCOVERED, paragraph(text(discovered_words(found, names))), paragraph(note, css="note")
    )


def _counted(which: BoolArray, names: Sequence[str], listed: int, of: str = "") -> str:
    """Return how many series are chosen, and the first of their names."""
    chosen = [names[number] for number in np.flatnonzero(which).tolist()]
    if not chosen:
        return f"none {of}".strip()
    more = f" and {len(chosen) - listed:,} more" if len(chosen) > listed else ""
    return f"{len(chosen):,} {of}".strip() + f" ({', '.join(chosen[:listed])}{more})"
