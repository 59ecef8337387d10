"""Orders on their way: bounded in number, held to our code, and compiled for once on a host."""

import subprocess
import sys
from collections import deque
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from elsewhere import changed
from extensions.pages import blocks

from bocopt.numeric import compiled
from bocopt.remote.answers import AHEAD, Planned, answered
from bocopt.remote.order import answer, order, warm_up
from bocopt.remote.origin import ForeignWorkerError, origin, refuse_foreign
from bocopt_studies.paper.settings import Settings, tasks_of
from bocopt_studies.study import Size
from bocopt_studies.work.store import BlockStore
from bocopt_studies.work.work import Work

MODULES = frozenset({"bocopt.core"})


@dataclass(frozen=True)
class Doubled:
    """Work that takes no time."""

    number: int

    def run(self) -> int:
        return 2 * self.number

    def short(self) -> "Doubled":
        return Doubled(0)


@dataclass(frozen=True)
class Noted(Doubled):
    """Work that leaves a note of each run."""

    folder: Path

    def run(self) -> int:
        (self.folder / f"{len(list(self.folder.iterdir()))} {self.number}").touch()
        return super().run()

    def short(self) -> "Noted":
        return Noted(0, self.folder)


class Patient(Executor):
    """Holds what comes, until it holds as much as will ever come."""

    def __init__(self, room: int) -> None:
        self.room, self.most = room, 0
        self.held: list[tuple[Future[Any], Any]] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.held.append((future, partial(fn, *args)))
        self.most = max(self.most, len(self.held))
        if len(self.held) == self.room:
            for waiting, call in self.held:
                waiting.set_result(call())
            self.held.clear()
        return future


def planned(numbers: range) -> deque[Planned]:
    return deque(Planned(str(n), partial(order, Doubled(n), MODULES, "test")) for n in numbers)


@pytest.mark.parametrize("workers", [1, 3])
def test_at_most_so_many_orders_for_each_worker_are_on_their_way(workers: int) -> None:
    executor, orders = Patient(AHEAD * workers), planned(range(120))
    found = {name: answer.result for name, answer in answered(executor, orders, lambda: workers)}
    assert executor.most == AHEAD * workers
    assert found == {str(n): 2 * n for n in range(120)}


def test_orders_are_written_when_their_time_comes() -> None:
    wrote: list[int] = []

    def write(n: int) -> Any:
        wrote.append(n)
        return order(Doubled(n), MODULES, "test")

    orders = deque(Planned(str(n), partial(write, n)) for n in range(10**5))
    list(islice(answered(Patient(1), orders, lambda: 1), 5))
    assert len(wrote) <= AHEAD + 5


def test_what_comes_of_an_answer_can_be_ordered_too() -> None:
    orders = planned(range(1))
    seen = []
    for name, found in answered(Patient(1), orders, lambda: 1):
        seen.append(found.result)
        if len(seen) < 5:
            orders.extend(planned(range(len(seen), len(seen) + 1)))
        assert name == str(len(seen) - 1)
    assert seen == [0, 2, 4, 6, 8]


def test_a_worker_is_asked_for_its_own_digest_and_does_nothing_for_another() -> None:
    ours = order(Doubled(4), MODULES, "test")
    assert answer(ours).result == 8
    theirs = ours._replace(code="another")
    found = answer(theirs)
    assert found.result is None
    assert found.origin.code == ours.code


def test_what_differs_is_named() -> None:
    here = origin(MODULES)
    refuse_foreign(here, MODULES)
    old = here._replace(code="0" * 64, runs_on={**here.runs_on, "numpy": "1.0", "bocopt": "0.1"})
    with pytest.raises(ForeignWorkerError, match=r"bocopt 0\.1, here .*; numpy 1\.0, here") as told:
        refuse_foreign(old, MODULES)
    assert here.where in str(told.value)
    with pytest.raises(ForeignWorkerError, match=r"its bocopt code differs \(digest 000000000000,"):
        refuse_foreign(here._replace(code="0" * 64), MODULES)


def test_a_worker_whose_files_changed_since_it_started_is_another(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path\n"
        "from bocopt.remote.origin import origin\n"
        "import bocopt.core\n"
        "print(origin(frozenset({'bocopt.core'})).code)\n"
        "Path(bocopt.core.__file__).open('a').write('\\n')\n"
        "print(origin(frozenset({'bocopt.core'})).code)\n"
    )
    other = changed(tmp_path, "streams/paper.py", "_G = 2.5", "_G = 2.6")
    run = [sys.executable, "-c", code]
    said = subprocess.run(run, cwd=other, capture_output=True, text=True, check=True).stdout
    before, after = said.splitlines()
    assert len(before) == 64
    assert after == "changed since it was started"


def test_machine_code_is_asked_for_once_on_a_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "notes").mkdir()
    monkeypatch.setattr(compiled, "folder", lambda: tmp_path / "code")
    for n in (3, 4):
        warm_up(Noted(n, tmp_path / "notes"), "one kind")
    assert [path.name for path in (tmp_path / "notes").iterdir()] == ["0 0"]
    warm_up(Noted(5, tmp_path / "notes"), "another kind")
    assert len(list((tmp_path / "notes").iterdir())) == 2


def test_the_executor_for_ray_on_the_page_plays_tasks(tmp_path: Path) -> None:
    ray = pytest.importorskip("ray", reason="ray is not installed")
    page = Path(__file__).parents[2] / "docs" / "cluster.md"
    [code] = [b.text for b in blocks(page) if "class Ray(" in b.text]
    names: dict[str, Any] = {}
    exec(code, names)
    [task] = tasks_of(Settings(), Size(trials=2, horizon=3), ["SAA"]).values()
    work = Work([task], BlockStore(tmp_path))
    try:
        work.finish(names["Ray"](), lambda stages: None)
    finally:
        ray.shutdown()
    ours, theirs = task.run(), work.record(task)
    assert {k: v.tobytes() for k, v in ours.items()} == {k: v.tobytes() for k, v in theirs.items()}
