"""How often a report names a series of a panel wrongly: what it says is read as it is printed.

Of the series that are named, a share is expected to be wrong: so one that is named is picked at
random, and it counts whether that one is wrong. Who looks knows the truth, and stops at the first
look at which a series is named wrongly, or else at the last.
"""

import re
from collections.abc import Callable, Sequence

import numpy as np
from alarms import Alarms, Counted

from bocopt.app import Panel, Spec, panel_of
from bocopt.app.page.discovered import discovered_words
from bocopt.app.playing.discoveries import discoveries_of
from bocopt.app.playing.play import paid
from bocopt.app.reading.columns import Column, Table
from bocopt.compared import NOW
from bocopt.core import Array, BoolArray
from bocopt.problems import Newsvendor

SERIES, TIMES, LOOKS = 20, 120, (40, 80, 120)
LUCKY = 0.75  # the chance of an outcome at which the policy is better, where it is
OTHER = "the other"
_PROBLEM = Newsvendor(unit_cost=[1.0], price=2.0, upper=2.0, largest_demand=2.0)
_SAID = re.compile(
    r"better on average so far in (?:none|\d+) of the \d+ series(?: \((.*?)\))? "
    r"and worse in (?:none|\d+)(?: \((.*?)\))?\. Of all"
)

Draw = Callable[[np.random.Generator], tuple[BoolArray, Array]]  # luck (times, n), chances (n)


def each_by_itself(rng: np.random.Generator) -> tuple[BoolArray, Array]:
    return rng.random((TIMES, SERIES)) < 0.5, np.full(SERIES, 0.5)


def all_alike(rng: np.random.Generator) -> tuple[BoolArray, Array]:
    return np.repeat(rng.random((TIMES, 1)) < 0.5, SERIES, axis=1), np.full(SERIES, 0.5)


def half_against_half(rng: np.random.Generator) -> tuple[BoolArray, Array]:
    one = rng.random((TIMES, 1)) < 0.5
    return one ^ (np.arange(SERIES) % 2 == 1), np.full(SERIES, 0.5)


def half_of_them_better(rng: np.random.Generator) -> tuple[BoolArray, Array]:
    """One number a time decides all outcomes: where luck is, it is everywhere."""
    chances = np.where(np.arange(SERIES) % 2 == 0, LUCKY, 0.5)
    return rng.random((TIMES, 1)) < chances, chances


PANELS: tuple[Draw, ...] = (
    each_by_itself,
    all_alike,
    half_against_half,
    half_of_them_better,
)


def empty() -> Panel:
    """Return a panel whose outcomes are all 0."""
    columns: dict[str, Column] = {
        "series": [f"shop {n:02}" for n in range(SERIES) for _ in range(TIMES)],
        "at": np.tile(np.arange(float(TIMES)), SERIES),
        "y": np.zeros(SERIES * TIMES),
    }
    frame = Table("panel.csv", "row", np.arange(1, SERIES * TIMES + 1), columns)
    return panel_of(frame, Spec("y", time="at", series="series"))


def until(panel: Panel, lucky: BoolArray, t: int) -> Panel:
    """Return the first t times of a panel with these outcomes."""
    series = tuple(
        one._replace(x=one.x[:t], xi=np.where(lucky[:t, n, None], 2.0, 0.0))
        for n, one in enumerate(panel.series)
    )
    return panel._replace(series=series, at=tuple(at[:t] for at in panel.at))


def said(panel: Panel, delta: float) -> str:
    """Return what a report says of one decision that costs 0, and another that costs 1 or -1."""
    each = [
        {
            name: paid(_PROBLEM, series, np.full((len(series.x), 1), z), np.zeros(len(series.x)))
            for name, z in ((NOW, 0.0), (OTHER, 1.0))
        }
        for series in panel.series
    ]
    found = discoveries_of(_PROBLEM, panel, NOW, OTHER, each, delta=delta)
    return discovered_words(found, panel.names)


def named(words: str) -> list[tuple[str, bool]]:
    """Return the series that are named, and whether as better."""
    found = _SAID.search(words)
    sides = ("", "") if found is None else (found[1] or "", found[2] or "")
    listed = zip(sides, (True, False), strict=True)
    return [(name, better) for side, better in listed for name in side.split(", ") if name]


def picked(panel: Panel, draw: Draw, delta: float, seed: int, looks: Sequence[int] = LOOKS) -> bool:
    """Return whether a series that was named, picked at random, was named wrongly."""
    rng = np.random.default_rng(seed)
    lucky, chances = draw(rng)
    truly = dict(zip(panel.names, chances > 0.5, strict=True))
    wrong = np.zeros(0, bool)
    for t in looks:
        found = named(said(until(panel, lucky, t), delta))
        wrong = np.array([not (better and truly[name]) for name, better in found], bool)
        if wrong.any():
            break
    return bool(wrong.size and wrong[rng.integers(wrong.size)])


def series_of_panels(delta: float, runs: int) -> list[Counted]:
    """Panels of 20 series in which the other decision is better in none, or in half of them."""
    panel = empty()
    return [
        Counted(
            f"panel: {draw.__name__.replace('_', ' ')}",
            delta,
            "a series that is named",
            runs,
            sum(picked(panel, draw, delta, seed) for seed in range(runs)),
            delta,
        )
        for draw in PANELS
    ]


PANEL_ALARMS: tuple[Alarms, ...] = (series_of_panels,)
