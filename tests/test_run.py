"""The loop and its record."""

import csv
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cases import parts

from bocopt import Ensemble, Mixture, Replay, SampleAverage, Trace, backtest, run
from bocopt.core import Array, IntArray, Sense, Status
from bocopt.loop import Stage
from bocopt.models import ConstantVariance, Remembering
from bocopt.paper import PaperStream
from bocopt.policies import Constant
from bocopt.problems import Knapsack, Newsvendor
from bocopt.trace import mean_sd, record

PROBLEM = Knapsack(value=[12.0] * 4, capacity=[8.0] * 3, salvage=[3.0] * 3)


def small_trace(seeds: object = range(3), horizon: int = 7) -> Trace:
    policy, problem, stream = parts("hot", "BGS")
    return record(run(policy, stream, problem=problem, seeds=seeds, horizon=horizon), problem.sense)


def test_trace_shapes_and_meaning() -> None:
    trace = small_trace()
    assert trace.horizon == 7
    assert not trace.feasible.all()
    assert trace.z.shape == (3, 7, 4)
    assert trace.xi.shape == (3, 7, 12)
    loads = (trace.xi.reshape(3, 7, 3, 4) * trace.z[:, :, None, :]).sum(axis=-1)
    assert (trace.feasible == (loads <= 8).all(axis=-1)).all()
    assert (trace.reward[~trace.feasible] == 0).all()
    assert (trace.regret >= 0).all()
    assert trace.solvable.all()
    assert trace.rejuvenations.shape == (3,)
    assert (trace.info["mix_loss"] <= trace.info["mean_loss"] + 1e-12).all()
    assert small_trace(seeds=1).z.shape == (7, 4)


def test_last_half_is_the_last_floor_of_half_the_stages() -> None:
    trace = small_trace()
    averages = trace.averages()
    assert averages["reward_last"] == pytest.approx(trace.reward[:, 4:].mean(axis=1))
    assert averages["feasibility"] == pytest.approx(trace.feasible.mean(axis=1))
    summary = trace.summary()["reward"]
    assert summary.mean == pytest.approx(trace.reward.mean())
    assert summary.sd == pytest.approx(np.std(trace.reward.mean(axis=1), ddof=1))


def test_one_stage_is_its_own_last_half_and_one_trial_has_no_spread() -> None:
    trace = small_trace(seeds=[5], horizon=1)
    assert trace.averages()["reward_last"] == trace.averages()["reward"] == trace.reward[0, 0]
    assert np.isnan(mean_sd(trace.averages()["reward"]).sd)


def test_csv_holds_every_number(tmp_path: Path) -> None:
    trace = small_trace()
    trace.to_csv(tmp_path / "trace.csv")
    assert "promised_reward" in trace.arrays()
    with open(tmp_path / "trace.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3 * 7
    arrays = trace.arrays()
    for row in rows:
        trial, stage = int(row["trial"]), int(row["stage"])
        for name, values in arrays.items():
            cell = float(row[name]) if row[name] else np.nan
            assert cell == values[trial, stage] or np.isnan([cell, values[trial, stage]]).all()


@pytest.mark.parametrize("name", ["=HYPERLINK(1)", "+1", "-1", "@x", "\tx", "\rx"])
def test_no_name_in_a_csv_file_is_a_formula(name: str, tmp_path: Path) -> None:
    trace = replace(small_trace(), info={name: np.ones((3, 7))})
    trace.to_csv(tmp_path / "trace.csv")
    with open(tmp_path / "trace.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert f"'{name}" in rows[0]
    assert name not in rows[0]
    assert min(float(row["reward"]) for row in rows) == trace.reward.min()


def test_a_csv_file_is_utf8_whatever_its_names_hold(tmp_path: Path) -> None:
    trace = replace(small_trace(), info={"größe": np.ones((3, 7)), "\ud800": np.ones((3, 7))})
    trace.to_csv(tmp_path / "trace.csv")
    header = (tmp_path / "trace.csv").read_bytes().split(b"\r\n")[0].decode("utf-8")
    assert header.endswith("größe,\\ud800")


def test_a_csv_file_is_whole_or_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "trace.csv").write_text("before")
    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", failing)
        with pytest.raises(OSError, match="full"):
            small_trace().to_csv(tmp_path / "trace.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["trace.csv"]
    assert (tmp_path / "trace.csv").read_text() == "before"


def failing(handle: int) -> None:
    raise OSError("the disk is full")


def test_a_cost_is_shown_as_a_cost() -> None:
    stages = list(run(Constant((0, 0, 0, 0)), PaperStream(), problem=PROBLEM, horizon=2))
    assert record(stages, Sense.MINIMISE).summary()["cost"].mean == -72
    assert record(stages, Sense.MAXIMISE).summary()["reward"].mean == 72


def with_status(*statuses: Status) -> Trace:
    """Two trials, of which the first decided with these statuses and the second optimally."""
    codes = np.array([statuses, [Status.OPTIMAL] * len(statuses)])
    return replace(small_trace([0, 1], len(statuses)), status=codes)


def test_shares_of_how_decisions_came_about() -> None:
    trace = with_status(*[Status.LIMIT] * 3, Status.OPTIMAL)
    assert {name: share.tolist() for name, share in trace.shares().items()} == {
        "OPTIMAL": [0.25, 1.0],
        "LIMIT": [0.75, 0.0],
    }
    summary = trace.summary()
    assert summary["share_limit"].mean == 0.375
    assert summary["share_limit"].sd == pytest.approx(0.75 / np.sqrt(2))
    assert [name for name in summary if name.startswith("share")] == ["share_limit"]


@pytest.mark.parametrize("status", [s for s in Status if s is not Status.OPTIMAL])
def test_what_is_not_optimal_is_in_the_summary(status: Status) -> None:
    assert with_status(status).summary()[f"share_{status.name.lower()}"].mean == 0.5


def stages_with(status: Status, number: int, total: int) -> list[Stage]:
    """Stages of one trial, the first of them decided with this status."""
    stages = []
    for stage in run(Constant((0, 0, 0, 0)), PaperStream(), problem=PROBLEM, horizon=total):
        code = np.array(status if stage.t < number else Status.OPTIMAL)
        solution = stage.decision.solution._replace(status=code)
        stages.append(stage._replace(decision=stage.decision._replace(solution=solution)))
    return stages


def test_a_record_warns_once_of_many_decisions_at_a_limit() -> None:
    with pytest.warns(UserWarning, match="More than a tenth of the decisions") as warned:
        record(stages_with(Status.LIMIT, 11, 100), PROBLEM.sense)
    assert len(warned) == 1


@pytest.mark.parametrize(
    ("status", "number", "total"),
    [(Status.LIMIT, 10, 100), (Status.LIMIT, 9, 9), (Status.GIVEN, 50, 50)],
)
def test_a_record_does_not_warn_of_few_of_them_or_of_others(
    status: Status, number: int, total: int
) -> None:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        record(stages_with(status, number, total), PROBLEM.sense)
    assert warned == []


def test_a_backtest_is_the_record_of_a_run_over_the_past() -> None:
    problem = replace(PROBLEM, alpha=0.9)
    mixture = Mixture(dim_xi=12, members=[ConstantVariance()], scenarios=8)
    x, xi = np.random.default_rng(0).uniform(0.1, 1.0, (2, 6, 12))
    for policy in (SampleAverage(problem), Ensemble(problem, mixture)):
        stages = run(policy, Replay(x, xi), seeds=[3, 4], hindsight=False)
        found = backtest(policy, x.tolist(), xi, seeds=[3, 4], hindsight=False)
        for name, expected in record(stages, problem.sense).arrays().items():
            assert np.array_equal(found.arrays()[name], expected, equal_nan=True)
        assert found.sense is Sense.MAXIMISE


def test_the_past_may_have_no_contexts_or_gaps_in_them() -> None:
    shop, xi = Newsvendor(unit_cost=[1.0], price=[3.0]), [[4.0], [7.0], [6.0], [5.0]]
    for each in (xi, [xi, xi]):
        seeds = range(2) if each is not xi else 0
        trace = backtest(shop, None, each, seeds=seeds)
        assert trace.x.shape == (*trace.cost.shape, 0)
        assert np.isfinite(trace.cost).all()
    gaps = [[1.0], [np.nan], [3.0], [np.nan]]
    filled = Ensemble(shop, Remembering(Mixture(dim_xi=1), missing="mean"))
    assert np.isfinite(backtest(filled, gaps, xi).cost).all()
    with pytest.raises(ValueError, match=r"'x' parameter of Replay must be finite. Got nan at"):
        backtest(shop, gaps, xi)
    with pytest.raises(ValueError, match="'xi' parameter of backtest must be an array of shape"):
        backtest(shop, None, [4.0, 7.0])
    with pytest.raises(ValueError, match="'xi' parameter of Replay must be 2 stages long"):
        backtest(shop, [[1.0], [2.0]], xi)


def test_a_backtest_warns_of_decisions_at_a_limit_where_it_was_called() -> None:
    hard = replace(PROBLEM, node_limit=1)
    past = np.random.default_rng(0).uniform(0.1, 1.0, (20, 12))
    with pytest.warns(UserWarning, match="More than a tenth of the decisions") as warned:
        backtest(SampleAverage(hard), None, past)
    assert [one.filename for one in warned] == [__file__]


def test_the_spread_is_over_trials_or_over_seeds_on_one_series() -> None:
    replay = Replay(np.zeros((5, 3)), np.ones((5, 12)))
    stages = list(run(Constant((1, 1, 1, 1)), replay, problem=PROBLEM, seeds=[0, 1]))
    assert record(stages, PROBLEM.sense).spread_over == "policy seeds on one series"
    assert small_trace().spread_over == "trials"
    assert small_trace(seeds=[3]).spread_over == "trials"
    assert small_trace(seeds=3).spread_over == "trials"


def test_without_a_horizon_the_stream_decides() -> None:
    replay = Replay(np.zeros((5, 3)), np.ones((5, 12)))
    assert len(list(run(Constant((1, 1, 1, 1)), replay, problem=PROBLEM))) == 5


class NoStages:
    """A stream that ends before it begins."""

    def stages(self, seeds: IntArray) -> Iterator[tuple[Array, Array]]:
        return iter(())


@pytest.mark.parametrize(("horizon", "wanted"), [(None, "at least one"), (3, "3")])
def test_a_stream_that_ends_too_early_is_an_error(horizon: int | None, wanted: str) -> None:
    with pytest.raises(ValueError, match=f"ended after 0 stages; {wanted} wanted"):
        list(run(Constant((1, 1, 1, 1)), NoStages(), problem=PROBLEM, horizon=horizon))


def test_a_hindsight_that_was_beaten_shows_as_a_negative_regret() -> None:
    """As it can be where a user's solver is not exact."""
    trace = small_trace()
    assert replace(trace, hindsight=trace.cost + 2.0).regret == pytest.approx(-2.0)


def test_a_stream_without_context_and_a_policy_without_particles() -> None:
    replay = Replay(np.zeros((5, 0)), np.ones((5, 12)))
    trace = record(run(Constant((1, 1, 1, 1)), replay, problem=PROBLEM), PROBLEM.sense)
    assert trace.x.shape == (5, 0)
    assert trace.rejuvenations == 0


def test_replay_keeps_what_it_was_given() -> None:
    x, xi = np.zeros((3, 1)), np.ones((3, 12))
    replay = Replay(x, xi)
    xi[:] = np.nan
    assert all((outcome == 1).all() for _, outcome in replay.stages(np.array(0)))


def test_hindsight_where_nothing_is_feasible_is_the_payment() -> None:
    problem = Knapsack(value=[12.0], capacity=[8.0], salvage=[3.0], lower=1, infeasible_reward=-4.0)
    replay = Replay([[0.0]], [[9.0]])
    trace = record(run(Constant((1,)), replay, problem=problem), problem.sense)
    assert trace.hindsight.tolist() == [4.0]
    assert trace.regret.tolist() == [0.0]
    assert not trace.solvable.any()


def test_several_numbers_a_stage_are_columns_of_their_own(tmp_path: Path) -> None:
    mixture = Mixture(dim_xi=12, members=[ConstantVariance()], scenarios=16)
    stages = run(Ensemble(PROBLEM, mixture), PaperStream(), seeds=[0, 1], horizon=3)
    trace = record(stages, PROBLEM.sense)
    trace.to_csv(tmp_path / "run.csv")
    lines = (tmp_path / "run.csv").read_text().splitlines()
    header, last = lines[0].split(","), lines[-1].split(",")
    assert len(lines) == 1 + 2 * 3
    assert float(last[header.index("weights1")]) == trace.info["weights"][1, 1, 2]
    assert float(last[header.index("arm_weights0")]) == trace.info["arm_weights"][1, 0, 2]


def test_what_meets_the_capacity_exactly_is_feasible() -> None:
    problem = Knapsack(value=[12.0], capacity=[8.0], salvage=[3.0])
    exactly, too_much = (
        record(run(Constant((z,)), Replay([[0.0]], [[1.0]]), problem=problem), problem.sense)
        for z in (8, 9)
    )
    assert exactly.feasible.all()
    assert not too_much.feasible.any()
    assert exactly.hindsight.tolist() == [-96.0]  # which takes 8 as well
    assert exactly.solvable.all()
