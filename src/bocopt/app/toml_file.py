"""A TOML file, and all that is wrong with it: each fault with its line, told at once."""

import difflib
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bocopt import arguments
from bocopt.app.faults import Fault, FaultsError


@dataclass(frozen=True)
class TomlFile:
    """TOML file: its text, what it says, and the faults noted so far."""

    path: Path
    text: str = field(repr=False)  # which may hold a password
    found: Mapping[str, Any] = field(repr=False)
    faults: list[Fault] = field(default_factory=list)

    def part(self, name: str, known: Sequence[str]) -> "Part":
        """Return the keys under a heading without a dot; an empty part where there is none."""
        return Part(self, "", self.found).part(name, known)

    def wrong(self, part: str, key: str, why: str) -> None:
        """Note a fault at the line of a key, or of the heading of its part, where there is one."""
        line = self._line(part, key) or self._line("", part)
        where = f"{self.path}, line {line}" if line else str(self.path)
        self.faults.append(Fault(line, f"{where}: {why}"))

    def refuse(self) -> None:
        """Raise the error of all that is wrong, if anything is."""
        if self.faults:
            raise FaultsError(*self.faults)

    def _line(self, part: str, key: str) -> int:
        """Return the line of a key of a part, or of its heading; 0 where neither is found."""
        inside, wanted = "", f"{part}.{key}".strip(".")
        for number, line in enumerate(self.text.splitlines(), start=1):
            heading = re.match(r"\s*\[+\s*([^\]]+?)\s*\]", line)
            if heading is not None:
                inside = re.sub(r"[\"'\s]", "", heading[1])
                if inside == wanted:
                    return number
            elif inside == part and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*[.=]", line):
                return number
        return 0


@dataclass(frozen=True)
class Part:
    """The keys under a heading; what is wrong with one is noted, and its default stands for it."""

    file: TomlFile
    heading: str  # such as cases.kiosk.data
    found: Mapping[str, Any] = field(repr=False)

    def wrong(self, key: str, why: str) -> None:
        """Note a fault at the line of a key."""
        self.file.wrong(self.heading, key, why)

    def know(self, known: Iterable[str]) -> None:
        """Refuse other keys than these."""
        known = list(known)
        for key in self.found:
            if key not in known:
                near = difflib.get_close_matches(key, known, 1)
                hint = f"Did you mean '{near[0]}'?" if near else f"It has: {', '.join(known)}."
                where = f"[{self.heading}]" if self.heading else "the file"
                self.wrong(key, f"{where} has no key '{key}'. {hint}")

    def part(self, name: str, known: Sequence[str]) -> "Part":
        """Return the keys below one of these, or an empty part; without `known`, any keys."""
        found, heading = self.found.get(name, {}), f"{self.heading}.{name}".lstrip(".")
        if not isinstance(found, dict):
            self.wrong(name, f"'{name}' must be a part: write [{heading}] above its keys.")
            found = {}
        part = Part(self.file, heading, found)
        if known:
            part.know(known)
        return part

    def word(self, key: str, default: str = "") -> str:
        """Return a text that is not empty, or the default; anything else is noted as a fault."""
        value = self.found.get(key, default)
        if not isinstance(value, str) or (key in self.found and not value):
            self.wrong(key, f"'{key}' must be a text in quotes. Got {value!r} instead.")
            return default
        return value

    def needed(self, key: str) -> str:
        """Return a text that must be there."""
        if key not in self.found:
            self.wrong("", f"[{self.heading}] does not say '{key}'.")
        return self.word(key)

    def one_of(self, key: str, known: Sequence[str]) -> str:
        """Return one of the known words; the first of them, if the key is missing."""
        value = self.found.get(key, known[0])
        if value not in known:
            expected = " or ".join(map(repr, known))
            self.wrong(key, f"'{key}' must be {expected}. Got {value!r} instead.")
        return known[0] if value not in known else str(value)

    def words(self, key: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
        """Return different texts; those that are given are one or more."""
        value = self.found.get(key, default)
        fits = isinstance(value, list | tuple) and all(isinstance(v, str) and v for v in value)
        if not fits or len(set(value)) != len(value) or (key in self.found and not value):
            expected = "a list of different names in quotes"
            self.wrong(key, f"'{key}' must be {expected}. Got {value!r} instead.")
            return default
        return tuple(value)

    def yes(self, key: str, default: bool) -> bool:
        """Return True or False, or the default; anything else is noted as a fault."""
        value = self.found.get(key, default)
        if not isinstance(value, bool):
            self.wrong(key, f"'{key}' must be true or false. Got {value!r} instead.")
            return default
        return value

    def number(self, key: str, default: Any, interval: str, whole: bool = False) -> Any:
        """Return a number in an interval, or the default as it is, which may be None."""
        if key not in self.found:
            return default
        check = arguments.integer if whole else arguments.number
        try:
            return check(self.heading, key, self.found[key], interval)
        except arguments.WrongError as error:
            self.wrong(key, f"'{key}' {error.why}")
            return default


def read_toml(path: Path) -> TomlFile:
    """Read a file as far as it can be read at all."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        return TomlFile(path, text, tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path} is not TOML: {error}.") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a text in UTF-8.") from None
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}.") from None
