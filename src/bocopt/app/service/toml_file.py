"""A configuration file, and errors that name the file, the line and the key."""

import difflib
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bocopt import arguments


class ConfigError(ValueError):
    """What is wrong with a configuration file."""


@dataclass(frozen=True)
class Part:
    """A part of a file: its keys under a heading like [streams.shop]."""

    path: Path
    text: str
    heading: str
    found: Mapping[str, Any]

    def wrong(self, key: str, why: str) -> ConfigError:
        """An error at the line of a key, where there is one."""
        inside = self.heading == ""
        for number, line in enumerate(self.text.splitlines(), start=1):
            heading = re.match(r"\s*\[\s*([^\]]+?)\s*\]", line)
            if heading is not None:
                inside = heading[1].replace('"', "") == self.heading
                named = heading[1].replace('"', "") == f"{self.heading}.{key}".lstrip(".")
            else:
                named = inside and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*[.=]", line)
            if named:
                return ConfigError(f"{self.path}, line {number}: {why}")
        return ConfigError(f"{self.path}: {why}")

    def know(self, known: Iterable[str]) -> None:
        """Refuse other keys than these."""
        for key in self.found:
            if key not in known:
                near = difflib.get_close_matches(key, list(known), 1)
                hint = f"Did you mean '{near[0]}'?" if near else f"It has: {', '.join(known)}."
                where = f"[{self.heading}]" if self.heading else "the file"
                raise self.wrong(key, f"{where} has no key '{key}'. {hint}")

    def part(self, key: str) -> "Part":
        """The part of that name, which may be missing."""
        found = self.found.get(key, {})
        if not isinstance(found, dict):
            raise self.wrong(key, f"'{key}' must be a part: write [{key}] above its keys.")
        return Part(self.path, self.text, f"{self.heading}.{key}".lstrip("."), found)

    def word(self, key: str, default: str | None = None) -> str | None:
        value = self.found.get(key, default)
        if value is not None and (not isinstance(value, str) or not value):
            raise self.wrong(key, f"'{key}' must be a text in quotes. Got {value!r} instead.")
        return value

    def needed(self, key: str) -> str:
        value = self.word(key)
        if value is None:
            raise ConfigError(f"{self.path}: [{self.heading}] does not say '{key}'.")
        return value

    def words(self, key: str) -> tuple[str, ...]:
        value = self.found.get(key, [])
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise self.wrong(key, f"'{key}' must be a list of names. Got {value!r} instead.")
        return tuple(value)

    def yes(self, key: str, default: bool) -> bool:
        value = self.found.get(key, default)
        if not isinstance(value, bool):
            raise self.wrong(key, f"'{key}' must be true or false. Got {value!r} instead.")
        return value

    def integer(self, key: str, default: int, interval: str) -> int:
        try:
            value = self.found.get(key, default)
            return arguments.integer(f"[{self.heading}]", key, value, interval)
        except ValueError as error:
            raise self.wrong(key, str(error)) from None

    def number(self, key: str, interval: str) -> float | None:
        if key not in self.found:
            return None
        try:
            return arguments.number(f"[{self.heading}]", key, self.found[key], interval)
        except ValueError as error:
            raise self.wrong(key, str(error)) from None


def read_toml(path: Path) -> Part:
    """The whole file."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        return Part(path, text, "", tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not TOML: {error}.") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not a text in UTF-8.") from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.") from None
