"""The report of a panel: what all series paid together, and each of them."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from bocopt import arguments
from bocopt.app.features.series import Panel
from bocopt.app.findings import PanelFindings
from bocopt.app.page.basis import ASSUMED, USE, use
from bocopt.app.page.discovered import DISCOVERED, discovered
from bocopt.app.page.document import written
from bocopt.app.page.markup import listed, paragraph, section, table, text
from bocopt.app.page.money import OVER_TIME, POLICIES, over_time, policies
from bocopt.app.page.numbers import NONE, decimals, fixed, percent
from bocopt.app.page.panel_numbers import Group, Result, by_age, by_size, by_weekday, results_of
from bocopt.app.page.view import ReportView
from bocopt.app.page.yearly import a_year
from bocopt.core import Sense

GROUPS, EXTREMES, ALL = "Where it gains", "Best and worst series", "All series"
_MOST = 5  # series that are called the best, and the worst
_NOTES = 20  # of series, that the page shows
_ROWS = 2000  # of the table of all series: browsers sort no more at once


def panel_page(findings: PanelFindings) -> str:
    """Return the whole file of a report."""
    arguments.kind("panel_page", "findings", findings, PanelFindings)
    view, results = ReportView(findings.totals, {}), results_of(findings)
    makes: Mapping[str, Callable[[], str]] = {
        OVER_TIME: lambda: over_time(view),
        POLICIES: lambda: policies(view, _feasible(findings)),
        DISCOVERED: lambda: discovered(findings.discoveries, findings.panel.names),
        GROUPS: lambda: _groups(findings, view),
        EXTREMES: lambda: _extremes(view, results),
        ALL: lambda: _all(findings, view, results),
        ASSUMED: lambda: _assumed(findings, view),
        USE: lambda: use(view),
    }
    made = {title: make() for title, make in makes.items()}
    return written(view, made, yearly=a_year(findings, view), below=_stage(findings, view.first))


def _stage(findings: PanelFindings, first: str) -> str:
    """Return a paragraph on what a stage of the totals is, and on what the first policy knows."""
    decisions = sum(int(counted.sum()) for counted in findings.counts)
    played = sum(bool(counted.any()) for counted in findings.counts)
    return paragraph(
        f"A stage is a time, and its numbers are sums over the series that decided then: "
        f"{played:,} series and {decisions:,} decisions in all. {_knows(findings, first)} Series "
        "may depend on each other at one time in any way: intervals are about the sums.",
        css="note",
    )


def _knows(findings: PanelFindings, first: str) -> str:
    """Return a sentence on what a policy knows when it decides a series."""
    named = f"<bdi>{text(first)}</bdi>"
    if first not in findings.across:
        return f"{named} decides each series by the past of that series alone."
    return (
        f"{named} decides each series by its own past and by what one model of all series expects "
        "of it: the model is fitted again as outcomes come, and asked before any outcome of a time "
        "is known."
    )


def _feasible(findings: PanelFindings) -> Mapping[str, str]:
    """Return the share of all decisions that count, by policy."""
    found = {}
    for policy in findings.totals.played:
        parts = [
            played[policy].feasible[counted]
            for played, counted in zip(findings.each, findings.counts, strict=True)
        ]
        known = [value for part in parts for value in part.tolist() if value == value]
        found[policy] = f"{percent(sum(known) / len(known))}%" if known else NONE
    return found


def _gained(view: ReportView) -> str:
    return "saved" if view.findings.sense is Sense.MINIMISE else "earned more"


def _groups(findings: PanelFindings, view: ReportView) -> str:
    parts = [
        ("weekday", by_weekday(findings)),
        ("mean size of an outcome", by_size(findings)),
        ("earlier decisions of the series", by_age(findings)),
    ]
    shown = [_group_table(view, what, groups) for what, groups in parts if groups]
    if not shown:
        return ""
    said = "Means of a decision, not of a stage. No intervals: they show where to look."
    return section(GROUPS, paragraph(said), *shown)


def _group_table(view: ReportView, what: str, groups: Sequence[Group]) -> str:
    word, sign = view.findings.sense.value, view.findings.sense.sign
    digits = decimals(group.cost for group in groups)
    header, rows = [what, "decisions", f"{word} a decision"], []
    if view.reference is not None:
        header += [f"{_gained(view)} a decision", "percent"]
    for group in groups:
        row = [group.name, f"{group.stages:,}", fixed(sign * group.cost, digits)]
        if view.reference is not None:
            row += [fixed(group.gain, digits), percent(group.share)]
        rows.append(row)
    return table(header, rows, label=f"By {what}")


def _extremes(view: ReportView, results: Sequence[Result]) -> str:
    """Return the series with the largest and the smallest gains in all."""
    known = [one for one in results if one.gain == one.gain and one.stages]
    if len(known) < 2:
        return ""
    order = sorted(known, key=lambda one: -one.gain * one.stages)
    many = min(_MOST, len(order) // 2)
    said = (
        f"By what <bdi>{text(view.first)}</bdi> {_gained(view)} in all. Of many series some are "
        "the worst by chance alone: where it is open on average, that may be all there is to it."
    )
    best, worst = order[:many], order[: -many - 1 : -1]
    tables = [
        f"<h3>{title}</h3>\n" + table(*_result_rows(view, some), label=title)
        for title, some in (("Best", best), ("Worst", worst))
    ]
    return section(EXTREMES, paragraph(said), *tables)


def _all(findings: PanelFindings, view: ReportView, results: Sequence[Result]) -> str:
    """Return the table of all series; of very many, of those in which most is gained or lost."""
    amounts = [one.stages * (1.0 if one.gain != one.gain else abs(one.gain)) for one in results]
    most = np.argsort(-np.array(amounts), kind="stable")[:_ROWS]
    shown = np.sort(most).tolist()
    header, rows = _result_rows(view, [results[number] for number in shown])
    times = [findings.panel.series[number].time for number in shown]
    rows = [[*row, time[0], time[-1]] for row, time in zip(rows, times, strict=True)]
    said = "Means over the decisions of a series that count."
    if len(results) > len(shown):
        said += (
            f" Shown are {len(shown):,} of {len(results):,} series, those in which most is gained "
            "or lost in all; series.csv has the others."
        )
    found = table([*header, "from", "to"], rows, label=ALL)
    return section(ALL, paragraph(said), f'<div class="sortable">\n{found}</div>\n')


def _result_rows(view: ReportView, results: Sequence[Result]) -> tuple[list[str], list[list[str]]]:
    word, sign = view.findings.sense.value, view.findings.sense.sign
    header = ["series", "decisions", f"{word} a decision"]
    if view.reference is not None:
        reference = "now" if view.findings.now is not None else view.reference
        header += [f"{word} of {reference}", _gained(view), "in percent", "in all", "on average"]
    header.append("feasible %")
    digits = decimals(one.cost[view.first] for one in results)
    whole = decimals(one.gain * one.stages for one in results)
    rows = []
    for one in results:
        row = [one.name, f"{one.stages:,}", fixed(sign * one.cost[view.first], digits)]
        if view.reference is not None:
            paid = sign * one.cost[view.reference]
            share = one.gain / paid if paid > 0 else float("nan")
            row += [fixed(paid, digits), fixed(one.gain, digits), percent(share)]
            row += [fixed(one.gain * one.stages, whole), one.verdict or NONE]
        rows.append([*row, percent(one.feasible)])
    return header, rows


def _assumed(findings: PanelFindings, view: ReportView) -> str:
    f, panel = findings.totals, findings.panel
    rests = [one for found in f.compared.values() for one in found.certificate.assumptions]
    certified = [
        f"The interval that holds at all times assumes that {one}." for one in dict.fromkeys(rests)
    ]
    sums = "What series paid at one time is one number; nothing is assumed of how they depend."
    warm_up = (
        f"The first {panel.warm_up:,} of {len(panel.time):,} times are the warm-up: policies "
        "decide and learn, and no number here counts them. A series that begins later counts from "
        "its first row."
        if panel.warm_up
        else "There is no warm-up: every stage counts."
    )
    left = sum(
        int((~counted[series.warm_up :]).sum())
        for series, counted in zip(panel.series, findings.counts, strict=True)
    )
    out = [f"{left:,} decisions are in no mean: an outcome is missing, or some policy has no cost."]
    notes = [*panel.notes, warm_up, sums, *(out if left else []), *certified]
    return section(ASSUMED, listed(notes), _of_single(panel))


def _of_single(panel: Panel) -> str:
    """Return the first notes on single series, and how many more there are."""
    own = [
        f"{name}: {note}"
        for name, series in zip(panel.names, panel.series, strict=True)
        for note in series.notes
    ]
    if not own:
        return ""
    more = [f"And {len(own) - _NOTES:,} more notes on series."] if len(own) > _NOTES else []
    return f"<h3>Of single series</h3>\n{listed([*own[:_NOTES], *more])}"
