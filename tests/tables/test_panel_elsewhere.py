"""A panel that is played by processes without our disk: the same files, or a sentence."""

import pickle
import re
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import pytest
from elsewhere import Elsewhere, changed
from lengths import long
from small_cases import changed as edited
from small_cases import ran
from small_panels import bakery

import bocopt
from bocopt.app import Case, backtest_panel, open_case
from bocopt.app.panels import elsewhere
from bocopt.app.panels.elsewhere import PartJob, code_of_user, play_elsewhere
from bocopt.app.panels.player import PanelPlayer
from bocopt.app.panels.writing import write_panel
from bocopt.remote.origin import ForeignWorkerError

HERE = Path(bocopt.__file__).parents[1]
BOTH = '"own:alone", "own:same"'  # the first is played series by series


class Counting(Elsewhere):
    """Notes the jobs that are sent."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.sent: list[Any] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        self.sent.append(args[0])
        return super().submit(fn, *args, **kwargs)


def results(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bocopt.app.panels.blocks._SERIES", 2)


def written(path: Path, executor: Executor | None = None) -> Case:
    case = open_case(path)
    write_panel(case, backtest_panel(case, executor=executor))
    return case


def with_helpers(folder: Path, own: str) -> Path:
    """A case whose policies of `own` stand in files beside its problem."""
    path = edited(bakery(folder), '"always"]', f'"always", {own}, "LightMixtureAcross"]')
    (folder / "helpers.py").write_text("LEVEL = 25.0\n")
    (folder / "own.py").write_text(
        "from helpers import LEVEL\n\n\ndef same(problem):\n"
        "    from bocopt.policies import Rule\n\n    return Rule(lambda x: [LEVEL])\n\n\n"
        "def alone(problem):\n"
        "    from bocopt.models import ConstantVariance, Mixture\n"
        "    from bocopt.policies import Predictive\n\n"
        "    members, views = [ConstantVariance()], {'discounts': [1.0], 'tails': [60.0]}\n"
        "    return Predictive(problem, Mixture(dim_xi=1, members=members, **views))\n"
    )
    return path


@pytest.mark.parametrize(("own", "parts"), [('"own:same"', 2), long(BOTH, 2 + 4)])
def test_files_are_those_of_one_machine(own: str, parts: int, tmp_path: Path) -> None:
    """Of blocks, and of series that are played by themselves; what is played is not sent again."""
    here = written(with_helpers(tmp_path / "here", own))
    executor = Counting(HERE)
    there = written(with_helpers(tmp_path / "there", own), executor)
    assert results(here.results) == results(there.results)
    assert len(executor.sent) == parts
    written(tmp_path / "there" / "bocopt.toml", executor)
    assert len(executor.sent) == parts
    (there.results / "blocks" / "always-1.bin").unlink()
    written(tmp_path / "there" / "bocopt.toml", executor)
    assert len(executor.sent) == parts + 1
    assert results(here.results) == results(there.results)


def test_a_worker_with_other_code_is_refused_and_nothing_of_it_is_kept(tmp_path: Path) -> None:
    other = changed(
        tmp_path, "live/series_states.py", "class SeriesStates", "# changed\nclass SeriesStates"
    )
    case = open_case(bakery(tmp_path / "case"))
    with pytest.raises(ForeignWorkerError, match="its bocopt code differs"):
        backtest_panel(case, executor=Elsewhere(other))
    assert results(case.results) == {}


def test_a_worker_that_reads_another_file_is_refused(tmp_path: Path) -> None:
    path = bakery(tmp_path)
    with (tmp_path / "problem.py").open("a") as code:
        code.write(
            "\nimport os\nLEVEL = float(os.environ.get('LEVEL', '30'))\n\n\ndef level(problem):\n"
            "    from bocopt.policies import Constant\n\n    return Constant([LEVEL])\n"
        )
    case = open_case(edited(path, '"always"]', '"level"]'))
    executor = Elsewhere(HERE)
    executor.environment["LEVEL"] = "31"
    with pytest.raises(ValueError, match="played another case, so nothing of it was stored"):
        backtest_panel(case, executor=executor)
    assert results(case.results) == {}


def test_no_worker_is_told_where_the_data_are(tmp_path: Path) -> None:
    path = bakery(tmp_path)
    case = open_case(edited(path, "seed = 0", "seed = 0\n# a password\n"))
    player, executor = PanelPlayer(case), Counting(HERE)
    play_elsewhere(player, executor, lambda: 1)
    for order in executor.sent:
        assert b"password" not in order.packed
        assert b"data.csv" not in order.packed
        job = pickle.loads(order.packed)
        assert isinstance(job, PartJob)
        assert [*job.code] == [*code_of_user(case)[0]] == ["code/problem.py"]


def test_the_short_form_of_a_job_is_short(tmp_path: Path) -> None:
    case = open_case(with_helpers(tmp_path, BOTH))
    player = PanelPlayer(case)
    player.passes["LightMixtureAcross"].play()
    code, modules = code_of_user(case)
    assert {*code} == {"code/problem.py", "code/own.py", "code/helpers.py"}
    for part in (0, "late"):
        job = pickle.loads(elsewhere._order(player, part, code, modules).packed).short()
        assert job.run().files
        rows = job.rows.x if job.rows is not None else job.panel.series[0].x
        assert len(rows) == 3


def test_one_series_is_not_for_a_cluster(tmp_path: Path) -> None:
    assert ran("init", str(tmp_path))[0] == 0
    words = ("backtest", str(tmp_path / "bocopt.toml"), "--cluster", "tcp://127.0.0.1:1")
    code, said = ran(*words)
    assert code == 1
    assert "is one series" in said
    assert "Leave out --cluster." in said
    code, said = ran(*words, "--jobs", "2")
    assert code == 2
    assert "with --cluster, none do" in re.sub(r"[\s│]+", " ", said)
