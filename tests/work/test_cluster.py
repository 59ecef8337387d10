"""Studies on a Dask cluster: the same bytes, or a sentence that says why not."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor
from pathlib import Path
from typing import Any

import dask_cluster
import pytest
from elsewhere import changed
from typer.testing import CliRunner

from bocopt.app.cli import app
from bocopt.remote.cluster import Cluster, ClusterLostError, NoSchedulerError, cluster
from bocopt.remote.origin import ForeignWorkerError
from bocopt_studies.paper.settings import Settings, tasks_of
from bocopt_studies.study import Size
from bocopt_studies.work.store import BlockStore
from bocopt_studies.work.task import Task
from bocopt_studies.work.work import Work

pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with dask_cluster.scheduler() as (found, _), dask_cluster.workers(found):
        yield found


def tasks() -> list[Task]:
    return list(tasks_of(Settings(), Size(trials=3, horizon=3), ["SAA", "PtO"]).values())


def wait_until(condition: Any, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def ran(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(words))
    return result.exit_code, re.sub(r"[\s│]+", " ", result.output)


def test_records_are_those_of_this_process(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Task, "trials_per_block", 1)
    work = Work(tasks(), BlockStore(tmp_path))
    sizes: list[int] = []
    with cluster(address) as executor:
        wait_until(lambda: executor.size() == 2)
        work.finish(executor, lambda stages: sizes.append(executor.size()), executor.size)
    assert len(sizes) == 6
    assert set(sizes) == {2}
    for task in tasks():
        ours, theirs = task.run(), work.record(task)
        assert {k: v.tobytes() for k, v in ours.items()} == {
            k: v.tobytes() for k, v in theirs.items()
        }


def test_a_worker_with_other_code_is_refused_by_name(tmp_path: Path) -> None:
    other = changed(tmp_path, "streams/paper.py", "_G = 2.5", "_G = 2.6")
    work = Work(tasks(), BlockStore(tmp_path / "blocks"))
    with (
        dask_cluster.scheduler() as (address, _),
        dask_cluster.workers(address, PYTHONPATH=str(other)),
        cluster(address) as executor,
        pytest.raises(ForeignWorkerError, match="its bocopt code differs") as refused,
    ):
        work.finish(executor, lambda stages: None, executor.size)
    assert f"bocopt in {other / 'bocopt'}" in str(refused.value)
    assert not list((tmp_path / "blocks").iterdir())


def test_a_killed_scheduler_is_told_in_a_sentence(tmp_path: Path) -> None:
    with dask_cluster.scheduler() as (address, process):
        threading.Timer(4.0, process.kill).start()  # nobody works, so it waits until then
        options = ("--trials", "2", "--horizon", "2", "--out", str(tmp_path))
        code, said = ran("reproduce", "table1", *options, "--cluster", address)
    assert code == 1
    assert f"The scheduler at {address} was lost" in said
    assert "What is finished is stored; the same command goes on from there." in said
    assert "Traceback" not in said


@pytest.mark.parametrize("seconds", [3.0, pytest.param(0.5, marks=pytest.mark.full)])
def test_an_interrupt_ends_it(seconds: float, tmp_path: Path) -> None:
    code = "from bocopt.app.cli import app; app()"
    options = ("--trials", "2", "--horizon", "2", "--out", str(tmp_path))
    with dask_cluster.scheduler() as (address, _):
        run = subprocess.Popen(
            [sys.executable, "-c", code, "reproduce", "table1", *options, "--cluster", address],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        wait_until((tmp_path / "blocks").exists)
        time.sleep(seconds)
        run.send_signal(signal.SIGINT)
        said, _ = run.communicate(timeout=30)
    assert run.returncode == 130, said
    assert said.strip().endswith("the same command goes on from there.")
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (f"tcp://127.0.0.1:{dask_cluster.free_port()}", "Timed out"),
        ("127.0.0.1", "missing port number"),
        ("", "missing port number"),
        ("moon://host:1", "unknown address scheme"),
    ],
    ids=["nobody", "no port", "nothing", "no such scheme"],
)
def test_a_wrong_address_is_told_at_once(wrong: str, why: str) -> None:
    started = time.monotonic()
    with pytest.raises(NoSchedulerError, match=f"{re.escape(repr(wrong))}.*{why}"), cluster(wrong):
        pass
    assert time.monotonic() - started < 10


def test_the_number_of_processes_and_a_cluster_exclude_each_other() -> None:
    code, said = ran("reproduce", "table1", "--jobs", "2", "--cluster", "tcp://127.0.0.1:1")
    assert code == 2
    assert "with --cluster, none do" in said


@pytest.mark.full
def test_work_that_kills_its_workers_is_told_in_a_sentence() -> None:
    few = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"}
    with (
        dask_cluster.scheduler(**few) as (address, _),
        dask_cluster.workers(address),
        cluster(address) as executor,
    ):
        deadly = executor.submit(os._exit, 1)
        with pytest.raises(ClusterLostError, match="A worker process was killed"):
            deadly.result(timeout=60)


@pytest.mark.full
def test_a_worker_that_cannot_load_bocopt_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "bocopt").mkdir()
    (tmp_path / "bocopt" / "__init__.py").touch()
    work = Work(tasks(), BlockStore(tmp_path / "blocks"))
    with (
        dask_cluster.scheduler() as (address, _),
        dask_cluster.workers(address, PYTHONPATH=str(tmp_path)),
        cluster(address) as executor,
        pytest.raises(BrokenExecutor, match="could not load bocopt"),
    ):
        work.finish(executor, lambda stages: None, executor.size)


def test_it_is_an_executor_of_the_standard_library(address: str) -> None:
    with cluster(address) as executor:
        assert isinstance(executor, Cluster)
        assert list(executor.map(abs, [-1, -2])) == [1, 2]
        failing = executor.submit(int, "one")
        with pytest.raises(ValueError, match="invalid literal"):
            failing.result(timeout=60)
