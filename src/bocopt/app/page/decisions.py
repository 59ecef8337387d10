"""Every decision of a study as one CSV table."""

import csv
import io
import math
from collections.abc import Iterator, Mapping, Sequence

from bocopt import arguments
from bocopt.app.findings import Findings, Played
from bocopt.app.page.markup import labels
from bocopt.core import Status
from bocopt.trace import no_formula


def decisions_csv(findings: Findings, names: Mapping[str, Sequence[str]] | None = None) -> str:
    """Return one row per stage and policy as CSV; an empty cell where a number does not exist.

    Texts that a spreadsheet would compute stand there behind an apostrophe. `names` as in `page`.
    """
    arguments.kind("decisions_csv", "findings", findings, Findings)
    shown = io.StringIO(newline="")
    writer = csv.writer(shown)
    word = findings.sense.value
    width = max((played.z.shape[1] for played in findings.played.values()), default=0)
    z_names = labels(names or {}, "z", width, "decision")
    last = [word, "feasible", f"hindsight {word}", "status", "counts"]
    writer.writerow(map(no_formula, ["time", "line", "policy", *z_names, *last]))
    for policy, played in findings.played.items():
        writer.writerows(_rows(findings, policy, played))
    return shown.getvalue()


def _rows(findings: Findings, policy: str, played: Played) -> Iterator[list[str]]:
    series, sign = findings.series, findings.sense.sign
    for t, time in enumerate(series.time):
        cost = float(played.cost[t])
        yield [
            no_formula(time),
            str(int(series.lines[t])),
            no_formula(policy),
            *map(_cell, played.z[t].tolist()),
            _cell(sign * cost),
            _cell(float(played.feasible[t])),
            _cell(sign * float(played.hindsight[t])),
            Status(int(played.status[t])).name.lower(),
            str(int(t >= findings.warm_up and not math.isnan(cost))),
        ]


def _cell(value: float) -> str:
    return "" if math.isnan(value) else repr(value + 0.0)  # no minus zero
