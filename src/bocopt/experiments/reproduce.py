"""Everything the paper reports: the studies, what they write, and the report over them."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bocopt.experiments import errata, figure1, rates, readings, sensitivity, table1
from bocopt.experiments.paper import Settings
from bocopt.experiments.study import Size, Study, Summary
from bocopt.experiments.tasks import Store, Work
from bocopt.report import charts, html
from bocopt.report.blocks import Chart, Grid, Row, Section
from bocopt.report.tables import markdown

TITLE = "PAC-Bayes Meets Online Contextual Optimization, reproduced"
LEAD = (
    "Every table and figure of the paper (Xie, Abdin, Fang), run by `bocopt` beside the numbers in "
    "print, with honest baselines and the errata that had to be settled first."
)
STUDIES: Mapping[str, Study] = {
    study.name: study
    for study in (
        table1.STUDY,
        figure1.STUDY,
        *rates.STUDIES,
        sensitivity.STUDY,
        readings.STUDY,
    )
}


Plan = Sequence[tuple[Study, Size]]


def plan_of(names: Sequence[str], size: Size) -> Plan:
    """Studies at the sizes that they have when table 1 has this one."""
    return [(STUDIES[name], STUDIES[name].size(size)) for name in names]


def work_of(plan: Plan, store: Store) -> Work:
    """All tasks of all studies; what two of them share is computed once."""
    return Work([task for study, size in plan for task in study.tasks(size).values()], store)


def summaries_of(plan: Plan, work: Work) -> dict[str, Summary]:
    """The content of each study's JSON file."""
    records = iter(work.records())
    return {
        study.name: study.summarise(size, {name: next(records) for name in study.tasks(size)})
        for study, size in plan
    }


def write(folder: Path, summaries: Mapping[str, Summary], run: Mapping[str, Any]) -> list[Section]:
    """The files of each study, `run.json` with all that differs between runs, and the report."""
    sections = [STUDIES[name].show(summary) for name, summary in summaries.items()]
    for (name, summary), section in zip(summaries.items(), sections, strict=True):
        for block in section.blocks:
            if isinstance(block, Chart):
                charts.save(block, folder)
        _write(folder / f"{name}.json", _json(summary))
        _write(folder / f"{name}.md", markdown_of(name, summary))
    grid = errata.grid(summaries.get("sensitivity"))
    _write(folder / "errata.md", f"# Errata of the print\n\n{markdown(grid)}")
    _write(folder / "run.json", _json(run))
    _write(folder / "index.html", report(folder, summaries, run))
    return sections


def report(folder: Path, summaries: Mapping[str, Summary], run: Mapping[str, Any]) -> str:
    """The page; its figures are read from the folder."""
    sections = [
        *(STUDIES[name].show(summary) for name, summary in summaries.items()),
        errata.section(summaries.get("sensitivity")),
        Section("This run", [_settings(), _about(run)]),
    ]
    return html.page(TITLE, LEAD, sections, folder)


def _settings() -> Grid:
    rows = [Row([f"`{name}`", str(value)]) for name, value in asdict(Settings()).items()]
    return Grid("Settings, unless a table says otherwise", ["setting", "value"], rows, words=True)


def _about(run: Mapping[str, Any]) -> Grid:
    rows = [Row([name.replace("_", " "), str(value)]) for name, value in run.items()]
    return Grid("Run and versions", ["", "value"], rows, words=True)


def markdown_of(name: str, summary: Summary) -> str:
    """A study as a Markdown page, with the command that makes it."""
    section, size = STUDIES[name].show(summary), Size.of(summary)
    options = f"--trials {size.trials} --horizon {size.horizon} --seed {size.seed}"
    parts = [f"# {section.title}", f"```sh\nbocopt reproduce {name} {options}\n```"]
    for block in section.blocks:
        match block:
            case str():
                parts.append(block)
            case Grid():
                parts.append(markdown(block).rstrip())
            case Chart():
                parts.append(f"![{block.title}]({block.name}.png)\n\n{block.caption}")
    return "\n\n".join(parts) + "\n"


def _json(content: object) -> str:
    """Indented, but for lists of numbers, which take one line."""
    text = json.dumps(content, indent=1, allow_nan=False)
    return re.sub(r"\[[^][{}\"]*\]", lambda found: " ".join(found[0].split()), text) + "\n"


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
