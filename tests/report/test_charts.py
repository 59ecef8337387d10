"""Figures: names at the ends of curves, and bytes that do not change."""

from itertools import pairwise

import matplotlib
import numpy as np
import pytest
from matplotlib.text import Annotation

from bocopt_studies.report.blocks import Chart, Curve
from bocopt_studies.report.charts import draw, files


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


def test_files_are_the_same_each_time_and_carry_no_date_or_version() -> None:
    one, two = files(chart(1.0, 2.0)), files(chart(1.0, 2.0))
    assert list(one) == ["example.svg", "example.png", "example.pdf"]
    assert one == two
    for content in one.values():
        assert b"Date" not in content
        assert matplotlib.__version__.encode() not in content


def test_one_stage_and_many_curves_can_be_drawn() -> None:
    only = Chart("one", "One", "reward", [Curve("a", [1], [2.0], [1.0], [3.0])])
    assert files(only)["one.svg"]
    assert len(draw(chart(*range(9))).axes[0].lines) == 9


def test_bands_are_drawn() -> None:
    band = Chart("b", "B", "reward", [Curve("a", [1, 2], [2.0, 2.0], [1.0, 1.5], [3.0, 2.5])])
    [area] = draw(band).axes[0].collections
    heights = np.asarray(area.get_paths()[0].vertices)[:, 1]
    assert (heights.min(), heights.max()) == (1.0, 3.0)
    assert not draw(chart(1.0)).axes[0].collections
