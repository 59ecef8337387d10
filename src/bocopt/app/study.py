"""A study from a table: everything that its files name, and what comes of playing it."""

import hashlib
import math
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bocopt import arguments
from bocopt.app.features.prepare import series_of
from bocopt.app.findings import Findings, Played
from bocopt.app.playing.in_hindsight import KeptCosts, least_costs
from bocopt.app.playing.kept import Kept
from bocopt.app.playing.play import paid, play
from bocopt.app.playing.verdict import compared
from bocopt.app.problem_file import load_problem
from bocopt.app.reading.frame import read
from bocopt.app.series import Series
from bocopt.app.study_file import StudyFile, load_study
from bocopt.compared import NOW
from bocopt.core import Policy, Problem, is_ranged
from bocopt.fingerprint import fingerprint
from bocopt.interop.frames import framed
from bocopt.live import Agent
from bocopt.sources import software


class Study(NamedTuple):
    """Read and checked, and nothing played yet."""

    file: StudyFile
    series: Series
    problem: Problem
    policies: Mapping[str, Policy[Any]]
    rule: Policy[Any] | None  # that is followed now

    @property
    def stages(self) -> int:
        """That there are to play, of all policies."""
        return len(self.series.x) * len(self.everyone)

    @property
    def everyone(self) -> Mapping[str, Policy[Any]]:
        """Who plays: the policies, after the rule that is followed now."""
        return {**({NOW: self.rule} if self.rule else {}), **self.policies}

    def kept(self, name: str, every: int, seconds: float = math.inf) -> Kept:
        """Where the progress of one of them is kept, every so many stages, and by time."""
        folder = self.file.results / "progress" / _slug(name)
        return Kept(folder, _digest(self, self.everyone[name]), every, seconds)

    @property
    def kept_costs(self) -> KeptCosts:
        """Where the least costs in hindsight are kept."""
        path = self.file.results / "progress" / "hindsight.bin"
        return KeptCosts(path, _digest_of_costs(self))

    def agent(self, name: str) -> Agent[Any]:
        """The one that played a policy, as it was after the last stage."""
        return Agent.load(self.saved(name), self.policies[name], self.problem)

    def saved(self, name: str) -> Path:
        """Where that agent is kept."""
        return self.file.results / "agents" / f"{_slug(name)}.bin"


def open_study(path: str | Path) -> Study:
    """Read `study.toml`, and all that it names."""
    if not isinstance(path, str | Path):
        raise arguments.wrong("open_study", "path", "a path", path)
    file = load_study(path)
    if file.trace == "parquet":
        framed({}, f'trace = "parquet" in {file.path}')  # what is missing is told before it plays
    code = load_problem(file.problem)
    problem = code.problem(file.name)
    series = series_of(read(file.data), file.spec)
    _check_sizes(file, problem, series)
    series = _with_note_on_support(file, problem, series)
    rule = code.rule(file.now, series.x_names) if file.now else None
    policies = {name: code.policy(name, problem, series.x_names) for name in file.policies}
    return Study(file, series, problem, policies, rule)


def _check_sizes(file: StudyFile, problem: Problem, series: Series) -> None:
    outcomes, dims = len(series.xi_names), problem.dims
    if outcomes != dims.xi:
        raise ValueError(
            f"{file.problem}: '{file.name}' has outcomes of {dims.xi} numbers, but "
            f"{file.path} names {outcomes}: {', '.join(series.xi_names)}."
        )
    if series.now is not None and series.now.shape[-1] != dims.z:
        raise ValueError(
            f"{file.problem}: '{file.name}' has decisions of {dims.z} numbers, but "
            f"{file.path} names {series.now.shape[-1]} columns of decisions."
        )
    if series.now is not None and file.now:
        raise ValueError(
            f"{file.path} says twice what is done now: by 'decisions' in [data] and by 'now' in "
            "[problem]. Leave out one of them."
        )


def _with_note_on_support(file: StudyFile, problem: Problem, series: Series) -> Series:
    """Where outcomes are none that the problem says are possible."""
    came = np.flatnonzero(np.isfinite(series.xi).all(axis=-1))
    if not is_ranged(problem) or not came.size:
        return series
    possible = np.broadcast_to(problem.possible(series.x[came], series.xi[came]), came.shape)
    outside = series.lines[came[~possible]]
    if not outside.size:
        return series
    where = ", ".join(map(str, outside[:5])) + (", ..." if outside.size > 5 else "")
    note = (
        f"{outside.size} of {came.size} outcomes are outside the support of '{file.name}', at "
        f"line or row {where}: what is guaranteed at all times is then not."
    )
    return series._replace(notes=(*series.notes, note))


def played(
    study: Study,
    *,
    fresh: bool = False,
    keep_every: int = 200,
    keep_seconds: float = 5.0,
    begin: Callable[[str, int], None] = lambda name, stages: None,
    advance: Callable[[int], None] = lambda stages: None,
) -> tuple[Findings, dict[str, Agent[Any]]]:
    """Play what has not been played, and judge it.

    What is played is kept every so many stages, and where these are slow every so many seconds.
    `begin` hears who plays next, and at how many stages; `advance` hears how many are played.
    """
    series, problem, file = study.series, study.problem, study.file
    found: dict[str, Played] = {}
    agents: dict[str, Agent[Any]] = {}
    if fresh:
        study.kept_costs.forget()
    least = least_costs(problem, series, study.kept_costs)
    if series.now is not None:
        found[NOW] = paid(problem, series, series.now, least)
    for name, policy in study.everyone.items():
        kept = study.kept(name, keep_every, keep_seconds)
        if fresh:
            kept.forget()
        begin(name, len(series.x))
        found[name], agents[name] = play(
            policy, problem, series, least=least, seed=file.seed, kept=kept, advance=advance
        )
    now = NOW if NOW in found else None
    against = now or (list(found)[1] if len(found) > 1 else None)
    return (
        Findings(
            title=file.title,
            unit=file.unit,
            sense=problem.sense,
            alpha=problem.risk.alpha,
            series=series,
            warm_up=series.warm_up,
            now=now,
            played=found,
            compared=compared(
                problem,
                series,
                against,
                found,
                warm_up=series.warm_up,
                scale=file.scale,
                delta=file.delta,
            )
            if against
            else {},
            code=_code(study),
        ),
        {name: agent for name, agent in agents.items() if name in study.policies},
    )


def _digest(study: Study, policy: Policy[Any]) -> str:
    """Of all that a policy's results depend on."""
    series = study.series
    about = repr((study.file.seed, series.x_names, series.xi_names))
    parts = series.x, series.xi, series.arrives
    return _digested(study, (policy, study.problem), play.__module__, about, parts)


def _digest_of_costs(study: Study) -> str:
    """The same of the least costs in hindsight."""
    parts = study.series.x, study.series.xi
    return _digested(study, study.problem, least_costs.__module__, "in hindsight", parts)


def _digested(
    study: Study, what: Any, module: str, about: str, parts: Iterable[NDArray[Any]]
) -> str:
    digest = hashlib.sha256(fingerprint(what).encode())
    digest.update(study.file.problem.read_bytes())  # code that a fingerprint may not see
    digest.update(software(frozenset({module})).encode())
    digest.update(about.encode())
    for part in parts:
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()


def _slug(name: str) -> str:
    """A name for a file; two names never share one."""
    short = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:40]
    return short if short == name else f"{short}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def _code(study: Study) -> str:
    """How to go on with the first policy."""
    name, file = next(iter(study.policies)), study.file
    outcomes = ", ".join(study.series.xi_names)
    return f"""from bocopt.app import open_study

# Add today's row to {file.data.name}, and leave its outcomes empty.
study = open_study({file.path.name!r})
agent = study.agent({name!r})  # as it was after the last stage of the study
ticket = agent.decide(study.series.x[-1])
print(ticket.z)

# Once the outcomes are known: {outcomes}.
agent.observe(ticket.id, [...])
agent.save("agent.bin")
# The next time: Agent.load("agent.bin", study.policies[{name!r}], study.problem)
"""
