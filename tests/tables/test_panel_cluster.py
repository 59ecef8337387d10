"""A panel on a Dask cluster: the files of one machine, also where workers are killed."""

import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import dask_cluster
import pytest
from small_cases import changed, ran
from small_panels import bakery

from bocopt.app import backtest_panel, open_case
from bocopt.app.panels.writing import write_panel
from bocopt.remote.cluster import cluster

pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")

LINE = "dask worker tcp://127.0.0.1:8786 --nthreads 1 --no-nanny"


@pytest.fixture(autouse=True)
def _a_block_for_each_shop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bocopt.app.panels.blocks._SERIES", 1)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with dask_cluster.scheduler() as (found, _):
        yield found


def results(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_the_command_leaves_the_files_of_one_machine(address: str, tmp_path: Path) -> None:
    """Policies in lock step, and one that is played series by series."""
    found = []
    port = int(address.rpartition(":")[2])
    with dask_cluster.running(LINE, port):
        for number, words in enumerate((("--jobs", "1"), ("--cluster", address))):
            path = changed(bakery(tmp_path / str(number)), '"always"]', '"Ensemble"]')
            code, said = ran("backtest", str(path), *words)
            assert code == 0, said
            found.append(results(open_case(path).results))
    assert found[0] == found[1]
    assert "worker" in said


def test_workers_that_are_killed_change_nothing(address: str, tmp_path: Path) -> None:
    """Two of three workers are killed while they play; one that comes later plays as well."""
    here, there = (open_case(bakery(tmp_path / name)) for name in ("here", "there"))
    write_panel(here, backtest_panel(here))
    port = int(address.rpartition(":")[2])
    with ExitStack() as stack, cluster(address) as executor:
        workers = [stack.enter_context(dask_cluster.running(LINE, port)) for _ in range(3)]

        def kill(stages: int) -> None:
            """One is killed whenever a part has come, as long as another one is left."""
            if len(workers) > 1:
                one = workers.pop()
                one.send_signal(signal.SIGKILL)
                one.wait()
                stack.enter_context(dask_cluster.running(LINE, port))

        write_panel(there, backtest_panel(there, executor=executor, advance=kill))
        assert len(workers) == 1
    assert results(here.results) == results(there.results)
