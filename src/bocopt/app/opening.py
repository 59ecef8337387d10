"""A case, from its file: what it names is imported and read, and checked against its problem."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from bocopt import arguments
from bocopt.app.case import Case, delta_of
from bocopt.app.case_file import (
    MANY,
    NO_OUTCOME,
    OF_FEW,
    OF_MANY,
    OF_VECTORS,
    CaseSettings,
    load_cases,
)
from bocopt.app.features.days import whole_days
from bocopt.app.features.panel import follows_convention, panel_of
from bocopt.app.features.prepare import series_of
from bocopt.app.features.series import Panel, Series
from bocopt.app.features.spec import Spec
from bocopt.app.reading.columns import Table
from bocopt.app.reading.sources import read
from bocopt.app.user_code import UserCode
from bocopt.core import Policy, Problem, is_ranged
from bocopt.interop.frames import framed
from bocopt.live import Coupled
from bocopt.live.open_series import OpenSeries
from bocopt.policies import GivenAcross

_TAKEN = ("status", "agent")  # columns beside those of a decision, where rows are decided

T = TypeVar("T")


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
    if settings.coupled or _resolved(settings, "problem", code.couples, settings.problem):
        return _coupled(settings, code)
    if settings.spec is not None and settings.spec.series:
        _resolved(settings, "problem", code.check_alone, settings.problem)
    problem = _resolved(settings, "problem", code.problem, settings.problem)
    _check_names(settings, problem)
    series, panel, spec = None, None, None
    if settings.data is not None and settings.spec is not None:
        table = read(settings.data, **settings.reading)
        table, spec = whole_days(table, settings.spec)
        if spec.series:
            panel = _panel(settings, spec, problem, table)
        else:
            series = series_of(table, spec)
            _check_sizes(settings, problem, series)
            series = _with_note_on_support(settings, problem, series)
    return case_on(settings, files, series=series, panel=panel, spec=spec)


def case_on(
    settings: CaseSettings,
    files: UserCode,
    *,
    series: Series | None = None,
    panel: Panel | None = None,
    spec: Spec | None = None,
) -> Case:
    """Return the case of settings, on data that were read."""
    code = files.at(settings.problem.rpartition(":")[0])
    problem = _resolved(settings, "problem", code.problem, settings.problem)
    data = series or panel
    x_names = data.x_names if data else settings.context
    policies = {
        reference.rpartition(":")[2]: _resolved(
            settings, "policies", code.policy, reference, problem, x_names
        )
        for reference in settings.policies_for(len(panel.names) if panel else 1, problem.dims.xi)
    }
    _check_across(settings, policies, panel)
    now = _resolved(settings, "now", code.rule, settings.now, x_names) if settings.now else None
    terms = problem, delta_of(settings.confidence), settings.cost_scale
    guarantees = (
        _resolved(settings, "guarantees", code.guarantee, reference, *terms)
        for reference in settings.guarantees
    )
    return Case(
        name=settings.name,
        problem=problem,
        policies=policies,
        now=now,
        title=settings.title,
        unit=settings.unit,
        names=settings.names,
        series=series,
        panel=panel,
        spec=spec,
        seed=settings.seed,
        confidence=settings.confidence,
        cost_scale=settings.cost_scale,
        difference_scale=settings.difference_scale,
        guarantees=tuple(guarantees),
        results=settings.results,
        trace=settings.trace,
        source=settings,
        code=code.file_of(settings.problem).read_bytes(),
    )


def _coupled(settings: CaseSettings, code: UserCode) -> Case:
    """Return a case whose series are decided together."""
    if settings.data is None or settings.spec is None or not settings.spec.series:
        why = "a program of several series needs data with 'series'."
        settings.part.wrong("problem", f"'problem': {why}")
        settings.part.file.refuse()
        raise AssertionError
    table, spec = whole_days(read(settings.data, **settings.reading), settings.spec)
    panel = panel_of(table, spec)
    base = _resolved(settings, "problem", code.coupled, settings.problem, len(panel.xi_names))
    problem = _resolved(settings, "problem", problem_of_panel, base, panel)
    coupled = {
        reference.rpartition(":")[2]: _resolved(
            settings, "policies", code.coupled_policy, reference, base, panel.x_names
        )
        for reference in settings.policies or OF_VECTORS
    }
    if settings.guarantees:
        settings.part.wrong("guarantees", "'guarantees' are of one series: leave them out.")
        settings.part.file.refuse()
    common = problem.layout.common_names
    if common and not all(one.together for one in coupled.values()):
        why = f"'EachAlone' cannot decide what is common: {', '.join(common)}."
        settings.part.wrong("policies", f"'policies': {why}")
        settings.part.file.refuse()
    return Case(
        name=settings.name,
        problem=problem,
        policies={name: one.policy for name, one in coupled.items()},
        title=settings.title,
        unit=settings.unit,
        names=settings.names,
        panel=panel,
        spec=spec,
        seed=settings.seed,
        confidence=settings.confidence,
        cost_scale=settings.cost_scale,
        difference_scale=settings.difference_scale,
        results=settings.results,
        trace=settings.trace,
        source=settings,
        code=code.file_of(settings.problem).read_bytes(),
        coupled=coupled,
    )


def problem_of_panel(coupled: Coupled, panel: Panel) -> OpenSeries:
    """Return the programs of all series of a panel that are ever open together, as one problem."""
    if len(panel.xi_names) != coupled.dim_xi:
        raise ValueError(
            f"Outcomes of a series have {coupled.dim_xi} numbers, but the data name "
            f"{len(panel.xi_names)}: {', '.join(panel.xi_names)}."
        )
    at = zip(panel.names, panel.at, strict=True)
    first = tuple(name for name, times in at if len(times) and times[0] == 0)
    reads = coupled.program(first).problem.dims.x is not None
    found = OpenSeries(coupled, panel.names, first, len(panel.x_names) if reads else 0)
    names = (*found.layout.each_names, *found.layout.common_names)
    for one in panel.series:
        if one.now is not None and one.now.shape[-1] != len(names):
            raise ValueError(
                f"A decision has {len(names)} numbers for each row: {', '.join(names)}. The data "
                f"name {one.now.shape[-1]} columns of decisions."
            )
    return found


def _resolved(settings: CaseSettings, key: str, resolve: Callable[..., T], *of: Any) -> T:
    """Return what `resolve` finds; its error gets the line of the key."""
    try:
        return resolve(*of)
    except ValueError as error:
        settings.part.wrong(key, f"'{key}': {error}")
        settings.part.file.refuse()
        raise AssertionError from error  # something was wrong


def _panel(settings: CaseSettings, spec: Spec, problem: Problem, table: Table) -> Panel:
    if settings.by_convention and not follows_convention(table):
        data = settings.part.part("data", ())
        data.wrong("", f"[{data.heading}] {NO_OUTCOME}")
        data.file.refuse()
    panel = panel_of(table, spec)
    _check_sizes(settings, problem, panel.series[0])
    noted = (_with_note_on_support(settings, problem, one) for one in panel.series)
    note = "Its columns 'unique_id', 'ds' and 'y' are the series, the time and the outcome."
    notes = ([note] if settings.by_convention else []) + [*panel.notes]
    if not settings.policies and len(panel.names) >= MANY:
        policy = settings.policies_for(len(panel.names), problem.dims.xi)[0]
        notes.append(_note_on_default(policy, in_full=not spec.censored))
    return panel._replace(series=tuple(noted), notes=tuple(notes))


def _note_on_default(policy: str, *, in_full: bool) -> str:
    """Return what is said of the policy that decides many series where none is named."""
    if policy == OF_MANY[0]:
        how = ", in lock step; it is given what a model of all series expects"
    elif in_full:
        how = (
            ", in lock step; a model across series is about outcomes of one number, so each is "
            "learned by itself"
        )
    else:
        how = " for each series by itself: by 'censored', outcomes are not all seen in full"
    return (
        f"No policy is named, and there are {MANY} series or more: {policy} decides{how}. "
        f"{OF_FEW[0]} takes some milliseconds a decision: name it in 'policies'."
    )


def _check_across(
    settings: CaseSettings, policies: Mapping[str, Policy[Any]], panel: Panel | None
) -> None:
    """Refuse models across series where there is one series."""
    found = [name for name, one in policies.items() if isinstance(one, GivenAcross)]
    if found and settings.spec is not None and settings.spec.censored:
        why = (
            f"'policies': '{found[0]}' has a model across series, which learns from outcomes that "
            "were seen in full, and [data] says 'censored': name 'LightMixture', say."
        )
        settings.part.wrong("policies", why)
        settings.part.file.refuse()
    if panel is None and found:
        why = f"'policies': '{found[0]}' has a model across series, so [data] must say 'series'."
        settings.part.wrong("policies", why)
        settings.part.file.refuse()


def _check_names(settings: CaseSettings, problem: Problem) -> None:
    """Refuse names of decisions that are not one for each number, or stand for something else."""
    names, many = settings.names, problem.dims.z
    if not names:
        return
    wrong = len(names) != many
    expected = f"{many} different names, one for each number"
    if not wrong and settings.spec is not None:
        taken = {settings.spec.time or "", *settings.spec.series, *_TAKEN}
        wrong = not taken.isdisjoint(names)
        expected = f"other names than {', '.join(map(repr, sorted(taken - {''})))}"
    if wrong:
        settings.part.wrong("names", f"'names' must be {expected}. Got {list(names)} instead.")
        settings.part.file.refuse()


def _check_sizes(settings: CaseSettings, problem: Problem, series: Series) -> None:
    """Refuse data with other outcomes or decisions than the problem has."""
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
    """The series, with a note where outcomes are none that the problem says are possible."""
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
