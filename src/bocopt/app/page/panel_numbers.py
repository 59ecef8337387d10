"""Results of each series of a panel, and of groups of its decisions."""

from typing import NamedTuple

import numpy as np

from bocopt.app.findings import PanelFindings
from bocopt.app.page.discovered import verdicts
from bocopt.app.page.view import ReportView
from bocopt.core import Array, BoolArray, IntArray

_GROUPS = 5  # of series by their size, at the most
_AGES = (0, 10, 50, 200, 1000)  # earlier decisions of a series, from which groups by age begin
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class Result(NamedTuple):
    """One series, over its decisions that count; NaN where there are none."""

    name: str
    stages: int
    cost: dict[str, float]  # a stage, by policy
    gain: float  # a stage, of the first policy against the reference; NaN without one
    feasible: float  # the share of the first policy's decisions
    size: float  # mean size of an outcome
    verdict: str  # whether it is better or worse, or whether that is open; empty without one


class Group(NamedTuple):
    """Decisions that have something in common."""

    name: str
    stages: int
    cost: float  # of the first policy, a decision
    gain: float  # against the reference, a decision
    share: float  # that of what the reference paid; NaN where that was nothing


def results_of(findings: PanelFindings) -> list[Result]:
    """Return the result of each series, in their order."""
    view, found = ReportView(findings.totals, {}), list[Result]()
    names, discovered = findings.panel.names, findings.discoveries
    said = [""] * len(names) if discovered is None else verdicts(discovered)
    for name, series, played, counted, verdict in zip(
        names, findings.panel.series, findings.each, findings.counts, said, strict=True
    ):
        cost = {policy: _mean(one.cost[counted]) for policy, one in played.items()}
        gain = np.nan if view.reference is None else cost[view.reference] - cost[view.first]
        sizes = np.abs(series.xi[np.isfinite(series.xi).all(axis=1)]).sum(axis=1)
        feasible = _mean(played[view.first].feasible[counted])
        many, size = int(counted.sum()), _mean(sizes)
        found.append(Result(name, many, cost, float(gain), feasible, size, verdict))
    return found


def by_weekday(findings: PanelFindings) -> list[Group]:
    """Return the decisions of each weekday; empty where times are no days, or all of one."""
    if findings.panel.weekdays is None:
        return []
    days = [findings.panel.weekdays[at] for at in findings.panel.at]
    found = [_group(findings, name, [day == n for day in days]) for n, name in enumerate(_WEEKDAYS)]
    known = [group for group in found if group.stages]
    return known if len(known) > 1 else []


def by_size(findings: PanelFindings) -> list[Group]:
    """Return the decisions of series of about the same size of outcomes, the smallest first."""
    results = results_of(findings)
    sizes = np.array([one.size for one in results])
    known = np.flatnonzero(np.isfinite(sizes))
    many = min(_GROUPS, len(known))
    if many < 2:
        return []
    parts = np.array_split(known[np.argsort(sizes[known], kind="stable")], many)
    return [_of_sizes(findings, part, sizes) for part in parts]


def by_age(findings: PanelFindings) -> list[Group]:
    """Return the decisions of series of about the same age, in decisions of theirs before."""
    many = [np.arange(len(at)) for at in findings.panel.at]
    found = []
    for low, high in zip(_AGES, (*_AGES[1:], None), strict=True):
        name = f"{low:,} or more" if high is None else f"{low:,} to {high - 1:,}"
        which = [(low <= age) & (age < (high or np.inf)) for age in many]
        found.append(_group(findings, name, which))
    known = [group for group in found if group.stages]
    return known if len(known) > 1 else []


def _of_sizes(findings: PanelFindings, part: IntArray, sizes: Array) -> Group:
    low, high = f"{sizes[part].min():.4g}", f"{sizes[part].max():.4g}"
    ends = low if low == high else f"{low} to {high}"
    name = f"{len(part)} series of {ends}"
    chosen = {*part.tolist()}
    which = [np.full(len(at), number in chosen) for number, at in enumerate(findings.panel.at)]
    return _group(findings, name, which)


def _group(findings: PanelFindings, name: str, which: list[BoolArray]) -> Group:
    view = ReportView(findings.totals, {})
    own, theirs = list[Array](), list[Array]()
    for played, counted, chosen in zip(findings.each, findings.counts, which, strict=True):
        at = counted & chosen
        own.append(played[view.first].cost[at])
        if view.reference is not None:
            theirs.append(played[view.reference].cost[at])
    paid = np.concatenate(own)
    cost = _mean(paid)
    today = _mean(np.concatenate(theirs)) if theirs else np.nan
    shown = view.findings.sense.sign * today
    gain = today - cost
    return Group(name, len(paid), cost, gain, gain / shown if shown > 0 else np.nan)


def _mean(values: Array) -> float:
    return float(values.mean()) if values.size else float("nan")
