"""`bocopt.toml` as a service reads it: what streams may be like, the log, and who may ask."""

import ipaddress
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bocopt.app.case import Case
from bocopt.app.case_file import CaseSettings, read_cases
from bocopt.app.features.featuriser import Featuriser
from bocopt.app.opening import case_of
from bocopt.app.service.access import Access
from bocopt.app.service.stream_template import StreamTemplate, template_of
from bocopt.app.toml_file import Part
from bocopt.app.user_code import UserCode

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
    "confidence",
)
_MOST_WORKERS = 4  # unless the file says more
_NOW = "now"  # what the rule that is followed now is called among the shadows


@dataclass(frozen=True)
class Config:
    """A service, as its file says; paths are relative to the folder that it stands in."""

    path: Path
    store: str
    host: str
    port: int
    access: Access  # by what must be shown, and not the file that it stands in
    queue: int  # requests that may wait
    at_once: int  # that are committed together
    patience: float  # seconds that headers, and then a body, may take to come in
    workers: int  # processes that decide; 0: this one
    held: int  # streams in memory, of all workers together
    limit: float  # seconds that one command may take
    confidence: float  # of what is said of all streams together
    templates: dict[str, StreamTemplate]
    notes: list[str] = field(default_factory=list)  # on what is served: a sentence each

    @property
    def folder(self) -> Path:
        """Return the folder of the configuration file, from which relative paths start."""
        return self.path.parent


def load_config(path: str | Path, *, host: str | None = None, port: int | None = None) -> Config:
    """Read and check it, and import what it names; `host` and `port` instead of the file's."""
    file = read_cases(path)
    service = file.file.part("service", _SERVICE)
    config = Config(
        path=file.path,
        store=service.word("store", "sqlite:///bocopt.db"),
        host=host or service.word("host", "127.0.0.1"),
        port=service.number("port", 8321, "[0, 65535]", whole=True) if port is None else port,
        access=Access.of(_token(service)),
        queue=service.number("queue", 1000, "[1, 1000000]", whole=True),
        at_once=service.number("at_once", 64, "[1, 10000]", whole=True),
        patience=service.number("patience", 10.0, "(0, 3600]"),
        workers=service.number("workers", min(_cores(), _MOST_WORKERS), "[0, 256]", whole=True),
        held=service.number("held", 1000, "[1, inf)", whole=True),
        limit=service.number("limit", 20.0, "(0, 3600]"),
        confidence=service.number("confidence", 0.95, "(0, 1)"),
        templates={},
    )
    if (
        not config.access.asks_for_token
        and "token" not in service.found
        and not is_loopback(config.host)
    ):
        service.wrong(
            "host",
            f"'host' {config.host} can be reached from other machines, so 'token' must name a file "
            "with the token that clients show.",
        )
    file.file.refuse()
    code = UserCode(file.path.parent)
    for name, settings in file.cases.items():
        case = case_of(settings, code)
        config.templates[name] = _template(settings, case)
        config.notes.extend(_without_across(case))
    return config


def _cores() -> int:
    """Return the number of processor cores that this process may use."""
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
    if not name:
        return None
    try:
        token = (service.file.path.parent / name).read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        service.wrong("token", f"'token' names a file that cannot be read: {error}.")
        return None
    if not re.fullmatch(r"[!-~]{16,}", token):
        service.wrong("token", "'token' must name a file with 16 or more ASCII characters.")
    return token


def _without_across(case: Case) -> Iterator[str]:
    """Yield what a stream of a case lacks that a backtest of its panel had."""
    for name in case.policies:
        if case.across(name) is not None:
            yield (
                f"{case.name}: '{name}' is served without its model across series, as a stream "
                "knows itself alone, so it is not what was backtested; `bocopt decide` has the "
                "model."
            )


def _template(settings: CaseSettings, case: Case) -> StreamTemplate:
    """The first policy decides; the others, and the rule of now, are its shadows."""
    if case.coupled:
        settings.part.wrong(
            "problem", "'problem' couples series: no service decides these; use `bocopt decide`."
        )
        settings.part.file.refuse()
    deciding, *others = case.policies
    shadows = {name: case.policies[name] for name in others}
    if case.now is not None:
        shadows[_NOW] = case.now
    contexts, outcomes = _named(settings, case)
    _check_count(settings, "context", contexts, case.problem.dims.x)
    _check_count(settings, "outcome", outcomes, case.problem.dims.xi)
    try:
        template = template_of(
            settings.name,
            case.problem,
            case.policies[deciding],
            version=settings.version,
            shadows=shadows,
            promote=settings.promote.rpartition(":")[2] or None,
            names=case.decision_names,
            contexts=contexts,
            outcomes=outcomes,
            featuriser=_featuriser(case),
            scale=case.cost_scale,
            difference_scale=case.difference_scale,
            delta=case.delta,
            guarantees=case.guarantees,
            unit=case.unit,
            hindsight=settings.hindsight,
            seed=settings.seed,
            limits=settings.limits,
        )
    except ValueError as error:  # what cannot be told from another, say
        settings.part.wrong("", str(error))
        settings.part.file.refuse()
        raise
    return template


def _featuriser(case: Case) -> Featuriser | None:
    """The featuriser of a stream; where the data have several series, a stream is one of them."""
    if case.panel is not None:
        origins = (one.featuriser.origin for one in case.panel.series if one.featuriser)
        return case.panel.featuriser.alone(min(origins))
    return case.series.featuriser if case.series else None


def _named(settings: CaseSettings, case: Case) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of contexts and of outcomes: those of the data, where there are any."""
    data = case.series or case.panel
    if data is not None:
        return data.x_names, data.xi_names
    return settings.context, settings.outcome


def _check_count(
    settings: CaseSettings, key: str, names: tuple[str, ...], many: int | None
) -> None:
    if names and many is not None and len(names) != many:
        expected = f"{many} different names, one for each number"
        settings.part.wrong(key, f"'{key}' must be {expected}. Got {list(names)} instead.")
        settings.part.file.refuse()
