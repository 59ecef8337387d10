"""What is told of a case while it is played, and what is kept of one whose stages are slow."""

import re
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bocopt.app.backtesting import backtest
from bocopt.app.case import Case
from bocopt.app.cli import app, progress
from bocopt.app.opening import open_case
from bocopt.app.starters import starter

SLOW = """
import time
from dataclasses import dataclass
from typing import Any
from bocopt import SampleAverage

@dataclass(frozen=True)
class Slow:
    inner: Any

    def init(self, seeds):
        return self.inner.init(seeds)

    def decide(self, state, t, x):
        time.sleep(0.02)
        return self.inner.decide(state, t, x)

    def learn(self, state, t, x, decision, xi):
        return self.inner.learn(state, t, x, decision, xi)

def slow(problem):
    return Slow(SampleAverage(problem))
"""


def written(folder: Path, rows: int = 60) -> Path:
    for name, content in starter("newsvendor").items():
        text = content.decode().replace('["Ensemble", "SampleAverage"]', '["slow"]')
        if name == "data.csv":
            text = "".join(text.splitlines(keepends=True)[: rows + 1])
        if name == "problem.py":
            text += SLOW
        (folder / name).write_text(text, encoding="utf-8")
    return folder / "bocopt.toml"


def test_lines_are_printed_where_there_is_no_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_EVERY", 0.1)
    monkeypatch.setattr(progress, "_LONGEST", 0.1)
    result = CliRunner().invoke(app, ["backtest", str(written(tmp_path))])
    assert result.exit_code == 0, result.output
    lines = [one for one in result.stderr.splitlines() if one != "A kiosk: starting"]
    assert lines[0] == "A kiosk: slow, stage 0 of 60 (0%)"
    told = [re.fullmatch(r"A kiosk: slow, stage (\d+) of 60 \(\d+%\)(.*)", one) for one in lines]
    stages = [int(one[1]) for one in told if one]
    after = [one for one, each in zip(lines, told, strict=True) if not each]
    assert set(after) <= {"A kiosk: all 60 stages are done, the results are made of them"}
    assert lines[len(stages) :] == after
    assert len(stages) >= 5
    assert stages == sorted(stages)
    assert stages[-1] < 60
    assert any(one and re.fullmatch(r", about \d+ s left", one[2]) for one in told)
    assert "stage" not in result.stdout.splitlines()[-1]  # the results alone


def test_a_long_stage_does_not_silence_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "_EVERY", 0.05)
    monkeypatch.setattr(progress, "_LONGEST", 0.05)
    with progress.progress("shop") as shown:
        shown.begin("Ensemble", 10)
        shown.advance(0)
        time.sleep(0.4)
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "shop: Ensemble, stage 0 of 10 (0%)"
    so_far = "shop: Ensemble, stage 0 of 10 (0%), 1 s so far: machine code may have to be compiled "
    assert sum(one == f"{so_far}first" for one in said) >= 3


def test_no_speed_is_told_before_anything_was_played(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As who looks how far others are hears that nothing is done, while they compile."""
    monkeypatch.setattr(progress, "_EVERY", 0.05)
    monkeypatch.setattr(progress, "_LONGEST", 0.05)
    with progress.progress("shops", unit="decision") as shown:
        shown.begin("playing", 10_000)
        shown.advance(0)
        time.sleep(0.2)
        shown.advance(1000)
        time.sleep(0.12)
    assert "left" not in capsys.readouterr().err


def test_what_was_played_before_is_no_speed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "_EVERY", 0.05)
    monkeypatch.setattr(progress, "_LONGEST", 0.05)
    with progress.progress("shop") as shown:
        shown.begin("Ensemble", 1000)
        shown.advance(900)
        time.sleep(0.2)
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1] == "shop: Ensemble, stage 900 of 1,000 (90%)"


class StoppedError(Exception):
    pass


def advances(case: Case, stop: int | None = None, **keep: Any) -> list[int]:
    """What `played` told of its advance, until it is stopped."""
    told: list[int] = []

    def advance(stages: int) -> None:
        told.append(stages)
        if stop is not None and sum(told) >= stop:
            raise StoppedError

    try:
        backtest(case, advance=advance, **keep)
    except StoppedError:
        assert stop is not None
    return told


def test_a_study_of_slow_stages_is_kept_by_time(tmp_path: Path) -> None:
    """Stopped long before the 200th stage, it goes on near where it was, to the same bits."""
    (tmp_path / "whole").mkdir()
    whole, _ = backtest(open_case(written(tmp_path / "whole")))
    case = open_case(written(tmp_path))
    advances(case, 40, keep_seconds=0.1)
    told = advances(case, 50, keep_seconds=0.1)
    assert 20 <= told[0] < 40  # kept every five stages or so
    again, _ = backtest(case)
    for one, other in zip(whole.played["slow"], again.played["slow"], strict=True):
        assert repr(one) == repr(other)
    assert str(again.compared) == str(whole.compared)


def test_keeping_takes_little_of_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where keeping is slow it is done seldom."""
    from bocopt.app.playing.kept import Kept

    keep, kept = Kept.keep, list[int]()

    def slow(self: Kept, at: Any) -> None:
        kept.append(at.t)
        time.sleep(0.05)
        keep(self, at)

    monkeypatch.setattr(Kept, "keep", slow)
    started = time.monotonic()
    backtest(open_case(written(tmp_path)), keep_seconds=0.05)
    took = time.monotonic() - started
    assert 1 <= len(kept) <= 2 + took  # a second or more between two, as each takes 0.05
