"""`bocopt.toml`: what is decided, on which data, by whom, and where it is served."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from bocopt.app.features.days import whole_days
from bocopt.app.features.panel import CONVENTION
from bocopt.app.features.spec import Spec, all_wrong
from bocopt.app.reading.columns import Table
from bocopt.app.reading.database import is_address, located, without_password
from bocopt.app.reading.sources import SETTINGS, read, read_like, wrong_settings
from bocopt.app.toml_file import Part, TomlFile, read_toml

#: What a case and a stream may be called.
ID = re.compile(r"[A-Za-z0-9._-]{1,64}")

#: The policies where none is named: of few series, and of many, for which an `Ensemble` a series
#: would take minutes.
OF_FEW, OF_MANY = ("Ensemble", "SampleAverage"), ("LightMixtureAcross", "SampleAverage")
OF_VECTORS = ("LightMixture", "SampleAverage")  # of many, where an outcome has several numbers
MANY = 20

_FILE = ("cases", "service")
_CASE = (
    *("title", "unit", "problem", "policies", "now", "names", "context", "outcome"),
    *("seed", "confidence", "cost_scale", "difference_scale", "guarantees"),
    *("results", "trace", "data"),
    *("version", "promote", "hindsight", "expire", "max_open", "snapshot", "correctable"),
)
#: Of a part on data, where it does not say what is learned.
NO_OUTCOME = "must say which columns are the 'outcome'."
_DATA = ("file", "coupled", *SETTINGS, *(one.name for one in fields(Spec)))


@dataclass(frozen=True, kw_only=True)
class StreamLimits:
    """Limits of a served stream: how many decisions are open, how long, and when it is kept."""

    context: int | None = None  # numbers of a context; None: as many as the first one has
    max_open: int = 1000  # decisions that wait for their outcome
    expire: float | None = None  # seconds after which an outcome is no longer waited for
    snapshot: int = 300  # events from one snapshot to the next
    correctable: int = 1000  # events that may be folded again, to correct an outcome


@dataclass(frozen=True, kw_only=True)
class CaseSettings:
    """Case as its file says, before anything is imported or read; paths are complete.

    Problem, policies and the rule of now are references: `name` in the file of the problem or of
    ours, or `module:name` in another file beside bocopt.toml.
    """

    part: Part  # where it stands, for what is found wrong with it later
    name: str
    title: str
    unit: str  # of costs
    problem: str
    policies: tuple[str, ...]  # the first decides, the others are compared; empty: none is named
    now: str  # the rule that is followed now; empty where there is none
    names: tuple[str, ...]  # of the numbers of a decision, if not by the problem
    context: tuple[str, ...]  # of the numbers of x, where there are no data to say it
    outcome: tuple[str, ...]  # of those of xi, likewise
    data: Path | str | None = field(repr=False)  # a file, or the address of a database
    reading: Mapping[str, Any]  # how the data are written: parameters of `read`
    spec: Spec | None  # of the data
    coupled: bool  # whether one program decides all series of a time
    by_convention: bool  # whether its outcome, time and series are those that others use
    seed: int
    confidence: float
    cost_scale: float | None  # a size of costs, declared in advance: of the headline
    difference_scale: float | None  # of differences between two decisions: of comparisons
    results: Path
    guarantees: tuple[str, ...]  # references, like those of policies: watched beside the others
    trace: str  # how it ends: csv or parquet
    version: str
    promote: str  # one of the other policies, which decides instead of the first
    hindsight: bool
    limits: StreamLimits

    def policies_for(self, series: int, outcomes: int = 1) -> tuple[str, ...]:
        """Return the policies that are named, or else those for so many series and numbers."""
        if self.policies or series < MANY:
            return self.policies or OF_FEW
        in_full = self.spec is None or not self.spec.censored
        return OF_MANY if outcomes == 1 and in_full else OF_VECTORS

    @property
    def data_name(self) -> str:
        """Return the name of the data as it may be shown: without the password of a database."""
        return without_password(self.data) if isinstance(self.data, str) else str(self.data or "")


@dataclass(frozen=True)
class CaseFile:
    """The whole file: its cases, and the part on the service, which is checked by the service."""

    file: TomlFile
    cases: Mapping[str, CaseSettings]

    @property
    def path(self) -> Path:
        """Return the path of the file."""
        return self.file.path


def load_cases(path: str | Path) -> CaseFile:
    """Read and check it; one error tells all that is wrong with the cases, each with its line."""
    found = read_cases(path)
    found.file.refuse()
    return found


def read_cases(path: str | Path) -> CaseFile:
    """The same, with what is wrong only noted, for whoever checks more of the file."""
    file = read_toml(Path(path))
    Part(file, "", file.found).know(_FILE)
    file.part("service", ())  # whose keys are the service's to check
    cases = file.part("cases", ())
    found = {name: _case(cases, name) for name in cases.found}
    if not found and not file.faults:
        file.wrong("", "", "there is no case: write [cases.NAME] above its keys.")
    return CaseFile(file, found)


def table_of(path: str | Path, name: str, instead: str | None = None) -> Table:
    """Return the table of a case, or another one that is written as it is."""
    case = load_cases(path).cases.get(name)
    if case is None or case.data is None or case.spec is None:
        if instead is None:
            raise ValueError(f"{path} has no [cases.{name}.data]: say which table.")
        return read(instead)
    if instead is None and case.spec.series:
        raise ValueError(f"[cases.{name}.data] in {path} has several series: say the table of one.")
    if instead is not None and case.spec.stage == "row":
        return read_like(instead, case.reading)
    own, spec = whole_days(read(case.data, **case.reading), case.spec)
    if instead is None:
        return own
    return whole_days(read_like(instead, case.reading), replace(case.spec, series=()), spec)[0]


def _case(cases: Part, name: str) -> CaseSettings:
    part, folder = cases.part(name, _CASE), cases.file.path.parent
    if not ID.fullmatch(name):
        cases.wrong(name, f"a case must be called by letters, digits and '._-'. Got {name!r}.")
    data = part.part("data", _DATA)
    named = {"outcome", "time", "series"} & data.found.keys()
    by_convention = bool(data.found) and not named and data.found.get("stage") != "day"
    spec = _spec(data, CONVENTION if by_convention else {}) if data.found else None
    settings = CaseSettings(
        part=part,
        name=name,
        title=part.word("title", name),
        unit=part.word("unit"),
        problem=part.needed("problem"),
        policies=part.words("policies"),
        now=part.word("now"),
        names=part.words("names"),
        context=() if isinstance(part.found.get("context"), int) else part.words("context"),
        outcome=part.words("outcome"),
        data=_source(data) if data.found else None,
        reading=_reading(data),
        spec=spec,
        coupled=data.yes("coupled", False),
        by_convention=by_convention,
        seed=part.number("seed", 0, "[0, 9e18]", whole=True),
        confidence=part.number("confidence", 0.95, "(0, 1)"),
        cost_scale=part.number("cost_scale", None, "(0, inf)"),
        difference_scale=part.number("difference_scale", None, "(0, inf)"),
        guarantees=part.words("guarantees"),
        results=folder / part.word("results", f"results/{name}"),
        trace=part.one_of("trace", ("csv", "parquet")),
        version=part.word("version", "1"),
        promote=part.word("promote"),
        hindsight=part.yes("hindsight", True),
        limits=_limits(part),
    )
    _check_together(settings, data)
    return settings


def _check_together(case: CaseSettings, data: Part) -> None:
    """Note the faults of keys that do not agree with what others say."""
    others = case.policies_for(1)[1:]
    if case.promote and case.promote not in others:
        said = ", ".join(others) or "there is none"
        why = f"'promote' must be one of the policies after the first ({said})."
        case.part.wrong("promote", f"{why} Got {case.promote!r} instead.")
    if case.coupled and (case.spec is None or not case.spec.series):
        data.wrong("coupled", "'coupled' needs 'series': which column tells the series apart.")
    if case.coupled and case.spec is not None and case.spec.censored:
        why = "series that are decided together learn from outcomes that were seen in full"
        data.wrong("censored", f"'censored' and 'coupled': {why}. Leave out one of them.")
    if case.coupled and case.now:
        why = "series that are decided together are compared with what was decided"
        case.part.wrong("now", f"'now' is a rule of one series: {why}, by 'decisions'.")
    if data.found:
        for key in ("context", "outcome"):
            if key in case.part.found:
                where = f"[{data.heading}]"
                case.part.wrong(key, f"'{key}' stands in {where}, where there are data.")
        if case.now and "decisions" in data.found:
            why = f"what is done now is said twice, by 'now' and by 'decisions' in [{data.heading}]"
            case.part.wrong("now", f"{why}: leave out one of them.")


def _limits(part: Part) -> StreamLimits:
    context = part.found.get("context")
    many = len(context) if isinstance(context, list) else None
    if isinstance(context, int):
        many = part.number("context", None, "[0, 100000]", whole=True)
    return StreamLimits(
        context=many,
        max_open=part.number("max_open", 1000, "[1, 100000]", whole=True),
        expire=part.number("expire", None, "(0, inf)"),
        snapshot=part.number("snapshot", 300, "[1, inf)", whole=True),
        correctable=part.number("correctable", 1000, "[0, inf)", whole=True),
    )


def _source(data: Part) -> Path | str:
    """The file of the data, or the address of a database, in which a file is completed too."""
    file, folder = data.needed("file"), data.file.path.parent
    if not is_address(file):
        return folder / file
    if "query" not in data.found:
        data.wrong("file", "a database needs a 'query', such as \"select * from sales\".")
    return located(file, folder)


def _reading(data: Part) -> Mapping[str, Any]:
    """The parameters of `read` that the data give; what is wrong with one is noted."""
    given = {name: value for name, value in data.found.items() if name in SETTINGS}
    wrong = wrong_settings(given)
    for error in wrong:
        data.wrong(error.name, f"'{error.name}' {error.why}")
    return {} if wrong else given


def _spec(data: Part, otherwise: Mapping[str, str]) -> Spec | None:
    """Return the Spec of the other keys of the data; None where they are wrong."""
    names = [one.name for one in fields(Spec)]
    given = {name: value for name, value in data.found.items() if name in names}
    wrong = all_wrong({**otherwise, **given})
    for error in wrong:
        data.wrong(error.name, f"'{error.name}' {error.why}")
    if "outcome" not in data.found and (wrong or not otherwise):
        data.wrong("", f"[{data.heading}] {NO_OUTCOME}")
    given = {**otherwise, **given}
    return None if wrong or "outcome" not in given else Spec(**given)
