"""`bocopt init`: small cases to begin with, each with a problem, made-up data and a client."""

import csv
import io
import tomllib
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Any

from bocopt.app.starters.data import MADE

EXAMPLES = tuple(MADE)


def starter(name: str) -> dict[str, bytes]:
    """The files of one of them, by name: a case on its data, and a client of it when served."""
    config = _text(name, "bocopt.toml")
    case = next(iter(tomllib.loads(config)["cases"]))
    texts = {
        "bocopt.toml": config,
        "problem.py": _text(name, "problem.txt"),
        "data.csv": _csv(MADE[name]()),
        "client.py": _filled(_text("client.txt"), {"@case": case}),
    }
    return {name: text.encode() for name, text in texts.items()}


def _text(*path: str) -> str:
    return files("bocopt.app.starters").joinpath(*path).read_text(encoding="utf-8")


def _filled(text: str, parts: Mapping[str, str]) -> str:
    for mark, part in parts.items():
        text = text.replace(mark, part)
    return text


def _csv(rows: Iterable[Mapping[str, Any]]) -> str:
    rows = list(rows)
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()
