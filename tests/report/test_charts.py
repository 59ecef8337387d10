"""Figures: names at the ends of curves, and bytes that do not change."""

from itertools import pairwise
from pathlib import Path

import pytest
from matplotlib.text import Annotation

from bocopt.report.blocks import Chart, Curve
from bocopt.report.charts import draw, save


def chart(*ends: float, name: str = "example") -> Chart:
    curves = [Curve(f"curve {i}", [1, 2, 3], [0.0, 1.0, end]) for i, end in enumerate(ends)]
    return Chart(name, "Example", "reward", curves)


@pytest.mark.parametrize(
    "ends", [(1.0,), (1.0, 1.0, 1.0), (0.0, 5.0, 5.01, 5.02), (5.0, 4.9, 0.0, 0.01, 0.02, 2, 2)]
)
def test_names_of_curves_stand_apart_and_in_order(ends: tuple[float, ...]) -> None:
    texts = [t for t in draw(chart(*ends)).axes[0].texts if isinstance(t, Annotation)]
    heights = [text.xy[1] for text in texts]
    order = sorted(range(len(ends)), key=lambda i: heights[i])
    assert [ends[i] for i in order] == sorted(ends)
    gaps = [heights[b] - heights[a] for a, b in pairwise(order)]
    assert all(gap > 0.07 for gap in gaps)
    assert max(heights) <= 1.0
    assert texts[0].get_text() == f"curve 0: {ends[0]:#.3g}"


def test_files_are_the_same_each_time_and_carry_no_date(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        save(chart(1.0, 2.0), tmp_path / folder)
    for kind in ("svg", "png", "pdf"):
        one, two = ((tmp_path / f / f"example.{kind}").read_bytes() for f in ("one", "two"))
        assert one == two
        assert b"Date" not in one


def test_one_stage_can_be_drawn(tmp_path: Path) -> None:
    only = Chart("one", "One", "reward", [Curve("a", [1], [2.0], [1.0], [3.0])])
    save(only, tmp_path)
    assert (tmp_path / "one.svg").exists()
