"""A study whose process is killed, at any moment, and started again ends with the same bytes."""

import operator
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from bocopt.app.cli import app
from bocopt.app.starters import starter

RUN = [sys.executable, "-c", "from bocopt.app.cli import app; app()", "backtest", "bocopt.toml"]

LEFT = ("report.html", "decisions.csv", "trace.csv")


def written(folder: Path, rows: int, policies: str) -> Path:
    folder.mkdir()
    for name, content in starter("newsvendor").items():
        text = content.decode().replace('["Ensemble", "SampleAverage"]', policies)
        if name == "data.csv":
            text = "".join(text.splitlines(keepends=True)[: rows + 1])
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def finished(folder: Path) -> dict[str, bytes]:
    result = CliRunner().invoke(app, ["backtest", str(folder / "bocopt.toml")])
    assert result.exit_code == 0, result.output
    files = [path for path in (folder / "results").rglob("*") if path.is_file()]
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in files
        if "progress" not in path.parts
    }


def killed(folder: Path, due: Callable[[float], bool]) -> bool:
    """Killed once it is due, seconds after its start; whether it was still running."""
    started = time.perf_counter()
    with subprocess.Popen(
        RUN, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        while process.poll() is None and not due(time.perf_counter() - started):
            time.sleep(0.001)
        process.kill()
    return process.returncode == -signal.SIGKILL


def test_killed_once_something_is_kept(tmp_path: Path) -> None:
    whole = finished(written(tmp_path / "whole", rows=230, policies='["SampleAverage"]'))
    assert {f"results/kiosk/{name}" for name in LEFT} <= whole.keys()
    again = written(tmp_path / "again", rows=230, policies='["SampleAverage"]')
    assert killed(again, lambda seconds: any((again / "results").rglob("*.bin")))
    assert finished(again) == whole


@pytest.mark.full
def test_killed_at_ten_random_moments(tmp_path: Path) -> None:
    policies = '["Ensemble", "SampleAverage"]'
    started = time.perf_counter()
    whole = finished(written(tmp_path / "whole", 400, policies))
    took = time.perf_counter() - started
    rng, many = np.random.default_rng(), 0
    for i in range(10):
        again = written(tmp_path / str(i), 400, policies)
        many += killed(again, partial(operator.lt, rng.uniform(0.0, took)))
        assert finished(again) == whole
    assert many
