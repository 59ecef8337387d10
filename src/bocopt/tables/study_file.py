"""`study.toml`: what is decided, on which data, by whom."""

import difflib
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from bocopt import arguments
from bocopt.tables.timeline.spec import Spec

_STUDY = ("title", "unit", "data", "problem", "policies", "run")
_PROBLEM = ("file", "name", "now")
_RUN = ("seed", "confidence", "scale", "results", "trace")
_DATA = ("file", *(field.name for field in fields(Spec)))


@dataclass(frozen=True, kw_only=True)
class StudyFile:
    """A study, as its file says; paths are relative to the folder that it stands in."""

    path: Path
    title: str
    unit: str  # of costs
    data: Path
    spec: Spec
    problem: Path  # a Python file
    name: str  # of the problem in it
    now: str | None  # the name of the rule that is followed now, in it
    policies: tuple[str, ...]
    seed: int
    delta: float
    scale: float | None  # of differences to what is done now, declared in advance
    results: Path
    trace: str  # how it ends: csv or parquet


def load_study(path: str | Path) -> StudyFile:
    """Read and check it; errors name the file and the line."""
    path = Path(path)
    text = _text(path)
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path} is not TOML: {error}.") from None
    file = _File(path, text)
    file.know(found, _STUDY, None)
    data = file.part(found, "data", _DATA)
    problem = file.part(found, "problem", _PROBLEM)
    run = file.part(found, "run", _RUN, needed=False)
    folder = path.parent
    return StudyFile(
        path=path,
        title=file.word(found, "title", path.stem),
        unit=file.word(found, "unit", ""),
        data=folder / file.word(data, "file", None),
        spec=file.spec({name: value for name, value in data.items() if name != "file"}),
        problem=folder / file.word(problem, "file", "problem.py"),
        name=file.word(problem, "name", "problem"),
        now=file.word(problem, "now", "") or None,
        policies=file.words(found, "policies", ("Ensemble", "SampleAverage")),
        seed=file.number(run, "seed", 0, "[0, 9e18]", whole=True),
        delta=1.0 - file.number(run, "confidence", 0.95, "(0, 1)"),
        scale=file.number(run, "scale", None, "(0, inf)"),
        results=folder / file.word(run, "results", "results"),
        trace=file.one_of(run, "trace", ("csv", "parquet")),
    )


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a text in UTF-8.") from None
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}.") from None


@dataclass(frozen=True)
class _File:
    path: Path
    text: str

    def wrong(self, key: str, why: str) -> ValueError:
        """An error at the line of a key, where there is one."""
        for number, line in enumerate(self.text.splitlines(), start=1):
            if re.match(rf"\s*\[?\s*[\"']?{re.escape(key)}[\"']?\s*[\]=]", line):
                return ValueError(f"{self.path}, line {number}: {why}")
        return ValueError(f"{self.path}: {why}")

    def know(self, found: Mapping[str, Any], known: Iterable[str], part: str | None) -> None:
        where = f"[{part}]" if part else "a study"
        for key in found:
            if key not in known:
                near = difflib.get_close_matches(key, list(known), 1)
                hint = f" Did you mean '{near[0]}'?" if near else f" It has: {', '.join(known)}."
                raise self.wrong(key, f"{where} has no key '{key}'.{hint}")

    def part(
        self, found: Mapping[str, Any], name: str, known: Iterable[str], needed: bool = True
    ) -> Mapping[str, Any]:
        if name not in found:
            if needed:
                raise ValueError(f"{self.path} has no part [{name}].")
            return {}
        part = found[name]
        if not isinstance(part, dict):
            raise self.wrong(name, f"'{name}' must be a part: write [{name}] above its keys.")
        self.know(part, known, name)
        return part

    def word(self, found: Mapping[str, Any], key: str, default: str | None) -> str:
        value = found.get(key, default)
        if value is None:
            raise ValueError(f"{self.path} does not say '{key}'.")
        if not isinstance(value, str) or (default is None and not value):
            raise self.wrong(key, f"'{key}' must be a text in quotes. Got {value!r} instead.")
        return value

    def one_of(self, found: Mapping[str, Any], key: str, known: tuple[str, ...]) -> str:
        """The first of them, if nothing is said."""
        value = self.word(found, key, known[0])
        if value not in known:
            expected = " or ".join(map(repr, known))
            raise self.wrong(key, f"'{key}' must be {expected}. Got {value!r} instead.")
        return value

    def words(
        self, found: Mapping[str, Any], key: str, default: tuple[str, ...]
    ) -> tuple[str, ...]:
        value = found.get(key, default)
        fits = isinstance(value, list | tuple) and value and all(isinstance(v, str) for v in value)
        if not fits or len(set(value)) != len(value):
            expected = "a list of different names in quotes"
            raise self.wrong(key, f"'{key}' must be {expected}. Got {value!r} instead.")
        return tuple(value)

    def number(
        self,
        found: Mapping[str, Any],
        key: str,
        default: float | None,
        interval: str,
        whole: bool = False,
    ) -> Any:
        if key not in found:
            return default
        check = arguments.integer if whole else arguments.number
        try:
            return check("study", key, found[key], interval)
        except ValueError as error:
            raise self.wrong(key, str(error)) from None

    def spec(self, data: Mapping[str, Any]) -> Spec:
        if "outcome" not in data:
            raise self.wrong("data", "[data] must say which columns are the 'outcome'.")
        try:
            return Spec(**data)
        except (TypeError, ValueError) as error:
            named = re.match(r"The '(\w+)' parameter of Spec (.*)", str(error), re.DOTALL)
            if named is None:
                raise self.wrong("data", str(error)) from None
            raise self.wrong(named[1], f"'{named[1]}' {named[2]}") from None
