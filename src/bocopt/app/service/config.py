"""`bocopt.toml`: which streams there are, where the log is, and who may ask."""

import ipaddress
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bocopt import arguments
from bocopt.app.service.kind import Kind, Limits, kind_of, names_of
from bocopt.app.service.python_file import Modules
from bocopt.app.service.toml_file import ConfigError, Part, read_toml
from bocopt.core import Policy, Problem
from bocopt.policies import Ensemble, ResidualSampleAverage, SampleAverage

#: What an id of a stream may look like.
ID = re.compile(r"[A-Za-z0-9._-]{1,64}")

_FILE = ("service", "streams")
_SERVICE = (
    "store",
    "host",
    "port",
    "token",
    "queue",
    "at_once",
    "patience",
    "workers",
    "held",
    "limit",
)
_MOST_WORKERS = 4  # unless the file says more
_STREAM = (
    "problem",
    "policy",
    "version",
    "shadows",
    "promote",
    "names",
    "scale",
    "hindsight",
    "seed",
    "context",
    "outcome",
    "expire",
    "max_open",
    "snapshot",
)
_KNOWN: dict[str, Any] = {
    "Ensemble": Ensemble,
    "SampleAverage": SampleAverage,
    "ResidualSampleAverage": ResidualSampleAverage,
}


@dataclass(frozen=True)
class Config:
    """A service, as its file says; paths are relative to the folder that it stands in."""

    path: Path
    store: str
    host: str
    port: int
    token: str | None  # what must be shown, and not the file that it stands in
    queue: int  # requests that may wait
    at_once: int  # that are committed together
    patience: float  # seconds that headers, and then a body, may take to come in
    workers: int  # processes that decide; 0: this one
    held: int  # streams in memory, of all workers together
    limit: float  # seconds that one command may take
    kinds: dict[str, Kind]

    @property
    def folder(self) -> Path:
        return self.path.parent


def load_config(path: str | Path, *, host: str | None = None, port: int | None = None) -> Config:
    """Read and check it, and import what it names; `host` and `port` instead of the file's."""
    file = read_toml(Path(path))
    file.know(_FILE)
    service, streams = file.part("service"), file.part("streams")
    service.know(_SERVICE)
    if not streams.found:
        raise ConfigError(f"{path} declares no stream: write [streams.NAME] above its keys.")
    modules = Modules(file.path.parent)
    config = Config(
        path=file.path,
        store=service.word("store") or "sqlite:///bocopt.db",
        host=host or service.word("host") or "127.0.0.1",
        port=service.integer("port", 8321, "[0, 65535]") if port is None else port,
        token=_token(service),
        queue=service.integer("queue", 1000, "[1, 1000000]"),
        at_once=service.integer("at_once", 64, "[1, 10000]"),
        patience=service.number("patience", "(0, 3600]") or 10.0,
        workers=service.integer("workers", min(_cores(), _MOST_WORKERS), "[0, 256]"),
        held=service.integer("held", 1000, "[1, inf)"),
        limit=service.number("limit", "(0, 3600]") or 20.0,
        kinds={name: _kind(streams, name, modules) for name in streams.found},
    )
    if config.token is None and not is_loopback(config.host):
        raise service.wrong(
            "host",
            f"'host' {config.host} can be reached from other machines, so 'token' must name a file "
            "with the token that clients show.",
        )
    return config


def _cores() -> int:
    """That this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def is_loopback(host: str) -> bool:
    """
    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _token(service: Part) -> str | None:
    name = service.word("token")
    if name is None:
        return None
    try:
        token = (service.path.parent / name).read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise service.wrong(
            "token", f"'token' names a file that cannot be read: {error}."
        ) from None
    if not re.fullmatch(r"[!-~]{16,}", token):
        raise service.wrong("token", "'token' must name a file with 16 or more ASCII characters.")
    return token


def _kind(streams: Part, name: str, modules: Modules) -> Kind:
    part = streams.part(name)
    part.know(_STREAM)
    if not ID.fullmatch(name):
        raise streams.wrong(name, f"The stream {name!r} must match {ID.pattern}.")
    problem = _problem(part, modules)
    shadows = part.part("shadows")
    candidates = {key: _policy(shadows, key, modules, problem) for key in shadows.found}
    promote = part.word("promote")
    if promote is not None and promote not in candidates:
        said = ", ".join(candidates) or "there is none"
        raise part.wrong("promote", f"'promote' must name a shadow ({said}). Got {promote!r}.")
    try:
        return kind_of(
            name,
            problem,
            _policy(part, "policy", modules, problem, "Ensemble"),
            version=part.word("version") or "1",
            shadows=candidates,
            promote=promote,
            names=_names(part, problem),
            contexts=_contexts(part, problem),
            outcomes=_distinct(part, "outcome", problem.dims.xi),
            scale=part.number("scale", "(0, inf)"),
            hindsight=part.yes("hindsight", True),
            seed=part.integer("seed", 0, "[0, 9e18]"),
            limits=_limits(part),
        )
    except ConfigError:
        raise
    except ValueError as error:  # what cannot be told from another, say
        raise streams.wrong(name, str(error)) from error


def _contexts(part: Part, problem: Problem) -> tuple[str, ...]:
    """Names of the numbers of x; none where the file has how many there are, or nothing."""
    named = isinstance(part.found.get("context"), list)
    return _distinct(part, "context", problem.dims.x) if named else ()


def _distinct(part: Part, key: str, many: int | None) -> tuple[str, ...]:
    """As many different names as there are numbers, or none."""
    names = part.words(key)
    if names and (len(set(names)) != len(names) or many not in (None, len(names))):
        count = "" if many is None else f"{many} "
        expected = f"{count}different names, one for each number"
        raise part.wrong(key, f"'{key}' must be {expected}. Got {list(names)} instead.")
    return names


def _width(part: Part) -> int | None:
    """How many numbers a context has, where the file says so."""
    if isinstance(part.found.get("context"), list):
        return len(part.found["context"])
    return part.integer("context", 0, "[0, 100000]") if "context" in part.found else None


def _limits(part: Part) -> Limits:
    return Limits(
        context=_width(part),
        max_open=part.integer("max_open", 1000, "[1, 100000]"),
        expire=part.number("expire", "(0, inf)"),
        snapshot=part.integer("snapshot", 300, "[1, inf)"),
    )


def _problem(part: Part, modules: Modules) -> Problem:
    found = _object(part, "problem", modules, part.needed("problem"))
    problem: Problem = _of_kind(part, "problem", found, Problem)
    return problem


def _policy(
    part: Part, key: str, modules: Modules, problem: Problem, default: str | None = None
) -> Policy[Any]:
    """One of ours by name, one of the user's file, or what a function there makes of a problem."""
    reference = part.word(key) or default or ""
    found = _KNOWN.get(reference) or _object(part, key, modules, reference)
    if isinstance(found, type) or not hasattr(found, "decide"):
        try:
            found = found(problem)
        except Exception as error:
            raise part.wrong(key, f"{reference}(problem) failed: {error!r}.") from error
    policy: Policy[Any] = _of_kind(part, key, found, Policy)
    return policy


def _object(part: Part, key: str, modules: Modules, reference: str) -> Any:
    try:
        return modules.named(reference)
    except ValueError as error:
        raise part.wrong(key, f"'{key}': {error}") from error


def _of_kind(part: Part, key: str, found: Any, wanted: type) -> Any:
    try:
        arguments.kind(f"[{part.heading}]", key, found, wanted)
    except ValueError as error:
        raise part.wrong(key, str(error)) from None
    return found


def _names(part: Part, problem: Problem) -> tuple[str, ...]:
    names = part.words("names") or names_of(problem)
    if len(set(names)) != problem.dims.z or len(names) != problem.dims.z:
        expected = f"{problem.dims.z} different names, one for each number of a decision"
        raise part.wrong("names", f"'names' must be {expected}. Got {list(names)} instead.")
    return names
