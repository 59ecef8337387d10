"""The studies of the default learner, at a tiny size."""

from itertools import islice
from typing import Any

import numpy as np
import pytest
from small_studies import results

from bocopt_studies.learning import streams, table
from bocopt_studies.learning.task import Learn
from bocopt_studies.learning.worlds import Later, Synthetic, worlds
from bocopt_studies.study import Size

SIZE = Size(3, 8)


@pytest.fixture(scope="module")
def summaries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("report")
    found = {
        **results("learning-table", SIZE, folder),
        **results("learning-streams", SIZE.part(), folder),
    }
    assert (folder / "learning-calibration.png").exists()
    assert (folder / "learning-weights.svg").exists()
    return {name: result.summary for name, result in found.items()}


def test_every_policy_is_compared(summaries: dict[str, Any]) -> None:
    rows = summaries["learning-table"]["rows"]
    assert len(rows) == 3 + 8 + 5 + 2
    assert rows[table.AVERAGE]["minus"][table.AVERAGE]["all"]["mean"] == 0.0
    places = summaries["learning-streams"]["worlds"]
    assert len(places) == 4
    for place in places.values():
        best = place["rows"][place["best_member"]]["all"]["mean"]
        ensemble = place["rows"][table.ENSEMBLE]["all"]["mean"]
        assert place["share_of_best"] == pytest.approx(ensemble / best)
        assert sum(place["histogram"]) == pytest.approx(20, abs=0.05)
        assert sum(w[-1] for w in place["weights"]) == pytest.approx(1, abs=1e-4)


def test_the_regret_that_was_seen_is_that_of_the_drawn_arms(
    summaries: dict[str, Any],
) -> None:
    task = table.tasks(SIZE)[table.ENSEMBLE]
    record = task.run()
    costs = record["arm_cost"].sum(axis=1).min(axis=-1)
    seen = (-record["reward"].sum(axis=-1) - costs).mean()
    assert summaries["learning-table"]["behind"]["mean"] == pytest.approx(seen, rel=1e-5)
    assert isinstance(task, Learn)


def test_coverage_by_hand() -> None:
    probability = np.array([[0.01, 0.3], [0.5, 0.97], [0.2, 0.9]])
    assert streams.coverage(probability) == {"50": 2 / 6, "90": 4 / 6}
    assert streams._histogram(np.full(7, 0.99))[-1] == 20.0


def test_the_best_family_is_left_out() -> None:
    world = worlds(10)["paper"]
    agnostic: Any = table.ensembles(world)[table.AGNOSTIC]
    assert not any("Random" in name for name in agnostic.model.law_names)
    assert len(agnostic.model.law_names) == 2 * 2 * (2 + 4)  # scales, tails, two of four discounted


@pytest.mark.parametrize("law", ["student", "lognormal"])
def test_synthetic_streams_show_the_law_that_they_know(law: Any) -> None:
    stream = Synthetic(3, 4, law, 1)
    (x, xi), *_ = islice(stream.stages(np.arange(2000)), 1)
    again = stream.sample_given(x, np.random.default_rng(0).normal(size=(2000, stream.dim_noise)))
    assert (xi >= 0).all()
    assert np.quantile(xi, 0.9, axis=0) == pytest.approx(np.quantile(again, 0.9, axis=0), rel=0.1)
    assert np.abs(np.linalg.eigvals(stream._coefficients[0])).max() < 1


def test_a_later_stream_is_the_same_one() -> None:
    stream, seeds = Synthetic(2, 2, "student"), np.array([1])
    all_of_it = list(islice(stream.stages(seeds), 6))
    later = list(islice(Later(stream, 4).stages(seeds), 2))
    assert (later[0][0] == all_of_it[4][0]).all()
    assert (later[1][1] == all_of_it[5][1]).all()
