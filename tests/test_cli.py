"""The command line, as a user types it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Executor, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from bocopt import __version__
from bocopt.app.cli import app
from bocopt.app.cli.shared import exit_on
from bocopt_studies.catalogue import GROUPS, STUDIES, studies_of
from bocopt_studies.paper.table1 import ROWS
from bocopt_studies.study import Size

TINY = ["--trials", "1", "--horizon", "1", "--jobs", "1"]
RESULTS = Path(__file__).parents[1] / "docs" / "results"


def reproduce(out: Path, *options: str) -> str:
    result = CliRunner().invoke(app, ["reproduce", "table1", "--out", str(out), *options])
    assert result.exit_code == 0, result.output
    return result.output


@contextmanager
def one_thread(workers: int) -> Iterator[Executor]:
    with ThreadPoolExecutor(1) as executor:
        yield executor


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks are played in this process: starting another one takes longer than a tiny study."""
    monkeypatch.setattr("bocopt.processes.processes", one_thread)


in_this_process = pytest.mark.usefixtures("here")


@in_this_process
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


@in_this_process
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
    monkeypatch.setattr("bocopt_studies.work.task.Task.trials_per_block", 3)
    reproduce(tmp_path / "two", *options, "2")
    one, two = ((tmp_path / name / "table1.json").read_bytes() for name in ("one", "two"))
    assert one == two


@in_this_process
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


def test_every_study_is_a_command_and_part_of_one() -> None:
    shown = CliRunner().invoke(app, ["reproduce", "--help"], env={"COLUMNS": "200"}).output
    for name, study in STUDIES.items():
        assert f" {name} " in shown
        assert study.help in shown
    together = [study.name for group in GROUPS.values() for study in studies_of(group.command)]
    assert together == list(STUDIES)
    assert all(f" {group.command} " in shown for group in GROUPS.values())


@pytest.mark.parametrize("name", STUDIES)
def test_the_committed_results_have_full_size_which_is_the_default(name: str) -> None:
    study = STUDIES[name]
    assert study.full == Size.of(json.loads((RESULTS / f"{name}.json").read_text()))
    options = CliRunner().invoke(app, ["reproduce", name, "--help"], env={"COLUMNS": "200"}).output
    for option, value in study.full._asdict().items():
        [line] = [line for line in options.splitlines() if f"--{option}" in line]
        assert f"[default: {value}]" in line


@pytest.mark.parametrize("name", STUDIES)
def test_a_part_of_the_trials_is_at_least_two_where_there_are_two(name: str) -> None:
    assert STUDIES[name].size(Size(4, 50)).trials >= 2
    assert STUDIES[name].size(Size(1, 1)).horizon >= 1


def test_version_and_help() -> None:
    assert CliRunner().invoke(app, ["--version"]).output == f"bocopt {__version__}\n"
    assert "reproduce" in CliRunner().invoke(app, ["--help"]).output


def test_help_imports_nothing_heavy_and_no_study() -> None:
    heavy = {
        "numba",
        "scipy",
        "matplotlib",
        *(f"bocopt_studies.{s.group}.{s.module}" for s in STUDIES.values()),
    }
    code = f"import sys, bocopt.app.cli; print(*{heavy} & set(sys.modules))"
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
        (["--jobs", "5000"], "at most four for each core"),
        (["--jobs", "9" * 5000], "at most four for each core"),
        (["--jobs", "none"], "Invalid value for --jobs"),
        (["--seed", str(2**63 - 1), "--trials", "2"], "Invalid value for --seed"),
        (["--trials", "0"], "--trials"),
        (["--horizon", "-1"], "--horizon"),
        (["--seed", "-1"], "--seed"),
    ],
)
def test_bad_options_are_refused(options: list[str], message: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = CliRunner().invoke(app, ["reproduce", "table1", "--out", str(out), *options])
    assert result.exit_code == 2
    assert message in unwrapped(result.output)
    assert not out.exists()


def unwrapped(output: str) -> str:
    """A message without the box around it."""
    return " ".join(output.replace("\u2502", " ").split())


def test_a_folder_without_a_name_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["reproduce", "table1", *TINY, "--out", ""])
    assert result.exit_code == 2
    assert "Invalid value for --out: must name a folder" in unwrapped(result.output)
    assert not list(tmp_path.iterdir())


def test_seeds_that_are_too_large_are_refused(tmp_path: Path) -> None:
    seed = ["--seed", str(2**63 - 1), "--trials", "2"]
    result = CliRunner().invoke(app, ["reproduce", "table1", "--out", str(tmp_path / "o"), *seed])
    assert result.exit_code == 2
    assert "below 2**63" in unwrapped(result.output)


@in_this_process
@pytest.mark.parametrize("name", ["a [/foo] b", "[bold]x"])
def test_the_folder_is_named_as_it_is(name: str, tmp_path: Path) -> None:
    output = reproduce(tmp_path / name, "--trials", "1", "--horizon", "1", "--jobs", "1")
    assert f"the report is {tmp_path / name / 'index.html'}\n" in output


@in_this_process
def test_an_error_of_the_system_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "index.html").mkdir()
    options = ["--trials", "1", "--horizon", "1", "--jobs", "1", "--out", str(tmp_path)]
    result = CliRunner().invoke(app, ["reproduce", "table1", *options])
    assert result.exit_code == 1
    assert "Is a directory" in result.output
    assert "the same command goes on from there" in result.output
    assert isinstance(result.exception, SystemExit)


ENDS: list[tuple[BaseException, int, str]] = [
    (KeyboardInterrupt(), 130, "Interrupted. All is kept.\n"),
    (BrokenExecutor("abruptly"), 1, "A worker process was killed, perhaps for want of memory. All"),
    (ZeroDivisionError("Lost."), 1, "Lost. All is kept.\n"),
    (PermissionError(13, "Permission denied", "a.csv"), 1, "Permission denied: a.csv\n"),
    (OSError(28, "No space left"), 1, "No space left\n"),
    (ModuleNotFoundError("Install it."), 1, "Install it.\n"),
    (ValueError("Line 1.\nLine 2."), 1, "Line 1.\nLine 2.\n"),
]


@pytest.mark.parametrize(("error", "code", "said"), ENDS)
def test_all_commands_tell_errors_alike(
    error: BaseException, code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with (
        pytest.raises(typer.Exit) as end,
        exit_on(ValueError, kept="All is kept.", ends=(ZeroDivisionError,)),
    ):
        raise error
    assert end.value.exit_code == code
    shown = capsys.readouterr()
    assert (shown.out + shown.err).startswith(said)


@pytest.mark.parametrize("error", [KeyError("a fault of ours"), BrokenPipeError()])
def test_faults_of_ours_are_not_told(error: Exception) -> None:
    with pytest.raises(type(error)), exit_on(ValueError):
        raise error


def test_an_unwritable_folder_is_refused_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = CliRunner().invoke(app, ["reproduce", "table1", "--out", str(tmp_path / "file")])
    assert result.exit_code == 2
    assert "cannot write" in unwrapped(result.output)

    assert "Invalid value for --out" in unwrapped(result.output)


@in_this_process
@pytest.mark.parametrize(("name", "charts"), [("table1", 0), ("figure1", 2)])
def test_without_matplotlib_there_are_results_but_no_figures(
    name: str, charts: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = CliRunner().invoke(app, ["reproduce", name, *TINY, "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert 'pip install "bocopt[plot]"' in unwrapped(result.output)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"blocks", f"{name}.json", f"{name}.md", "errata.md", "run.json"}
    assert (tmp_path / f"{name}.md").read_text().count("![") == charts


@pytest.mark.parametrize("both", [False, True])
def test_a_closed_pipe_ends_a_run_quietly_and_after_all_is_written(
    both: bool, tmp_path: Path
) -> None:
    command = "from bocopt.app.cli import app; app()"
    read, write = os.pipe()
    os.close(read)
    run = subprocess.run(
        [sys.executable, "-c", command, "reproduce", "table1", *TINY, "--out", str(tmp_path)],
        stdout=write,
        stderr=write if both else subprocess.PIPE,
        text=True,
    )
    os.close(write)
    assert run.returncode in (1, 141)
    lines = (run.stderr or "").splitlines()  # how far it is, and no trouble
    assert all(line.startswith("table1: ") for line in lines)
    assert (tmp_path / "index.html").exists()


def test_no_more_workers_than_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def counted(workers: int) -> AbstractContextManager[Executor]:
        asked.append(workers)
        return one_thread(workers)

    monkeypatch.setattr("bocopt.processes.processes", counted)
    monkeypatch.setattr("bocopt_studies.cli.reproduce.workers_here", lambda jobs, cluster: 50)
    reproduce(tmp_path, "--trials", "1", "--horizon", "1")
    reproduce(tmp_path, "--trials", "1", "--horizon", "1")
    assert asked == [8, 1]  # a block for each policy; then all is stored
