"""A case: what is decided, by whom, on which data, and how sure one wants to be of it.

It is played in three ways: a `backtest` on its data, decisions for new rows, and a service.
"""

import hashlib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bocopt import arguments
from bocopt.app.case_file import CaseSettings
from bocopt.app.features.public_holidays import version
from bocopt.app.features.series import Panel, Series
from bocopt.app.features.spec import Spec
from bocopt.app.playing.in_hindsight import KeptCosts, least_costs
from bocopt.app.playing.kept import Kept
from bocopt.app.playing.play import play
from bocopt.app.reading.columns import Table
from bocopt.app.reading.sources import read_like
from bocopt.compared import NOW
from bocopt.core import Policy, Problem
from bocopt.fingerprint import fingerprint
from bocopt.guarantees import Guarantee, Monitor
from bocopt.live import Agent, Coupled, PanelAgent
from bocopt.live.fold import watching
from bocopt.live.open_series import OpenSeries
from bocopt.live.series_names import series_seed
from bocopt.models import AcrossSeries
from bocopt.policies import GivenAcross
from bocopt.policies.matching import check_same_problem
from bocopt.problems.names import decision_labels
from bocopt.sources import code_of, modules_of


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
    names: tuple[str, ...] = ()  # (d) of the numbers of a decision, instead of those they have
    series: Series | None = None  # its data
    panel: Panel | None = None  # or those of many series, each of which is played by itself
    spec: Spec | None = None  # which of its columns mean what
    seed: int = 0
    confidence: float = 0.95
    cost_scale: float | None = None  # a range that few costs exceed, declared before
    difference_scale: float | None = None  # about how far two decisions are apart, likewise
    guarantees: tuple[Guarantee[Any], ...] = ()  # watched beside those that always are
    results: Path = field(default_factory=lambda: Path("results"))
    trace: str = "csv"
    source: CaseSettings | None = None  # the file that declared it
    code: bytes = b""  # of the problem, which a fingerprint may not see
    coupled: Mapping[str, Coupled] = field(default_factory=dict)  # by policy: all series of a time
    one_of: tuple[Path, str] | None = None  # of one series: the agents of its panel, and its name

    def __post_init__(self) -> None:
        arguments.kind("Case", "problem", self.problem, Problem)
        if not self.policies:
            raise arguments.wrong("Case", "policies", "one or more policies by name", self.policies)
        for name, policy in self.everyone.items():
            arguments.kind("Case", name, policy, Policy)
            if not self.coupled:
                check_same_problem(policy, self.problem)
        many = len(self._labels) if self.coupled else self.problem.dims.z
        if self.names and not len({*self.names}) == len(self.names) == many:
            expected = f"{many} different names, one for each number of a decision"
            raise arguments.wrong("Case", "names", expected, self.names)
        arguments.number("Case", "confidence", self.confidence, "(0, 1)")
        arguments.each("Case", "guarantees", self.guarantees, Guarantee)
        arguments.integer("Case", "seed", self.seed, "[0, 9e18]")
        if not self.title:
            object.__setattr__(self, "title", self.name)

    @property
    def delta(self) -> float:
        """Return the chance of error that is allowed, 1 - `confidence`."""
        return delta_of(self.confidence)

    @property
    def decision_names(self) -> tuple[str, ...]:
        """(d) Names of the numbers of a decision, which everybody shows who plays the case.

        Those that are declared, or else of the table's columns of decisions, or else of the
        program, or else z0, z1, ...
        """
        recorded = tuple(self.spec.decisions) if self.spec else ()
        return self.names or recorded or self._labels

    @property
    def _labels(self) -> tuple[str, ...]:
        """Names that the program gives: of the part of each series, and of what is common."""
        if not isinstance(self.problem, OpenSeries):
            return decision_labels(self.problem)
        layout = self.problem.layout
        return (*layout.each_names, *layout.common_names)

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
        """Return the number of stages to play, of all policies and models across series."""
        if self.panel is None:
            return len(self.data.x) * len(self.everyone)
        passes = sum(self.across(name) is not None for name in self.everyone)
        return self.panel.stages * (len(self.everyone) + passes)

    def of_series(self, name: str) -> "Case":
        """Return the case of one of its series, with a seed, agents and results of its own.

        The seed depends on the name, and on no other series.
        """
        panel = self.panel
        if self.coupled:
            raise ValueError(
                f"All series of the case '{self.name}' are decided together: there is none alone."
            )
        if panel is None or name not in panel.names:
            has = f"It has {len(panel.names)} others" if panel else "It has no series by name"
            raise ValueError(f"The case '{self.name}' has no series '{name}'. {has}.")
        return replace(
            self,
            title=f"{self.title}, {name}",
            series=panel.series[panel.names.index(name)],
            panel=None,
            spec=None if self.spec is None else replace(self.spec, series=()),
            seed=self.seed_of(name),
            results=self.folder_of(name),
            one_of=(self.results / "agents", name),
        )

    def one_by_name(self, name: str) -> "Case":
        """Return the case of a series by its name alone, which need not be in the table."""
        return replace(self, panel=None, results=self.folder_of(name))

    def seed_of(self, name: str) -> int:
        """Return the seed of one of its series, whatever others there are."""
        return series_seed(self.seed, name)

    def folder_of(self, name: str) -> Path:
        """Return the folder of the agents and the progress of one of its series."""
        return self.results / "series" / file_name(name, case_counts=False)

    def read(self, path: str | PathLike[str]) -> Table:
        """Return the rows of another file, which is written as the table of the case is."""
        return read_like(path, self.source.reading if self.source else {})

    def across(self, name: str) -> AcrossSeries | None:
        """Return the model across series that a policy is given; None where it is given none.

        Where it does not say which contexts are lags, these are lags and means of outcomes.
        """
        policy = self.everyone[name]
        if not isinstance(policy, GivenAcross):
            return None
        model = policy.across
        if model.lags is None and self.panel is not None:
            places = self.panel.featuriser.alone(0).lag_places
            model = replace(model, lags=places)
        return model

    def alone(self, name: str) -> Policy[Any]:
        """Return a policy without the model across series that may stand beside it."""
        policy = self.everyone[name]
        return policy.policy if isinstance(policy, GivenAcross) else policy

    def kept(self, name: str, every: int, seconds: float = math.inf) -> Kept:
        """Return where the progress of a policy is kept, every so many stages, and by time."""
        digest = self._digest_of(self.everyone[name])
        return Kept(self.results / "progress" / file_name(name), digest, every, seconds)

    @property
    def kept_costs(self) -> KeptCosts:
        """Return where the least costs in hindsight are kept."""
        parts = self.data.x, self.data.xi
        code = {*modules_of(self.problem), least_costs.__module__}
        digest = self._digest(self.problem, code, "in hindsight", parts)
        return KeptCosts(self.results / "progress" / "hindsight.bin", digest)

    def agent(self, name: str | None = None, path: str | PathLike[str] = "") -> Agent[Any]:
        """Return the agent of a policy, the first by default, as it was after the last stage.

        With `path`, the one that was saved there since.
        """
        name = next(iter(self.policies)) if name is None else name
        if self.panel is not None:
            raise ValueError(
                f"The case '{self.name}' has {len(self.panel.names)} series: say whose agent, by "
                "`case.of_series(name).agent()`."
            )
        if self.one_of is not None and self.across(name) is not None:
            raise ValueError(
                f"'{name}' has no agent of {self.one_of[1]!r} by itself: a model across series is "
                "beside it. Decide rows of all series by `bocopt decide`, or `decide(case, rows)`."
            )
        file, policy = Path(path or self.saved(name)), self.policies[name]
        if not path and self.one_of is not None and not file.is_file():
            return self._of_many(name, *self.one_of)
        return Agent.load(file, policy, problem=self.problem, monitor=self.monitor(name))

    def _of_many(self, policy: str, folder: Path, name: str) -> Agent[Any]:
        """Return the agent of this series, which was played in lock step with others."""
        for file in agents_of_blocks(folder, policy):
            found = PanelAgent.load(file, self.policies[policy], problem=self.problem)
            if name in found.names:
                return found.alone(name, self.monitor(policy))
        raise FileNotFoundError(2, "No agent was left by a backtest", str(self.saved(policy)))

    def monitor(self, name: str | None = None) -> Monitor:
        """Return a new monitor for an agent of a policy, the first by default.

        Its certificates hold with the confidence of the case.
        """
        name = next(iter(self.policies)) if name is None else name
        return self._watching(self.everyone[name])

    def _watching(self, policy: Policy[Any]) -> Monitor:
        return watching(
            policy,
            self.problem,
            self.cost_scale,
            difference_scale=self.difference_scale,
            delta=self.delta,
            guarantees=self.guarantees,
        )

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

    def digest_in_rows(
        self, policy: str | None, module: str, names: Sequence[str], parts: Iterable[NDArray[Any]]
    ) -> str:
        """Return a digest of what some of its series come to, by a policy or by hindsight alone."""
        panel = self.panel
        assert panel is not None
        about = repr((self.seed, tuple(names), panel.x_names, panel.xi_names)) + self._holidays
        what: Any = self.problem
        if policy is not None:
            what = (self.coupled.get(policy, self.everyone[policy]), self.problem)
        return self._digest(what, {*modules_of(what), module}, about, parts)

    def digest_across(self, policy: str, module: str, parts: Iterable[NDArray[Any]]) -> str:
        """Return a digest of what the model across series that a policy is given comes to."""
        panel, model = self.panel, self.across(policy)
        assert panel is not None
        about = repr((self.seed, panel.names, panel.x_names, panel.xi_names)) + self._holidays
        return self._digest(model, {*modules_of(model), module}, about, parts)

    @property
    def _holidays(self) -> str:
        found = self.spec is not None and self.spec.holidays
        return f" holidays {version()}" if found else ""

    def _digest_of(self, policy: Policy[Any]) -> str:
        """Return a digest of everything that the results of a policy depend on."""
        series = self.data
        about = repr((self.seed, series.x_names, series.xi_names)) + self._holidays
        own, default = self._watching(policy), watching(policy, self.problem)
        watched = fingerprint(own.guarantees)
        if watched != fingerprint(default.guarantees):
            about += f" watched by {watched}"
        parts = series.x, series.xi, series.arrives, *(series.seen or ())
        code = {*modules_of((policy, self.problem, own.guarantees)), play.__module__}
        return self._digest((policy, self.problem), code, about, parts)

    def _digest(
        self, what: Any, modules: set[str], about: str, parts: Iterable[NDArray[Any]]
    ) -> str:
        digest = hashlib.sha256(fingerprint(what).encode())
        digest.update(self.code)
        digest.update(code_of(modules).encode())
        digest.update(about.encode())
        for part in parts:
            digest.update(np.ascontiguousarray(part).tobytes())
        return digest.hexdigest()


def agents_of_blocks(folder: Path, policy: str) -> list[Path]:
    """Return the files of a policy's agents, each of a block of series, in the order of blocks."""
    start = f"{file_name(policy)}-"
    found = {path: path.stem.removeprefix(start) for path in folder.glob(f"{start}*.bin")}
    return sorted((path for path, n in found.items() if n.isdecimal()), key=lambda p: int(found[p]))


def delta_of(confidence: float) -> float:
    """1 - confidence, in decimals: so that it is the number that somebody would write.

    >>> delta_of(0.95), 1.0 - 0.95
    (0.05, 0.050000000000000044)
    """
    return float(1 - Decimal(str(float(confidence))))


def file_name(name: str, *, case_counts: bool = True) -> str:
    """Return a name for a file; two names never share one, where wanted also without case."""
    short = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:40]
    alone = short == name and (case_counts or name == name.lower())
    alone = alone and not re.search("-[0-9a-f]{8}$", name)  # as the others end
    return short if alone else f"{short}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
