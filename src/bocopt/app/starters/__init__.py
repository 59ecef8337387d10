"""`bocopt init`: small cases to begin with, each with a problem, made-up data and a client."""

import csv
import io
import json
import tomllib
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Any

from bocopt.app.starters.data import MADE

EXAMPLES = tuple(MADE)


def starter(name: str) -> dict[str, bytes]:
    """The files of one of them, by name: a case on its data, and a client of it when served."""
    config = _text(name, "bocopt.toml")
    [(case, settings)] = tomllib.loads(config)["cases"].items()
    data = settings["data"]
    known = [data["time"], *data.get("context", ()), *data.get("categories", ())]
    parts = {"@case": case, "@known": json.dumps(known), "@outcome": json.dumps(data["outcome"])}
    texts = {
        "bocopt.toml": config,
        "problem.py": _text(name, "problem.txt"),
        "data.csv": _csv(MADE[name]()),
        "client.py": _filled(_text("client.txt"), parts),
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
