"""What each number of a schema has stood for: a history to which lines are added, and nothing else.

`golden/schemas.txt` has a line for each kind, number and digest of what is written. Where the
digest of today is another one than that of the latest number, raise the number in the code and add
a line. No line is ever changed: somebody may have a file with that number.
"""

import subprocess
from pathlib import Path

import pytest

FILE = Path(__file__).parent / "golden" / "schemas.txt"
TWICE = {("checkpoint", 4)}  # was changed under the same number, before there was this file


def latest(kind: str) -> tuple[int, str]:
    """The largest number of a kind, and its digest."""
    return max((number, digest) for each, number, digest in _lines() if each == kind)


def check() -> None:
    """Each number has one digest, and no line that was ever committed is gone."""
    numbers = [(kind, number) for kind, number, _ in _lines() if (kind, number) not in TWICE]
    assert len(set(numbers)) == len(numbers), "Raise the number: it stands for something else."
    gone = _committed() - set(FILE.read_text(encoding="utf-8").splitlines())
    assert not gone, "A line was changed or removed. Put it back, raise the number and add one."


def _lines() -> list[tuple[str, int, str]]:
    rows = (line.split() for line in FILE.read_text(encoding="utf-8").splitlines())
    return [(kind, int(number), digest) for kind, number, digest in rows]


def _committed() -> set[str]:
    """Every line that the file had in any commit up to this one."""
    command = ["git", "log", "--patch", "--unified=0", "--format=", "--", FILE.name]
    try:
        found = subprocess.run(command, cwd=FILE.parent, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("without git, nobody knows which lines there were")
    added = (line[1:] for line in found.stdout.splitlines() if line.startswith("+"))
    return {line for line in added if not line.startswith("++")}
