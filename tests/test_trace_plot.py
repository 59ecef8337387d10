"""The figure of a run has the numbers of the run."""

import sys
from collections.abc import Iterator
from itertools import islice
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from registry import KNAPSACK, STREAM

from bocopt import Replay, run
from bocopt.extras import needed
from bocopt.policies import Constant
from bocopt.trace import record

mpl.use("Agg")

from matplotlib import pyplot

POLICY = Constant([2, 1])


def trace(**options: Any) -> Any:
    return record(run(POLICY, STREAM, problem=KNAPSACK, horizon=30, **options), KNAPSACK.sense)


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    pyplot.close("all")


def test_lines_are_means_over_the_stages_so_far() -> None:
    one = trace()
    axes = one.plot(unit="EUR")
    reward, hindsight = axes.get_lines()
    so_far = np.arange(1, 31)
    assert reward.get_xdata() == pytest.approx(so_far)
    assert reward.get_ydata() == pytest.approx(np.cumsum(one.reward) / so_far)
    assert hindsight.get_ydata() == pytest.approx(np.cumsum(-one.hindsight) / so_far)
    assert axes.get_xlabel() == "stage"
    assert axes.get_ylabel() == "mean reward per stage so far (EUR)"
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels[0] == f"reward: {one.reward.mean():.4g}"
    assert not axes.collections  # of one trial, there is no band
    assert reward.get_linestyle() != hindsight.get_linestyle()  # apart in grey


def test_a_band_holds_the_middle_of_the_trials() -> None:
    many = trace(seeds=range(8))
    axes = many.plot()
    band = axes.collections[0].get_paths()[0].vertices
    last = band[band[:, 0] == 30][:, 1]
    means = many.reward.mean(axis=-1)
    assert (last.min(), last.max()) == pytest.approx(tuple(np.quantile(means, [0.1, 0.9])))
    assert axes.get_lines()[0].get_ydata()[-1] == pytest.approx(means.mean())
    assert axes.get_legend().get_title().get_text() == "Band: 10% to 90% of 8 trials"
    x, xi = (np.stack(part) for part in zip(*islice(STREAM.stages(np.array(0)), 9), strict=True))
    one_series = run(POLICY, Replay(x, xi), problem=KNAPSACK, seeds=range(3))
    legend = record(one_series, KNAPSACK.sense).plot().get_legend()
    assert legend is not None
    assert "3 policy seeds on one series" in legend.get_title().get_text()


def test_given_axes_are_drawn_on_and_unknown_hindsight_is_not() -> None:
    figure, axes = pyplot.subplots()
    assert trace(hindsight=False).plot(axes) is axes
    assert len(axes.get_lines()) == 1
    assert figure.axes == [axes]
    assert len(pyplot.get_fignums()) == 1


def test_one_stage_is_a_figure_too() -> None:
    short = record(run(POLICY, STREAM, problem=KNAPSACK, horizon=1), KNAPSACK.sense)
    assert short.plot().get_lines()[0].get_ydata() == pytest.approx(short.reward)


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    needed.cache_clear()
    with pytest.raises(ModuleNotFoundError, match=r'Trace.plot needs .*: pip install "bocopt\[p'):
        trace().plot()
    needed.cache_clear()
