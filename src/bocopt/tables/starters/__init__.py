"""`bocopt init`: small studies to begin with, each of a study file, a problem and made-up data."""

import csv
import io
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Any

from bocopt.tables.starters.data import MADE

EXAMPLES = tuple(MADE)


def starter(name: str) -> dict[str, bytes]:
    """The files of one of them, by name."""
    folder = files("bocopt.tables.starters") / name
    rows = MADE[name]()
    texts: Mapping[str, str] = {
        "study.toml": (folder / "study.toml").read_text(encoding="utf-8"),
        "problem.py": (folder / "problem.txt").read_text(encoding="utf-8"),
        "data.csv": _csv(rows),
    }
    return {name: text.encode() for name, text in texts.items()}


def _csv(rows: Iterable[Mapping[str, Any]]) -> str:
    rows = list(rows)
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()
