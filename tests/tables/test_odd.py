"""Notes on what looks wrong: told where it is, and not where data are merely wild."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bocopt.app import Spec, read, series_of
from bocopt.app.case import open_case
from bocopt.app.features.odd import alike, far
from bocopt.app.starters import EXAMPLES, starter

LAWS: dict[str, Any] = {
    "normal": lambda rng, n: rng.normal(100, 20, n),
    "exponential": lambda rng, n: rng.exponential(50, n),
    "lognormal": lambda rng, n: rng.lognormal(3, 0.7, n),
    "sparse counts": lambda rng, n: rng.poisson(0.3, n).astype(float),
    "counts": lambda rng, n: rng.poisson(12, n).astype(float),
    "yearly season": lambda rng, n: 100 * (1.5 + np.sin(np.arange(n) / 58)) + rng.normal(0, 9, n),
    "weekends": lambda rng, n: np.where(np.arange(n) % 7 > 4, 300, 80) + rng.normal(0, 9, n),
    "returns, with 5 degrees of freedom": lambda rng, n: rng.standard_t(5, n),
}


def noted(values: Any) -> list[str]:
    return list(far("demand", np.asarray(values), "line", np.arange(2, 2 + len(values))))


@pytest.mark.parametrize("law", LAWS)
def test_few_alarms_are_false(law: str) -> None:
    """At most 1 of 200 series of 500 outcomes."""
    series = (LAWS[law](np.random.default_rng(seed), 500) for seed in range(200))
    assert sum(bool(noted(values)) for values in series) <= 1


@pytest.mark.parametrize("law", ["normal", "counts", "yearly season"])
def test_eight_times_too_large_is_seen(law: str) -> None:
    """At one of 500, whichever it is, in 200 series."""
    seen = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        values = LAWS[law](rng, 500)
        place = int(rng.choice(np.flatnonzero(values >= np.median(values))))
        values[place] *= 8
        seen += any(f" at line {place + 2}, far from all others" in one for one in noted(values))
    assert seen >= 190


def test_several_are_told_in_one_note() -> None:
    values = np.random.default_rng(0).normal(100, 10, 500)
    values[[7, 70, 77, 400]] *= 8
    (note,) = noted(values)
    assert "at line 9" in note
    usual = np.delete(values, [7, 70, 77, 400])
    between = f"{usual.min():g} to {usual.max():g}"
    assert note.endswith(f" and 1 more, far from all others ({between}): are they right?")


def test_too_few_outcomes_say_nothing() -> None:
    assert noted([1.0, 2.0, 1.5, 900.0]) == []
    assert noted([5.0] * 40 + [6.0]) == []  # nothing to measure a distance by


def test_categories_that_are_one_for_a_person() -> None:
    assert list(alike("store", ["A", "B", "a1"])) == []
    (note,) = alike("store", ["North Shop", "NorthShop", "north  shop", "East", "east"])
    assert note.startswith("'store' has 'East' and 'east', 'North Shop' and 'NorthShop' and ")


def test_a_table_has_these_notes(tmp_path: Path) -> None:
    path = tmp_path / "sales.csv"
    rows = (f"{d},{'tv' if d == 9 else 'TV '},{500 if d == 20 else 30 + d % 7}" for d in range(40))
    path.write_text("\n".join(["at,channel,demand", *rows, ""]))
    spec = Spec("demand", categories="channel", time="at", warm_up=10)
    assert series_of(read(path), spec).notes == (
        "'demand' is 500 at line 22, far from all others (30 to 36): is that right?",
        "'channel' has 'TV' and 'tv', which differ in case or spaces alone: they count as "
        "different.",
    )


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_examples_look_right(example: str, tmp_path: Path) -> None:
    for name, content in starter(example).items():
        (tmp_path / name).write_bytes(content)
    notes = open_case(tmp_path / "bocopt.toml").data.notes
    assert not any("far from" in note or "differ in" in note for note in notes)
