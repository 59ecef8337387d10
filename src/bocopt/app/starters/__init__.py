"""`bocopt init`: small studies and services to begin with, each with a problem and made-up data."""

import csv
import io
import json
import tomllib
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Any

from bocopt.app.starters.data import MADE

EXAMPLES = tuple(MADE)
_NAMED = {  # what row.txt makes of a row
    "newsvendor": (("temperature", "rain", "weekend"), ("papers", "magazines")),
    "staffing": (("campaign", "Monday", "weekend"), ("morning", "noon", "afternoon", "evening")),
    "allocation": (("forecast", "weekend"), ("district A", "district B", "district C")),
    "portfolio": (("mood", "volatility", "Monday"), ("asset A", "asset B", "asset C", "asset D")),
}


def starter(name: str, *, service: bool = False) -> dict[str, bytes]:
    """The files of one of them, by name: of a study, or of a service and a client of it."""
    texts = {"problem.py": _text(name, "problem.txt"), "data.csv": _csv(MADE[name]())}
    study = _text(name, "study.toml")
    if service:
        stream = tomllib.loads(study)["problem"]["name"]
        context, outcome = (json.dumps(names) for names in _NAMED[name])
        parts = {"@stream": stream, "@context": context, "@outcome": outcome}
        parts["@row"] = _text(name, "row.txt").strip()
        first = {
            "bocopt.toml": _filled(_text("bocopt.toml"), parts),
            "client.py": _filled(_text("client.txt"), parts),
        }
    else:
        first = {"study.toml": study}
    return {name: text.encode() for name, text in (first | texts).items()}


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
