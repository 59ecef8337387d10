"""Where what was shown is kept: a JSON file and a page for each script, with the command."""

import json
import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1]))
results_file: Any = import_module("results_file")


def command() -> str:
    """As it was typed, from the folder of the project."""
    return shlex.join(["python", f"benchmarks/service/{Path(sys.argv[0]).name}", *sys.argv[1:]])


def before(name: str) -> dict[str, Any]:
    """What was written last time."""
    path = Path(results_file.RESULTS) / f"{name}.json"
    return dict(json.loads(path.read_text())) if path.exists() else {}


def keep(name: str, numbers: Mapping[str, Any], lines: Sequence[str]) -> None:
    """Write both files, and show the page."""
    found = {key: value for key, value in numbers.items() if key != "about"}
    results_file.write(name, found, command=command())
    results_file.write_markdown(name, list(lines))


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """In Markdown; the first column is text, and so is one whose values are."""
    numbers = [all(isinstance(row[i], int | float) for row in rows) for i in range(len(head))]
    rule = ["---:" if number else "---" for number in numbers]
    body = [[_cell(value) for value in row] for row in rows]
    return [f"| {' | '.join(row)} |" for row in [list(head), rule, *body]]


def _cell(value: object) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.2f}"
    return str(value).replace("|", "\\|").replace("\n", " ")


def progress(words: str, started: float) -> None:
    print(f"{time.monotonic() - started:7.1f} s  {words}", flush=True)
