"""How often what a report says of all series together is untrue: of a stage, and of a year.

The panels are those of `panel_claims`, played and printed as a command would. In half of the kinds
an outcome is hidden one time in five, by chance or because it was a good one for the other
decision. What holds "if whether an outcome is missing does not depend on what it was" is judged
where that is so.
"""

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from alarms import Counted
from claims import ROUGHLY, Claim, in_large_sentence, in_words
from panel_claims import OTHER, PANELS, TIMES, Draw

from bocopt.app import Case, Spec, backtest_panel, panel_of
from bocopt.app.findings import PanelFindings
from bocopt.app.page.headline import sentence
from bocopt.app.page.view import ReportView
from bocopt.app.page.yearly import a_year
from bocopt.app.reading.columns import Column, Table
from bocopt.core import Array, BoolArray
from bocopt.policies import Constant
from bocopt.problems import Newsvendor

LOOKS = (40, TIMES)
YEAR = "a year"
DAYS = 365.25
_PROBLEM = Newsvendor(unit_cost=[1.0], price=2.0, upper=2.0, largest_demand=2.0)
_NUMBER = r"(-?[\d,.]+(?:e[+-]?\d+)?)"
_ENDS = rf"{_NUMBER}(?: to {_NUMBER})?"
_SEEN = re.compile(rf"it would have (saved|cost) \S+ EUR \([\d.]+%: {_ENDS}\)")
_WHATEVER = re.compile(rf"it would have (saved|cost) {_ENDS} EUR(?: more)? \([\d.]+%\), whatever")

Hide = Callable[[np.random.Generator, BoolArray], BoolArray]


def nothing(rng: np.random.Generator, lucky: BoolArray) -> BoolArray:
    return np.zeros(lucky.shape, bool)


def by_chance(rng: np.random.Generator, lucky: BoolArray) -> BoolArray:
    return rng.random(lucky.shape) < 0.2


def the_good_ones(rng: np.random.Generator, lucky: BoolArray) -> BoolArray:
    return lucky & (rng.random(lucky.shape) < 0.4)


HIDDEN: tuple[Hide, ...] = (nothing, by_chance, the_good_ones)


def played(lucky: BoolArray, hidden: BoolArray, delta: float) -> PanelFindings:
    """A backtest of one decision that costs 0, and another that costs -1 with luck, or else 1."""
    times, many = lucky.shape
    days = np.datetime64("2023-01-01") + np.arange(times)
    columns: dict[str, Column] = {
        "series": [f"shop {n:02}" for _ in range(times) for n in range(many)],
        "day": [str(day) for day in days for _ in range(many)],
        "y": np.where(hidden, np.nan, 2.0 * lucky).ravel(),
        "now": np.zeros(lucky.size),
    }
    frame = Table("panel.csv", "row", np.arange(1, lucky.size + 1), columns)
    panel = panel_of(frame, Spec("y", time="day", series="series", decisions="now"))
    with TemporaryDirectory() as folder:
        case = Case(
            name="panel",
            problem=_PROBLEM,
            policies={OTHER: Constant([1.0])},
            panel=panel,
            unit="EUR",
            confidence=1.0 - delta,
            results=Path(folder),
        )
        return backtest_panel(case)


def claims(found: PanelFindings) -> list[Claim]:
    """What is printed of all series together."""
    view, [one] = ReportView(found.totals, {}), found.totals.compared.values()
    year = in_year(a_year(found, view))
    return [*in_large_sentence(sentence(view)), *in_words(one.words(" EUR"), False), *year]


def in_year(said: str) -> list[Claim]:
    """What a paragraph on a year claims."""
    match = _SEEN.search(said) or _WHATEVER.search(said)
    if match is None:
        return []
    low, high = (float(end.replace(",", "")) for end in (match[2], match[3] or match[2]))
    low, high = (low, high) if match[1] == "saved" else (-high, -low)
    return [Claim(YEAR, low, high, 0, 10.0 ** np.ceil(np.log10(abs(high - low) + 1.0) - 4.0))]


def is_untrue(claim: Claim, each: Array, hidden: BoolArray) -> bool:
    """Whether the gains (n) to be expected of each series, at any time, are not as claimed."""
    gain = float(each.sum())
    if claim.kind == "amount" and hidden.any():  # of the outcomes that came, at times with any
        came = ~hidden
        gain = float((came @ each)[came.any(axis=1)].mean())
    if claim.kind == YEAR:
        gain *= DAYS
    near = 0.5001 * claim.digit + 1e-9
    wrong = not claim.low - near <= gain <= claim.high + near
    return wrong or claim.side * gain < -near


def untrue_kinds(draw: Draw, hide: Hide, delta: float, seed: int) -> dict[str, bool]:
    """One run: which kinds of claims were made, and whether one was ever untrue."""
    rng = np.random.default_rng(seed)
    lucky, chances = draw(rng)
    hidden, found = hide(rng, lucky), dict[str, bool]()
    hidden[0] = False  # a series has an outcome
    for t in LOOKS:
        for claim in claims(played(lucky[:t], hidden[:t], delta)):
            if claim.kind == ROUGHLY or (claim.kind == "amount" and hide is the_good_ones):
                continue
            wrong = is_untrue(claim, 2.0 * chances - 1.0, hidden[:t])
            found[claim.kind] = found.get(claim.kind, False) | wrong
    return found


def of_panels(draw: Draw, hide: Hide, delta: float, runs: int) -> list[Counted]:
    """One kind of panel: by kind of claim, in how many runs it was made, and was untrue."""
    made, untrue = Counter[str](), Counter[str]()
    for seed in range(runs):
        for kind, wrong in untrue_kinds(draw, hide, delta, seed).items():
            made[kind] += 1
            untrue[kind] += wrong
    said = [draw.__name__.replace("_", " "), hide.__name__.replace("_", " ")]
    name = f"sums: {said[0]}, {said[1]} hidden"
    return [
        Counted(name, delta, f"{kind} of all", made[kind], untrue[kind], delta) for kind in made
    ]


def sums_of_panels(delta: float, runs: int) -> list[Counted]:
    """All kinds of panels, with nothing hidden, outcomes hidden by chance, or the good ones."""
    return [row for draw in PANELS for hide in HIDDEN for row in of_panels(draw, hide, delta, runs)]
