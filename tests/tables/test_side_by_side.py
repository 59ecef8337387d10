"""Policies of a case in processes of their own: the same files as one by one."""

from pathlib import Path

import pytest
from test_killed_study import finished, written
from typer.testing import CliRunner

from bocopt.app.cli import app
from bocopt.app.opening import open_case
from bocopt.app.side_by_side import _play, play_side_by_side

POLICIES = '["SampleAverage", "ResidualSampleAverage"]'


@pytest.fixture(autouse=True)
def all_are_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bocopt.app.cli.backtest._SHORT", 0)


def test_they_leave_the_same_files_as_one_by_one(tmp_path: Path) -> None:
    one, many = (written(tmp_path / name, 120, POLICIES) for name in ("one", "many"))
    case = str(one / "bocopt.toml")
    assert CliRunner().invoke(app, ["backtest", case, "--jobs", "1"]).exit_code == 0
    assert finished(many) == finished(one)  # on all cores


def test_all_stages_are_told_and_kept(tmp_path: Path) -> None:
    case, told = open_case(written(tmp_path / "a", 120, POLICIES) / "bocopt.toml"), list[int]()
    play_side_by_side(case, 2, keep_every=50, advance=told.append)
    assert sum(told) == case.stages_to_play
    assert all(case.kept(name, 50).far() == 120 for name in case.everyone)
    told.clear()
    play_side_by_side(case, 2, fresh=True, advance=told.append)
    assert sum(told) == case.stages_to_play


def test_a_study_that_is_another_one_for_a_worker_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "a", 60, POLICIES) / "bocopt.toml"
    with pytest.raises(ValueError, match=r"or a file that it names, has changed\. Run"):
        _play(path, "kiosk", "SampleAverage", "another digest", 200, 5.0)
