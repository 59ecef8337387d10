"""Sections on what was assumed and found, and on how to take a policy into use."""

import numpy as np

from bocopt.app.page.markup import lines, listed, section
from bocopt.app.page.view import ReportView
from bocopt.app.text import count
from bocopt.core import Status

ASSUMED, USE = "Assumed and found", "Take it into use"
SAID = "What monitors said, of all stages with the warm-up"


def assumed(view: ReportView) -> str:
    """Return the notes on table, delays, warm-up and solvers, and of monitors and certificates."""
    f = view.findings
    notes = [*f.series.notes, *_warm_up(view), *_arrivals(view), *_gaps(view), *_solvers(view)]
    rests = [one for found in f.compared.values() for one in found.certificate.assumptions]
    certified = [
        f"The interval that holds at all times assumes that {one}." for one in dict.fromkeys(rests)
    ]
    said = [f"{policy}: {one}" for policy, played in f.played.items() for one in played.said]
    monitors = f"<h3>{SAID}</h3>\n" + listed(said) if said else ""
    return section(ASSUMED, listed([*notes, *certified]), monitors)


def _warm_up(view: ReportView) -> list[str]:
    stages, warm_up = len(view.findings.series.time), view.findings.warm_up
    if not warm_up:
        return ["There is no warm-up: every stage counts."]
    return [
        f"The first {warm_up:,} of {stages:,} stages are the warm-up: policies decide and learn, "
        "and no number here counts them."
    ]


def _arrivals(view: ReportView) -> list[str]:
    arrives, series = view.findings.series.arrives, view.findings.series
    stages = np.arange(len(arrives))
    there = ~np.isnan(series.xi).all(axis=1)
    late = (arrives - stages - 1)[there & (arrives < len(arrives))]
    if not late.size or not late.any():
        return ["Every outcome was known when the next decision was taken."]
    least, most = int(late.min()), int(late.max())
    delays = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    return [
        f"Outcomes came late: a decision does not know those of the latest "
        f"{delays} {'stage' if most == 1 else 'stages'} before it."
    ]


def _gaps(view: ReportView) -> list[str]:
    f = view.findings
    found = []
    in_part = int(f.series.in_part.sum())
    never = int(np.isnan(f.series.xi).any(axis=1).sum()) - in_part
    if never:
        found.append(
            f"{count(never, 'stage')} without an outcome: not learned from, and in no mean."
        )
    if in_part:
        found.append(
            f"{count(in_part, 'stage')} with an outcome that was seen in part: learned as far as "
            "it was seen, and in no mean of costs. What was seen follows from what was done then: "
            "a policy that orders more here, to see more, pays for it and sees no more."
        )
    kept = int(np.isnan(f.series.x).any(axis=1).sum())
    if kept:
        found.append(
            f"{count(kept, 'stage')} with a number missing in the context, kept as missing."
        )
    if view.left_out > 0:
        found.append(
            f"{count(view.left_out, 'stage')} more not counted: some policy has no cost there."
        )
    return found


def _solvers(view: ReportView) -> list[str]:
    """Return sentences on decisions that are not simply optimal or given, by policy."""
    found = []
    for policy, played in view.findings.played.items():
        for status in Status:
            stages = int((played.status == status).sum())
            if stages and status not in (Status.OPTIMAL, Status.GIVEN):
                of_all = f"{stages:,} of {len(played.status):,} stages"
                found.append(f"{policy}: at {of_all} {status.message}.")
    return found


def use(view: ReportView) -> str:
    """Return the section with the code, to be copied; empty where there is none."""
    code = view.findings.code
    if not code.strip():
        return ""
    shown = f"<code>{lines(code)}</code>"
    return section(USE, f'<pre class="code" tabindex="0" aria-label="Code">{shown}</pre>\n')
