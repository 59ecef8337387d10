"""Tasks and their store: the same records from wherever they come, and nothing computed twice."""

import subprocess
import sys
from concurrent.futures import Executor, Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bocopt import Replay, SampleAverage, Status, from_callables
from bocopt.core import Dims
from bocopt.paper import PaperStream
from bocopt.policies import Constant
from bocopt.problems import Knapsack
from bocopt_studies.learning.task import Learn
from bocopt_studies.paper.settings import Settings, tasks_of
from bocopt_studies.study import Size
from bocopt_studies.work.store import BlockStore
from bocopt_studies.work.task import Play, Record, Task
from bocopt_studies.work.work import Work

SIZE = Size(trials=5, horizon=3, seed=2)


class Here(Executor):
    """Runs tasks at once, counts them, and fails at the one after `limit`."""

    def __init__(self, limit: int = 1000) -> None:
        self.limit, self.calls = limit, 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.calls += 1
        if self.calls > self.limit:
            future.set_exception(KeyboardInterrupt())
        else:
            future.set_result(fn(*args, **kwargs))
        return future


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Task, "trials_per_block", 2)


def paper_tasks() -> list[Task]:
    return list(tasks_of(Settings(), SIZE, ["BMA", "PtO"]).values())


def same(one: list[Record], other: list[Record]) -> bool:
    return len(one) == len(other) and all(
        a.keys() == b.keys() and all(np.array_equal(a[k], b[k]) for k in a)
        for a, b in zip(one, other, strict=True)
    )


def finished(folder: Path, tasks: list[Task], fresh: bool = False) -> tuple[list[Record], int]:
    """The records, and how many blocks had to be computed."""
    executor = Here()
    work = Work(tasks, BlockStore(folder), fresh)
    work.finish(executor, lambda stages: None)
    return [work.record(task) for task in tasks], executor.calls


def test_a_record_holds_what_the_sense_of_the_problem_names() -> None:
    problem = from_callables(
        solve=lambda x, xi: np.minimum(xi, 1.0),
        cost=lambda x, z, xi: abs(z - xi).item(),
        dims=Dims(1, 1, 1),
        fallback=[0],
    )
    stream = Replay(np.zeros((3, 1)), [[0.0], [1.0], [4.0]])
    play: dict[str, Any] = {"problem": problem, "stream": stream, "seeds": (0,), "horizon": 3}
    for task in (Play(policy=Constant([0]), **play), Learn(policy=Constant([0]), **play)):
        found = task.run()
        assert "reward" not in found
        assert found["cost"].tolist() == [[0.0, 1.0, 4.0]]
    found = Play(policy=Constant([0]), **play).run()
    assert found["hindsight_cost"].tolist() == [[0.0, 0.0, 3.0]]


def test_a_record_holds_how_decisions_came_about() -> None:
    [saa] = tasks_of(Settings(), SIZE, ["SAA"]).values()
    status = saa.run()["status"]
    assert status.dtype == np.int8
    assert (status[:, 0] != Status.OPTIMAL).all()
    assert (status[:, 1:] == Status.OPTIMAL).all()


def test_tasks_do_not_warn_of_decisions_at_a_limit() -> None:
    problem = Knapsack(value=[12] * 4, capacity=[8] * 3, salvage=[3] * 3, node_limit=1)
    task = Play(
        policy=SampleAverage(problem),
        problem=problem,
        stream=PaperStream(),
        seeds=tuple(range(5)),
        horizon=12,
    )
    assert (task.run()["status"] == Status.LIMIT).mean() > 0.1  # a warning would be an error here


def test_blocks_join_to_the_whole(tmp_path: Path) -> None:
    records, computed = finished(tmp_path, paper_tasks())
    assert computed == 6  # blocks of 2, 2 and 1 trials, twice
    assert same(records, [task.run() for task in paper_tasks()])
    assert records[0]["reward"].shape == (5, 3)


def test_what_is_stored_is_not_computed_again(tmp_path: Path) -> None:
    records, _ = finished(tmp_path, paper_tasks())
    again, computed = finished(tmp_path, paper_tasks())
    assert computed == 0
    assert same(records, again)


def test_more_trials_compute_only_what_is_new(tmp_path: Path) -> None:
    finished(tmp_path, [replace(task, seeds=(2, 3)) for task in paper_tasks()])
    _, computed = finished(tmp_path, [replace(task, seeds=(2, 3, 4, 5)) for task in paper_tasks()])
    assert computed == 2


def test_equal_tasks_are_computed_once(tmp_path: Path) -> None:
    records, computed = finished(tmp_path, [*paper_tasks(), *paper_tasks()])
    assert computed == 6
    assert same(records[:2], records[2:])


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    expected, _ = finished(tmp_path / "whole", paper_tasks())
    work = Work(paper_tasks(), BlockStore(tmp_path / "cut"))
    heard: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        work.finish(Here(limit=4), heard.append)
    stored = len(list((tmp_path / "cut").glob("*.block")))
    assert stored == len(heard) < 6
    assert work.stages_missing == work.stages - sum(heard)
    records, computed = finished(tmp_path / "cut", paper_tasks())
    assert computed == 6 - stored
    assert same(records, expected)


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "another's"])
def test_a_damaged_block_is_computed_again(damage: str, tmp_path: Path) -> None:
    expected, _ = finished(tmp_path, paper_tasks())
    first, second = sorted(tmp_path.glob("*.block"))[:2]
    data = first.read_bytes()
    first.write_bytes(
        {
            "cut": data[:-9],
            "flipped": data[:-9] + bytes([data[-9] ^ 1]) + data[-8:],
            "empty": b"",
            "another's": second.read_bytes(),
        }[damage]
    )
    records, computed = finished(tmp_path, paper_tasks())
    assert computed == 1
    assert same(records, expected)


def test_fresh_work_computes_what_is_stored_and_leaves_the_rest_alone(tmp_path: Path) -> None:
    one, other = paper_tasks()
    finished(tmp_path, [one, other])
    records, computed = finished(tmp_path, [one], fresh=True)
    assert computed == 3
    assert same(records, [one.run()])
    assert finished(tmp_path, [other])[1] == 0


def test_what_another_process_is_writing_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "x.block.17.tmp").touch()
    finished(tmp_path, paper_tasks())
    assert (tmp_path / "x.block.17.tmp").exists()


def test_seconds_are_those_of_the_computation_whenever_it_was(tmp_path: Path) -> None:
    tasks = paper_tasks()
    work = Work(tasks, BlockStore(tmp_path))
    work.finish(Here(), lambda stages: None)
    took = work.seconds(tasks)
    assert took > 0
    assert Work(tasks, BlockStore(tmp_path)).seconds(tasks) == took
    assert work.seconds(tasks[:1]) + work.seconds(tasks[1:]) == pytest.approx(took)


def test_compiling_plays_one_stage_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    played: list[Task] = []
    monkeypatch.setattr(Play, "run", lambda task: played.append(task))
    Work(paper_tasks(), BlockStore(tmp_path)).compile()
    assert [(task.seeds, task.horizon) for task in played] == [((2,), 1)]


def test_a_digest_tells_apart_all_that_matters_and_nothing_else() -> None:
    task = paper_tasks()[0]
    others = [
        replace(task, seeds=(1,)),
        replace(task, horizon=4),
        paper_tasks()[1],
        *(
            tasks_of(settings, SIZE, ["BMA"])["BMA"]
            for settings in (
                Settings(offset=2.0),
                Settings(lower=1),
                Settings(lam=1e-3),
                Settings(capped=False),
                Settings(one_stream=True),
                Settings(move="corrected"),
            )
        ),
    ]
    digests = {other.digest for other in [task, *others]}
    assert len(digests) == len(others) + 1
    assert tasks_of(Settings(rate=0.5), SIZE, ["BMA"])["BMA"].digest == task.digest


def test_a_digest_is_the_same_in_another_process() -> None:
    code = (
        "from bocopt_studies.paper.settings import Settings, tasks_of\n"
        "from bocopt_studies.study import Size\n"
        "print(tasks_of(Settings(), Size(5, 3, 2), ['BMA'])['BMA'].digest)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == paper_tasks()[0].digest


def test_the_digest_of_a_task_has_that_of_the_software_in_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = paper_tasks()[0].digest
    monkeypatch.setattr("bocopt_studies.work.task.software", lambda modules: "another version")
    assert paper_tasks()[0].digest != before
