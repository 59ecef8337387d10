"""Where benchmark results go: a JSON file with the numbers and what they were measured on."""

import json
import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def write(
    name: str,
    numbers: Mapping[str, Any],
    folder: str = "benchmarks",
    command: str | None = None,
) -> None:
    about = {
        "command": command or f"python {folder}/{name}.py",
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
        "versions": {package: version(package) for package in ("numpy", "numba", "scipy")},
    }
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps({"about": about, **numbers}, indent=2) + "\n"
    (RESULTS / f"{name}.json").write_text(text)


def write_markdown(name: str, lines: list[str]) -> None:
    (RESULTS / f"{name}.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))
