"""Everything the paper reports: the studies, what they write, and the report over them."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bocopt import file
from bocopt.sources import digest_of, package, versions
from bocopt.trace import cut_short
from bocopt_studies.catalogue import STUDIES, studies_of
from bocopt_studies.paper import errata
from bocopt_studies.paper.settings import Settings
from bocopt_studies.report import charts, html
from bocopt_studies.report.blocks import Chart, Grid, Row, Section
from bocopt_studies.report.tables import in_markdown, markdown
from bocopt_studies.study import Size, Study, Summary
from bocopt_studies.work.store import BlockStore
from bocopt_studies.work.task import Record
from bocopt_studies.work.work import Work

TITLE = "PAC-Bayes Meets Online Contextual Optimization, reproduced"
LEAD = (
    "Tables and figures of the paper (Xie, Abdin, Fang), run by `bocopt` beside the numbers in "
    "print, with honest baselines and the errata that had to be settled first; and what goes "
    "beyond it, where that was run."
)

Plan = Sequence[tuple[Study, Size]]


class StudyResult(NamedTuple):
    """Summary of a study, and the run that found it: times, versions, software."""

    summary: Summary
    run: Mapping[str, Any]


def plan_of(command: str, size: Size) -> Plan:
    """One study at this size, or a group at the sizes that they have when table 1 has this one."""
    if command in STUDIES:
        return [(STUDIES[command], size)]
    return [(study, study.size(size)) for study in studies_of(command)]


def work_of(plan: Plan, store: BlockStore, fresh: bool = False) -> Work:
    """All tasks of all studies; what two of them share is computed once."""
    tasks = [task for study, size in plan for task in study.tasks(size).values()]
    return Work(tasks, store, fresh)


def results_of(plan: Plan, work: Work, about: Mapping[str, Any]) -> dict[str, StudyResult]:
    """Return each study's summary, and what is known of its run, by name."""
    results = {}
    for study, size in plan:
        tasks = study.tasks(size)
        records = {name: work.record(task) for name, task in tasks.items()}
        computing = {"computing seconds": round(work.seconds(tasks.values()), 1)}
        run = {
            **size._asdict(),
            **about,
            **computing,
            **_cut_short(records.values()),
            "software": _software(),
        }
        results[study.name] = StudyResult(study.summarise(size, records), run)
    return results


def _cut_short(records: Iterable[Record]) -> dict[str, float]:
    """The share of decisions that stopped at a limit or fell back, where there are decisions."""
    statuses = [
        array.ravel()
        for record in records
        for name, array in record.items()
        if name.rpartition("/")[2] == "status"
    ]
    if not statuses:
        return {}
    share = float(cut_short(np.concatenate(statuses)).mean())
    return {"decisions at a limit or fallen back": float(f"{share:.3g}")}


def write(folder: Path, results: Mapping[str, StudyResult]) -> None:
    """The files of each study, `run.json` with all that differs between runs, and the report.

    The report also shows what the folder holds of other studies by the same code. Without
    matplotlib, there are no figures and no report.
    """
    both = {**_earlier(folder), **results}
    shown = {name: both[name] for name in STUDIES if name in both}
    sensitivity = shown["sensitivity"].summary if "sensitivity" in shown else None
    runs = {name: result.run for name, result in shown.items()}
    texts = {
        **{f"{name}.json": _json(result.summary) for name, result in results.items()},
        **{f"{name}.md": markdown_of(name, results[name].summary) for name in results},
        "errata.md": f"# Errata of the print\n\n{markdown(errata.grid(sensitivity))}",
        "run.json": _json(runs),
    }
    files = {name: text.encode() for name, text in texts.items()}
    if charts.available():
        sections = [STUDIES[name].show(result.summary) for name, result in shown.items()]
        runs_of = Section("These runs", [_settings(), _runs(runs)])
        files |= _report([*sections, errata.section(sensitivity), runs_of])
    for name, content in files.items():
        file.replace(folder / name, content)


def _report(sections: Sequence[Section]) -> dict[str, bytes]:
    """The figures and the page, by file name."""
    shown = [block for section in sections for block in section.blocks if isinstance(block, Chart)]
    drawings = {name: content for chart in shown for name, content in charts.files(chart).items()}
    return {**drawings, "index.html": html.page(TITLE, LEAD, sections, drawings).encode()}


@cache
def _software() -> str:
    """A digest of all that may change results, or how they are shown."""
    return digest_of(package("bocopt", "bocopt_studies"), versions())


def _earlier(folder: Path) -> dict[str, StudyResult]:
    """Return results that earlier commands left in the folder, where the same code made them."""
    try:
        runs = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        return {
            name: StudyResult(
                json.loads((folder / f"{name}.json").read_text(encoding="utf-8")), run
            )
            for name, run in runs.items()
            if run["software"] == _software()
        }
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _settings() -> Grid:
    rows = [Row([f"`{name}`", str(value)]) for name, value in asdict(Settings()).items()]
    return Grid("Settings, unless a table says otherwise", ["setting", "value"], rows, words=True)


def _runs(runs: Mapping[str, Mapping[str, Any]]) -> Grid:
    """One column for each study."""
    names = list(dict.fromkeys(name for run in runs.values() for name in run if name != "software"))
    return Grid(
        "Runs and versions",
        ["", *runs],
        [Row([name, *(str(run.get(name, "")) for run in runs.values())]) for name in names],
        words=True,
    )


def markdown_of(name: str, summary: Summary) -> str:
    """A study as a Markdown page, with the command that makes it."""
    section, size = STUDIES[name].show(summary), Size.of(summary)
    options = f"--trials {size.trials} --horizon {size.horizon} --seed {size.seed}"
    parts = [f"# {in_markdown(section.title)}", f"```sh\nbocopt reproduce {name} {options}\n```"]
    for block in section.blocks:
        match block:
            case str():
                parts.append(in_markdown(block))
            case Grid():
                parts.append(markdown(block).rstrip())
            case Chart():
                title, caption = in_markdown(block.title), in_markdown(block.caption)
                parts.append(f"![{title}]({block.name}.png)\n\n{caption}")
    return "\n\n".join(parts) + "\n"


def _json(content: object) -> str:
    """Indented, but for lists of numbers, which take one line."""
    text = json.dumps(content, indent=1, allow_nan=False)
    return re.sub(r"\[[^][{}\"]*\]", lambda found: " ".join(found[0].split()), text) + "\n"
