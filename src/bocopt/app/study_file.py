"""`study.toml`: what is decided, on which data, by whom."""

import difflib
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from bocopt import arguments
from bocopt.app.faults import Fault, FaultsError
from bocopt.app.features.spec import Spec, all_wrong

_STUDY = ("title", "unit", "data", "problem", "policies", "run")
_PROBLEM = ("file", "name", "now")
_RUN = ("seed", "confidence", "scale", "results", "trace")
_DATA = ("file", *(one.name for one in fields(Spec)))


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
    """Read and check it; one error tells all that is wrong, each with its line."""
    path = Path(path)
    text = _text(path)
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path} is not TOML: {error}.") from None
    file = _File(path, text)
    file.know(found, _STUDY, "")
    data = file.part(found, "data", _DATA)
    problem = file.part(found, "problem", _PROBLEM)
    run = file.part(found, "run", _RUN, needed=False)
    top, folder = _Part(file, "", found), path.parent
    fields = {
        "title": top.word("title", path.stem),
        "unit": top.word("unit", ""),
        "data": folder / data.word("file", None),
        "spec": data.spec(),
        "problem": folder / problem.word("file", "problem.py"),
        "name": problem.word("name", "problem"),
        "now": problem.word("now", "") or None,
        "policies": top.words("policies", ("Ensemble", "SampleAverage")),
        "seed": run.number("seed", 0, "[0, 9e18]", whole=True),
        "delta": 1.0 - run.number("confidence", 0.95, "(0, 1)"),
        "scale": run.number("scale", None, "(0, inf)"),
        "results": folder / run.word("results", "results"),
        "trace": run.one_of("trace", ("csv", "parquet")),
    }
    file.refuse()
    return StudyFile(path=path, **fields)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a text in UTF-8.") from None
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}.") from None


@dataclass(frozen=True)
class _File:
    """A file, and all that is wrong with it so far."""

    path: Path
    text: str
    faults: list[Fault] = field(default_factory=list)

    def wrong(self, part: str, key: str, why: str) -> None:
        """Note a fault at the line of a key, or of its part, where there is one."""
        line = self._line(part, key) or self._line("", part)
        where = f"{self.path}, line {line}" if line else str(self.path)
        self.faults.append(Fault(line, f"{where}: {why}"))

    def refuse(self) -> None:
        """Raise the error of all that is wrong, if anything is."""
        if self.faults:
            raise FaultsError(*self.faults)

    def _line(self, part: str, key: str) -> int:
        """Where a key of a part stands, or a heading; 0 where nothing is found."""
        inside = ""
        for number, line in enumerate(self.text.splitlines(), start=1):
            heading = re.match(r"\s*\[+\s*([^\]]+?)\s*\]", line)
            if heading is not None:
                inside = heading[1].strip("\"'")
                if not part and inside == key:
                    return number
            elif inside == part and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*[.=]", line):
                return number
        return 0

    def know(self, found: Mapping[str, Any], known: Sequence[str], part: str) -> None:
        where = f"[{part}]" if part else "a study"
        for key in found:
            if key not in known:
                near = difflib.get_close_matches(key, known, 1)
                hint = f" Did you mean '{near[0]}'?" if near else f" It has: {', '.join(known)}."
                self.wrong(part, key, f"{where} has no key '{key}'.{hint}")

    def part(
        self, found: Mapping[str, Any], name: str, known: Sequence[str], needed: bool = True
    ) -> "_Part":
        part = found.get(name)
        if part is None:
            if needed:
                self.faults.append(Fault(0, f"{self.path} has no part [{name}]."))
            return _Part(self, name, None)
        if not isinstance(part, dict):
            self.wrong("", name, f"'{name}' must be a part: write [{name}] above its keys.")
            return _Part(self, name, None)
        self.know(part, known, name)
        return _Part(self, name, part)


@dataclass(frozen=True)
class _Part:
    """The keys of a part; what is wrong with one is noted, and its default stands for it."""

    file: _File
    name: str
    found: Mapping[str, Any] | None  # None: there is no such part

    def _wrong(self, key: str, why: str) -> None:
        self.file.wrong(self.name, key, why)

    def _value(self, key: str, default: Any) -> Any:
        return default if self.found is None else self.found.get(key, default)

    def word(self, key: str, default: str | None) -> str:
        """A text; without a default it must be there."""
        value = self._value(key, default)
        if value is None:
            if self.found is not None:
                self._wrong(key, f"[{self.name}] does not say '{key}'.")
        elif not isinstance(value, str) or (default is None and not value):
            self._wrong(key, f"'{key}' must be a text in quotes. Got {value!r} instead.")
        return value if isinstance(value, str) else default or ""

    def one_of(self, key: str, known: tuple[str, ...]) -> str:
        """The first of them, if nothing is said."""
        value = self._value(key, known[0])
        if value not in known:
            expected = " or ".join(map(repr, known))
            self._wrong(key, f"'{key}' must be {expected}. Got {value!r} instead.")
        return known[0] if value not in known else str(value)

    def words(self, key: str, default: tuple[str, ...]) -> tuple[str, ...]:
        value = self._value(key, default)
        fits = isinstance(value, list | tuple) and value and all(isinstance(v, str) for v in value)
        if not fits or len(set(value)) != len(value):
            expected = "a list of different names in quotes"
            self._wrong(key, f"'{key}' must be {expected}. Got {value!r} instead.")
            return default
        return tuple(value)

    def number(self, key: str, default: Any, interval: str, whole: bool = False) -> Any:
        value = self._value(key, default)
        if value is default:
            return default
        try:
            return (arguments.integer if whole else arguments.number)("run", key, value, interval)
        except arguments.WrongError as error:
            self._wrong(key, f"'{key}' {error.why}")
            return default

    def spec(self) -> Spec:
        """What the other keys of [data] say."""
        if self.found is None:
            return Spec("none")
        if "outcome" not in self.found:
            self._wrong("", "[data] must say which columns are the 'outcome'.")
        names = [one.name for one in fields(Spec)]
        given = {name: value for name, value in self.found.items() if name in names}
        wrong = all_wrong(given)
        for error in wrong:
            self._wrong(error.name, f"'{error.name}' {error.why}")
        return Spec("none") if wrong or "outcome" not in given else Spec(**given)
