"""`bocopt init`, `bocopt serve`: two commands to a service that works."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from lengths import long
from test_serving import serving
from typed import bocopt

from bocopt.app.starters import EXAMPLES
from bocopt.client import Client


def played(folder: Path, address: str, days: int) -> str:
    words = [sys.executable, str(folder / "client.py"), str(days), address]
    return subprocess.run(words, check=True, capture_output=True, text=True, timeout=120).stdout


@pytest.mark.parametrize("example", ["newsvendor", *map(long, EXAMPLES[1:])])
def test_two_commands_begin_a_service_and_its_client_plays(
    example: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = bocopt("init", str(tmp_path), "--example", example)
    assert (code, "Then: bocopt serve" in said) == (0, True)
    with serving(tmp_path, "--port", "0") as (process, address):
        first = played(tmp_path, address, 12)
        runpy.run_path(str(tmp_path / "client.py"))["main"](8, address)
        second = capsys.readouterr().out
        assert re.findall(r"^2024-01-\d\d", first + second, re.MULTILINE) == [
            f"2024-01-{day:02}" for day in range(1, 21)
        ]
        assert "12 outcomes, average" in first
        assert "20 outcomes, average" in second
        with Client(address) as client:
            [stream] = client.streams()
            shown = client.stream(stream)
            assert (shown["decisions"], shown["outcomes"]) == (20, 20)
            words = [each["words"] for each in client.certificates(stream)]
            assert words
            assert all(each in second for each in words)
            assert client.explanation(stream, 19)["candidates"][0]["what"] == "taken"
        process.terminate()
        assert process.wait(30) == 0
    code, said = bocopt("doctor", str(tmp_path / "bocopt.toml"))
    assert code == 0, said


def test_init_leaves_what_is_there(tmp_path: Path) -> None:
    assert bocopt("init", str(tmp_path))[0] == 0
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"bocopt.toml", "client.py", "problem.py", "data.csv"}
    (tmp_path / "client.py").write_text("mine")
    (tmp_path / "bocopt.toml").unlink()
    assert bocopt("init", str(tmp_path))[0] == 2
    assert (tmp_path / "client.py").read_text() == "mine"
    assert not (tmp_path / "bocopt.toml").exists()
