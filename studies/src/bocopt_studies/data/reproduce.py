"""Play the studies by the code of `bocopt backtest`, and write what they found."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bocopt import file
from bocopt.app.case import Case
from bocopt.app.findings import Findings
from bocopt.app.opening import open_case
from bocopt.app.writing import write as write_case
from bocopt.live import Agent
from bocopt_studies.data.files import files_of
from bocopt_studies.data.summary import Found, command_of, grids, summary_of
from bocopt_studies.report import html
from bocopt_studies.report.blocks import Grid, Link, Section
from bocopt_studies.report.tables import in_markdown, markdown

TITLE = "Studies on real data"
LEAD = (
    "A table, a decision, and a rule that a practitioner would follow, each in the files that "
    "`bocopt backtest` takes: `bocopt.toml`, `problem.py` and `data.csv` in the folder of a study."
)


def opened(out: Path, name: str) -> Case:
    """Its files, written as they are to `out/data/name`, and read again."""
    folder = out / "data" / name
    folder.mkdir(parents=True, exist_ok=True)
    for part, content in files_of(name).items():
        file.replace(folder / part, content)
    return open_case(folder / "bocopt.toml")


def found_in(case: Case, findings: Findings, agents: Mapping[str, Agent[Any]]) -> dict[str, Any]:
    """Write the report, and say what it says."""
    write_case(case, findings, agents)
    return summary_of(findings)


def write(out: Path, studies: Mapping[str, Found]) -> None:
    """`data.json`, `data.md`, and a page that leads to the reports."""
    sections = [_section(name, found) for name, found in studies.items()]
    overview = Section("All of them", grids(studies))
    page = html.page(TITLE, LEAD, [overview, *sections], {})
    files = {
        "data.json": json.dumps({"studies": studies}, indent=1, allow_nan=False) + "\n",
        "data.md": markdown_of(studies),
        "data/index.html": page,
    }
    for name, text in files.items():
        file.replace(out / name, text.encode())


def _section(name: str, found: Found) -> Section:
    return Section(
        found["title"],
        [
            f"{found['headline']} From {found['first']} to {found['last']}.",
            Link("The report", f"{name}/results/report.html"),
        ],
    )


def markdown_of(studies: Mapping[str, Found]) -> str:
    """Return the summary as a Markdown page, with the command that makes it."""
    parts: list[str | Grid] = [LEAD, *grids(studies)]
    shown = [
        in_markdown(part) if isinstance(part, str) else markdown(part).rstrip() for part in parts
    ]
    return "\n\n".join([f"# {TITLE}", f"```sh\n{command_of(studies)}\n```", *shown]) + "\n"
