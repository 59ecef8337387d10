"""Summaries of what the studies found: plain data for a JSON file, and tables that show it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bocopt.app.findings import Findings
from bocopt.app.page.contrast import contrast, level
from bocopt.app.page.feasible import share
from bocopt.app.page.headline import sentence
from bocopt.app.page.markup import unmarked
from bocopt.app.page.money import surely
from bocopt.app.page.numbers import NONE, decimals, ends, fixed, percent, target
from bocopt.app.page.view import ReportView
from bocopt.core import Sense
from bocopt_studies.data import NAMES
from bocopt_studies.report.blocks import Grid, Row

Found = Mapping[str, Any]  # of one study

_DIGITS = 9  # that are kept


def summary_of(findings: Findings) -> dict[str, Any]:
    """The numbers of its report."""
    view = ReportView(findings, {})
    return {
        "title": findings.title,
        "unit": findings.unit,
        "sense": findings.sense.value,
        "first": findings.series.time[view.stages[0]],
        "last": findings.series.time[view.stages[-1]],
        "stages": len(view.stages),
        "warm_up": findings.warm_up,
        "target": findings.alpha,
        "confidence": _short(level(view)),
        "headline": unmarked(sentence(view)),
        "policies": {policy: _policy(view, policy) for policy in view.ordered},
    }


def _policy(view: ReportView, policy: str) -> dict[str, Any]:
    """Gains are positive where it is better than what is done now."""
    played = view.findings.played[policy]
    paid = {
        "mean": _short(view.findings.sense.sign * view.mean(played.cost)),
        "feasible": _short(share(view, played)),
        "regret": _short(view.mean(played.cost - played.hindsight)),
    }
    found = contrast(view, policy)
    if found is None:
        return paid
    return {
        **paid,
        "gain": _short(found.gain),
        "share": _short(found.share),
        "always": found.always and [_short(end) for end in found.always],
        "once": found.once and [_short(end) for end in found.once],
        "block": found.block,
        "surely": surely(view, found),
    }


def _short(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def grids(studies: Mapping[str, Found]) -> list[Grid]:
    """Return two tables: each study's headline in words, and all policies of all studies."""
    return [_headlines(studies), _policies(studies)]


def _headlines(studies: Mapping[str, Found]) -> Grid:
    rows = [Row([found["title"], found["headline"]]) for found in studies.values()]
    return Grid("In words", ["study", "found"], rows, words=True)


def _policies(studies: Mapping[str, Found]) -> Grid:
    rows = [
        Row([name if first else "", *cells], muted=len(cells) > 2 and cells[2] == NONE)
        for name, found in studies.items()
        for first, cells in _numbered(_rows(found))
    ]
    levels = sorted({100 * found["confidence"] for found in studies.values()})
    sure = " or ".join(f"{level:g}%" for level in levels)
    header = [
        *("study", "policy", "a stage", "better by"),
        *(f"{sure}, at all times", "95%, one look", "on average, known since", "feasible"),
    ]
    return Grid("All policies, each beside what is done now", header, rows, _caption(studies))


def _numbered(rows: Iterable[Sequence[str]]) -> Iterable[tuple[bool, Sequence[str]]]:
    return ((number == 0, row) for number, row in enumerate(rows))


def _rows(found: Found) -> list[list[str]]:
    policies = found["policies"]
    means = decimals(one["mean"] for one in policies.values())
    gains = decimals(one["gain"] for one in policies.values() if "gain" in one)
    return [
        [
            policy,
            fixed(one["mean"], means),
            *_beside(one, gains),
            f"{percent(one['feasible'])}%",
        ]
        for policy, one in policies.items()
    ]


def _beside(one: Found, digits: int) -> list[str]:
    if "gain" not in one:
        return [NONE] * 4
    share = f" ({percent(one['share'])}%)"
    intervals = [
        ends(*(fixed(end, digits) for end in one[claim])) if one[claim] else NONE
        for claim in ("always", "once")
    ]
    return [
        f"{fixed(one['gain'], digits)}{share}",
        *intervals,
        one["surely"].replace(", known since ", " "),
    ]


def _caption(studies: Mapping[str, Found]) -> str:
    units = "; ".join(f"{name}: {_unit(found)}" for name, found in studies.items())
    return (
        f"Means a stage ({units}). Better by: less cost or more earnings than what is done now, at "
        "the same stages. At all times: a confidence sequence, for all policies of a study "
        "together. One look: a block bootstrap, each policy alone. On average: on which side of 0 "
        "the first of them is, and since when this is known. tuned_rule: what is done now, with "
        "the margin that would have been best so far."
    )


def _unit(found: Found) -> str:
    paid = "cost" if found["sense"] == Sense.MINIMISE.value else "earnings"
    asked = found["target"] not in (None, 1.0)
    return (
        f"{paid} in {found['unit']}, {found['stages']} stages after {found['warm_up']} to warm up"
        f"{', feasible in ' + target(found['target']) + ' asked for' if asked else ''}"
    )


def command_of(studies: Iterable[str]) -> str:
    """Return the command that makes the results of these studies."""
    named = [] if tuple(studies) == NAMES else list(studies)
    return " ".join(["bocopt reproduce data", *named])
