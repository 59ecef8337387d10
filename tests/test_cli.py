"""The command line, as a user types it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bocopt import __version__
from bocopt.cli import COMMANDS, app
from bocopt.experiments.reproduce import COMMANDS as STUDIES_OF
from bocopt.experiments.reproduce import STUDIES
from bocopt.experiments.study import Size
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
    assert (tmp_path / "index.html").exists()
    run = json.loads((tmp_path / "run.json").read_text())["table1"]
    assert {"wall seconds", "computing seconds", "jobs", "python", "numpy", "bocopt"} <= set(run)
    assert (run["stages computed"], run["stages stored before"]) == (8 * 3 * 5, 0)


def test_a_second_run_computes_nothing_unless_it_is_told_to(tmp_path: Path) -> None:
    options = ["--trials", "2", "--horizon", "3", "--jobs", "1"]
    first = reproduce(tmp_path, *options)
    table = (tmp_path / "table1.json").read_bytes()
    for more, computed in (([], 0), (["--fresh"], 8 * 2 * 3)):
        again = reproduce(tmp_path, *options, *more)
        assert again[again.index("Table 1") :][:1000] == first[first.index("Table 1") :][:1000]
        assert (tmp_path / "table1.json").read_bytes() == table
        run = json.loads((tmp_path / "run.json").read_text())["table1"]
        assert run["stages computed"] == computed


def test_result_does_not_depend_on_workers_or_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ["--trials", "4", "--horizon", "4", "--jobs"]
    reproduce(tmp_path / "one", *options, "1")
    monkeypatch.setattr("bocopt.experiments.tasks.Task.trials_per_block", 3)
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


def test_every_study_is_a_command_at_the_size_that_all_gives_it() -> None:
    everything = Size(COMMANDS["all"].trials, COMMANDS["all"].horizon)
    assert set(COMMANDS) == set(STUDIES_OF)
    for name, studies in STUDIES_OF.items():
        if len(studies) == 1:
            command = COMMANDS[name]
            size = Size(command.trials, command.horizon, command.seed)
            assert size == STUDIES[name].size(everything)


def test_version_and_help() -> None:
    assert CliRunner().invoke(app, ["--version"]).output == f"bocopt {__version__}\n"
    assert "reproduce" in CliRunner().invoke(app, ["--help"]).output
    shown = CliRunner().invoke(app, ["reproduce", "--help"]).output
    assert all(name in shown for name in COMMANDS)


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


def test_seeds_that_are_too_large_are_refused(tmp_path: Path) -> None:
    seed = ["--seed", str(2**63 - 1), "--trials", "2"]
    result = CliRunner().invoke(app, ["reproduce", "table1", "--out", str(tmp_path / "o"), *seed])
    assert result.exit_code == 2
    assert "below 2**63" in result.output


@pytest.mark.parametrize("name", ["a [/foo] b", "[bold]x"])
def test_the_folder_is_named_as_it_is(name: str, tmp_path: Path) -> None:
    output = reproduce(tmp_path / name, "--trials", "1", "--horizon", "1", "--jobs", "1")
    assert f"the report is {tmp_path / name / 'index.html'}\n" in output


def test_an_error_of_the_system_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "index.html").mkdir()
    options = ["--trials", "1", "--horizon", "1", "--jobs", "1", "--out", str(tmp_path)]
    result = CliRunner().invoke(app, ["reproduce", "table1", *options])
    assert result.exit_code == 1
    assert "Is a directory" in result.output
    assert "the same command goes on from there" in result.output
    assert isinstance(result.exception, SystemExit)


def test_an_unwritable_folder_is_refused_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = CliRunner().invoke(app, ["reproduce", "table1", "--out", str(tmp_path / "file")])
    assert result.exit_code == 2
    assert "cannot write" in result.output


def test_without_matplotlib_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bocopt.report.charts.available", lambda: False)
    result = CliRunner().invoke(app, ["reproduce", "table1", "--out", str(tmp_path / "out")])
    assert result.exit_code == 2
    assert "bocopt[plot]" in result.output
