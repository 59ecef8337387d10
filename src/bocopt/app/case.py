"""A case: what is decided, by whom, on which data, and how sure one wants to be of it.

It is played in three ways: a `backtest` on its data, decisions for new rows, and a service.
"""

import hashlib
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bocopt import arguments
from bocopt.app.case_file import NO_OUTCOME, CaseSettings, load_cases
from bocopt.app.features.days import whole_days
from bocopt.app.features.panel import follows_convention, panel_of
from bocopt.app.features.prepare import series_of
from bocopt.app.features.public_holidays import version
from bocopt.app.features.series import Panel, Series
from bocopt.app.features.spec import Spec
from bocopt.app.playing.in_hindsight import KeptCosts, least_costs
from bocopt.app.playing.kept import Kept
from bocopt.app.playing.play import play
from bocopt.app.reading.columns import Table
from bocopt.app.reading.sources import read, read_like
from bocopt.app.user_code import UserCode
from bocopt.compared import NOW
from bocopt.core import Policy, Problem, is_ranged
from bocopt.fingerprint import fingerprint
from bocopt.interop.frames import framed
from bocopt.live import Agent
from bocopt.policies.matching import check_same_problem
from bocopt.sources import software

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Case:
    """Case that is declared, read and checked, and not played yet.

    The first of the policies decides; the others, and the rule of now, are compared with it.

    >>> from bocopt import SampleAverage
    >>> from bocopt.problems import Knapsack
    >>> problem = Knapsack(value=[12.0], capacity=[8.0], salvage=[3.0])
    >>> case = Case(name="shop", problem=problem, policies={"average": SampleAverage(problem)})
    >>> case.title, case.confidence, case.series is None
    ('shop', 0.95, True)
    """

    name: str
    problem: Problem
    policies: Mapping[str, Policy[Any]]
    now: Policy[Any] | None = None  # the rule that is followed now
    title: str = ""  # the name, if empty
    unit: str = ""  # of costs
    series: Series | None = None  # its data
    panel: Panel | None = None  # or those of many series, each of which is played by itself
    table: Table | None = None  # that the series was made of
    spec: Spec | None = None  # which of its columns mean what
    seed: int = 0
    confidence: float = 0.95
    difference_scale: float | None = None  # about how far two decisions are apart, declared before
    results: Path = field(default_factory=lambda: Path("results"))
    trace: str = "csv"
    source: CaseSettings | None = None  # the file that declared it
    code: bytes = b""  # of the problem, which a fingerprint may not see

    def __post_init__(self) -> None:
        arguments.kind("Case", "problem", self.problem, Problem)
        if not self.policies:
            raise arguments.wrong("Case", "policies", "one or more policies by name", self.policies)
        for name, policy in self.everyone.items():
            arguments.kind("Case", name, policy, Policy)
            check_same_problem(policy, self.problem)
        arguments.number("Case", "confidence", self.confidence, "(0, 1)")
        arguments.integer("Case", "seed", self.seed, "[0, 9e18]")
        if not self.title:
            object.__setattr__(self, "title", self.name)

    @property
    def delta(self) -> float:
        """Return the chance of error that is allowed, 1 - `confidence`."""
        return 1.0 - self.confidence

    @property
    def data(self) -> Series:
        """Return the series of the case; an error where there is none."""
        if self.series is None:
            where = f"{self.source.part.file.path}: " if self.source else ""
            if self.panel is not None:
                raise ValueError(
                    f"{where}the case '{self.name}' has {len(self.panel.names)} series: say which, "
                    "by `case.of_series(name)`, or play all by `backtest_panel(case)`."
                )
            raise ValueError(
                f"{where}the case '{self.name}' has no data to play on: say which in "
                f"[cases.{self.name}.data]."
            )
        return self.series

    @property
    def everyone(self) -> Mapping[str, Policy[Any]]:
        """Return all policies that play, by name: the rule of now, then the others."""
        return {**({NOW: self.now} if self.now is not None else {}), **self.policies}

    @property
    def stages_to_play(self) -> int:
        """Return the number of stages to play, of all policies together."""
        stages = len(self.data.x) if self.panel is None else self.panel.stages
        return stages * len(self.everyone)

    def of_series(self, name: str) -> "Case":
        """Return the case of one of its series, with a seed, agents and results of its own.

        The seed depends on the name, and on no other series.
        """
        panel = self.panel
        if panel is None or name not in panel.names:
            has = f"It has {len(panel.names)} others" if panel else "It has no series by name"
            raise ValueError(f"The case '{self.name}' has no series '{name}'. {has}.")
        return replace(
            self,
            title=f"{self.title}, {name}",
            series=panel.series[panel.names.index(name)],
            panel=None,
            table=None,
            spec=None if self.spec is None else replace(self.spec, series=()),
            seed=self.seed_of(name),
            results=self.folder_of(name),
        )

    def seed_of(self, name: str) -> int:
        """Return the seed of one of its series, whatever others there are."""
        return int.from_bytes(hashlib.sha256(f"{self.seed} {name}".encode()).digest()[:7])

    def folder_of(self, name: str) -> Path:
        """Return the folder of the agents and the progress of one of its series."""
        return self.results / "series" / file_name(name, case_counts=False)

    def read(self, path: str | PathLike[str]) -> Table:
        """Return the rows of another file, which is written as the table of the case is."""
        return read_like(path, self.source.reading if self.source else {})

    def kept(self, name: str, every: int, seconds: float = math.inf) -> Kept:
        """Return where the progress of a policy is kept, every so many stages, and by time."""
        digest = self._digest_of(self.everyone[name])
        return Kept(self.results / "progress" / file_name(name), digest, every, seconds)

    @property
    def kept_costs(self) -> KeptCosts:
        """Return where the least costs in hindsight are kept."""
        parts = self.data.x, self.data.xi
        digest = self._digest(self.problem, least_costs.__module__, "in hindsight", parts)
        return KeptCosts(self.results / "progress" / "hindsight.bin", digest)

    def agent(self, name: str | None = None) -> Agent[Any]:
        """Return the agent of a policy, the first by default, as it was after the last stage."""
        name = next(iter(self.policies)) if name is None else name
        return Agent.load(self.saved(name), self.policies[name], problem=self.problem)

    def saved(self, name: str) -> Path:
        """Return the path of the agent of a policy."""
        return self.results / "agents" / f"{file_name(name)}.bin"

    @property
    def digest(self) -> str:
        """Return a digest of everything that its results depend on, whoever plays."""
        digest = hashlib.sha256()
        for name, policy in self.everyone.items():
            digest.update(f"{name} {self._digest_of(policy)} ".encode())
        if self.data.now is not None:
            digest.update(np.ascontiguousarray(self.data.now).tobytes())
        return digest.hexdigest()

    def _digest_of(self, policy: Policy[Any]) -> str:
        """Return a digest of everything that the results of a policy depend on."""
        series = self.data
        about = repr((self.seed, series.x_names, series.xi_names))
        if self.spec is not None and self.spec.holidays:
            about += f" holidays {version()}"
        parts = series.x, series.xi, series.arrives
        return self._digest((policy, self.problem), play.__module__, about, parts)

    def _digest(self, what: Any, module: str, about: str, parts: Iterable[NDArray[Any]]) -> str:
        digest = hashlib.sha256(fingerprint(what).encode())
        digest.update(self.code)
        digest.update(software(frozenset({module})).encode())
        digest.update(about.encode())
        for part in parts:
            digest.update(np.ascontiguousarray(part).tobytes())
        return digest.hexdigest()


def open_case(path: str | Path, name: str | None = None) -> Case:
    """Read `bocopt.toml`, and all that one of its cases names; the only one, if none is named."""
    if not isinstance(path, str | Path):
        raise arguments.wrong("open_case", "path", "a path", path)
    file = load_cases(path)
    if name is None and len(file.cases) > 1:
        raise ValueError(f"{path} has several cases: say which of {', '.join(file.cases)}.")
    if name is not None and name not in file.cases:
        raise ValueError(f"{path} has no case '{name}'. It has: {', '.join(file.cases)}.")
    settings = file.cases[name] if name else next(iter(file.cases.values()))
    return case_of(settings, UserCode(file.path.parent))


def case_of(settings: CaseSettings, files: UserCode) -> Case:
    """Import and read what the settings name; what is wrong is told with its line."""
    if settings.trace == "parquet":
        framed({}, 'trace = "parquet"')  # what is missing is told before it plays
    code = files.at(settings.problem.rpartition(":")[0])
    problem = _told(settings, "problem", code.problem, settings.problem)
    series, panel, table, spec = None, None, None, None
    if settings.data is not None and settings.spec is not None:
        table = read(settings.data, **settings.reading)
        table, spec = whole_days(table, settings.spec)
        if spec.series:
            panel = _panel(settings, problem, table)
        else:
            series = series_of(table, spec)
            _check_sizes(settings, problem, series)
            series = _with_note_on_support(settings, problem, series)
    data = series or panel
    x_names = data.x_names if data else settings.context
    policies = {
        reference.rpartition(":")[2]: _told(
            settings, "policies", code.policy, reference, problem, x_names
        )
        for reference in settings.policies
    }
    now = _told(settings, "now", code.rule, settings.now, x_names) if settings.now else None
    return Case(
        name=settings.name,
        problem=problem,
        policies=policies,
        now=now,
        title=settings.title,
        unit=settings.unit,
        series=series,
        panel=panel,
        table=table,
        spec=spec,
        seed=settings.seed,
        confidence=settings.confidence,
        difference_scale=settings.difference_scale,
        results=settings.results,
        trace=settings.trace,
        source=settings,
        code=code.file_of(settings.problem).read_bytes(),
    )


def _told(settings: CaseSettings, key: str, resolve: Callable[..., T], *of: Any) -> T:
    """Return what `resolve` finds; its error gets the line of the key."""
    try:
        return resolve(*of)
    except ValueError as error:
        settings.part.wrong(key, f"'{key}': {error}")
        settings.part.file.refuse()
        raise AssertionError from error  # something was wrong


def _panel(settings: CaseSettings, problem: Problem, table: Table) -> Panel:
    if settings.by_convention and not follows_convention(table):
        data = settings.part.part("data", ())
        data.wrong("", f"[{data.heading}] {NO_OUTCOME}")
        data.file.refuse()
    panel = panel_of(table, settings.spec)
    _check_sizes(settings, problem, panel.series[0])
    noted = (_with_note_on_support(settings, problem, one) for one in panel.series)
    note = "Its columns 'unique_id', 'ds' and 'y' are the series, the time and the outcome."
    notes = ([note] if settings.by_convention else []) + [*panel.notes]
    return panel._replace(series=tuple(noted), notes=tuple(notes))


def _check_sizes(settings: CaseSettings, problem: Problem, series: Series) -> None:
    outcomes, dims, where = len(series.xi_names), problem.dims, f"[{settings.part.heading}.data]"
    if outcomes != dims.xi:
        raise ValueError(
            f"'{settings.problem}' has outcomes of {dims.xi} numbers, but {where} in "
            f"{settings.part.file.path} names {outcomes}: {', '.join(series.xi_names)}."
        )
    if series.now is not None and series.now.shape[-1] != dims.z:
        raise ValueError(
            f"'{settings.problem}' has decisions of {dims.z} numbers, but {where} in "
            f"{settings.part.file.path} names {series.now.shape[-1]} columns of decisions."
        )


def _with_note_on_support(settings: CaseSettings, problem: Problem, series: Series) -> Series:
    """Return the series, with a note where outcomes are outside the support of the problem."""
    came = np.flatnonzero(np.isfinite(series.xi).all(axis=-1))
    if not is_ranged(problem) or not came.size:
        return series
    possible = np.broadcast_to(problem.possible(series.x[came], series.xi[came]), came.shape)
    outside = series.lines[came[~possible]]
    if not outside.size:
        return series
    named = settings.problem.rpartition(":")[2]
    where = ", ".join(map(str, outside[:5])) + (", ..." if outside.size > 5 else "")
    note = (
        f"{outside.size} of {came.size} outcomes are outside the support of '{named}', "
        f"at line or row {where}: what is guaranteed at all times is then not."
    )
    return series._replace(notes=(*series.notes, note))


def file_name(name: str, *, case_counts: bool = True) -> str:
    """Return a name for a file; two names never share one, where wanted also without case."""
    short = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:40]
    alone = short == name and (case_counts or name == name.lower())
    alone = alone and not re.search("-[0-9a-f]{8}$", name)  # as the others end
    return short if alone else f"{short}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
