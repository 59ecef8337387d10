"""A block counts only if the worker that computed it runs the code that its digest names."""

from pathlib import Path

import pytest
from elsewhere import Elsewhere, changed

import bocopt
from bocopt_studies.paper.settings import Settings, tasks_of
from bocopt_studies.study import Size
from bocopt_studies.work.store import BlockStore
from bocopt_studies.work.task import Task
from bocopt_studies.work.work import Work


def tasks() -> list[Task]:
    return list(tasks_of(Settings(), Size(trials=2, horizon=3), ["SAA"]).values())


def test_a_worker_with_the_same_code_is_believed(tmp_path: Path) -> None:
    work = Work(tasks(), BlockStore(tmp_path / "blocks"))
    work.finish(Elsewhere(Path(bocopt.__file__).parents[1]), lambda stages: None)
    assert {k: v.tolist() for k, v in work.record(tasks()[0]).items()} == {
        k: v.tolist() for k, v in tasks()[0].run().items()
    }


def test_a_worker_with_other_code_is_refused_by_name_and_nothing_of_it_is_stored(
    tmp_path: Path,
) -> None:
    other = changed(tmp_path, "streams/paper.py", "_G = 2.5", "_G = 2.6")
    work = Work(tasks(), BlockStore(tmp_path / "blocks"))
    with pytest.raises(ValueError, match="its bocopt code differs"):
        work.finish(Elsewhere(other), lambda stages: None)
    assert not list((tmp_path / "blocks").iterdir())
