"""The command line, as a user types it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bocopt import __version__
from bocopt.cli import app
from bocopt.experiments.table1 import ROWS


def reproduce(out: Path, *options: str) -> str:
    result = CliRunner().invoke(app, ["reproduce", "table1", "--out", str(out), *options])
    assert result.exit_code == 0, result.output
    return result.output


def test_table1_writes_what_it_shows(tmp_path: Path) -> None:
    output = reproduce(tmp_path, "--trials", "3", "--horizon", "5", "--seed", "7", "--jobs", "1")
    table = json.loads((tmp_path / "table1.json").read_text())
    assert (table["trials"], table["horizon"], table["seed"]) == (3, 5, 7)
    assert table["settings"]["offset"] == 1.0
    assert tuple(row["policy"] for row in table["rows"]) == ROWS
    for row in table["rows"]:
        for column in ("reward", "reward_last", "feasibility", "feasibility_last"):
            assert set(row[column]) == {"mean", "sd"}
        assert f"{row['reward']['mean']:.2f} ± {row['reward']['sd']:.2f}" in output
    assert "84.52 ± 0.05" in output  # the print beside ours
    run = json.loads((tmp_path / "run.json").read_text())
    assert {"seconds", "jobs", "python", "numpy", "numba", "bocopt"} <= set(run)


def test_result_does_not_depend_on_workers_or_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ["--trials", "4", "--horizon", "4", "--jobs"]
    reproduce(tmp_path / "one", *options, "1")
    monkeypatch.setattr("bocopt.experiments.table1._TRIALS_PER_TASK", 3)
    reproduce(tmp_path / "two", *options, "2")
    one, two = ((tmp_path / name / "table1.json").read_bytes() for name in ("one", "two"))
    assert one == two


def test_a_trial_is_its_seed(tmp_path: Path) -> None:
    """Two trials from seed 5 average trial 5 alone and trial 6 alone."""
    options = ["--horizon", "4", "--jobs", "1"]
    means = {}
    for name, trials, seed in (("both", "2", "5"), ("five", "1", "5"), ("six", "1", "6")):
        reproduce(tmp_path / name, "--trials", trials, "--seed", seed, *options)
        table = json.loads((tmp_path / name / "table1.json").read_text())
        means[name] = [row["reward"]["mean"] for row in table["rows"]]
        if trials == "1":
            assert table["rows"][0]["reward"]["sd"] is None
    assert means["both"] == pytest.approx(
        [(a + b) / 2 for a, b in zip(means["five"], means["six"], strict=True)]
    )


def test_version_and_help() -> None:
    assert CliRunner().invoke(app, ["--version"]).output == f"bocopt {__version__}\n"
    assert "reproduce" in CliRunner().invoke(app, ["--help"]).output


def test_help_imports_nothing_heavy() -> None:
    code = "import sys, bocopt.cli; print(*{'numba', 'scipy', 'matplotlib'} & set(sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert loaded.stdout.strip() == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--jobs", "none"], "must be 'auto' or a positive integer"),
        (["--jobs", "²"], "must be 'auto' or a positive integer"),
        (["--jobs", "0"], "must be 'auto' or a positive integer"),
        (["--trials", "0"], "--trials"),
        (["--horizon", "-1"], "--horizon"),
        (["--seed", "-1"], "--seed"),
    ],
)
def test_bad_options_are_refused(options: list[str], message: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = CliRunner().invoke(app, ["reproduce", "table1", "--out", str(out), *options])
    assert result.exit_code == 2
    assert message in result.output
    assert not out.exists()


def test_an_unwritable_folder_is_refused_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = CliRunner().invoke(app, ["reproduce", "table1", "--out", str(tmp_path / "file")])
    assert result.exit_code == 2
    assert "cannot write" in result.output
