"""The report of a study: one HTML file that needs nothing else."""

from collections.abc import Mapping, Sequence
from importlib.resources import files
from string import Template

from bocopt import arguments
from bocopt.tables.findings import Findings
from bocopt.tables.page.basis import assumed, use
from bocopt.tables.page.calibration import calibration
from bocopt.tables.page.feasible import feasibility
from bocopt.tables.page.headline import headline
from bocopt.tables.page.markup import text
from bocopt.tables.page.money import over_time, policies
from bocopt.tables.page.view import View
from bocopt.tables.page.weights import weights
from bocopt.tables.page.worst import worst

_PAGE = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>$title</title>
<style>
$style</style>
</head>
<body>
<header>
<h1><bdi>$title</bdi></h1>
$headline</header>
<nav aria-label="Contents">$links</nav>
<main>
$sections</main>
<script>
$script</script>
</body>
</html>
""")
_SECTIONS = (over_time, policies, feasibility, calibration, weights, worst, assumed, use)


def page(findings: Findings, names: Mapping[str, Sequence[str]] | None = None) -> str:
    """The whole file.

    names       of columns that findings have no names for: "z" of decisions, "arm_weights" of arms,
                "weights" of laws; what has none is numbered
    """
    arguments.kind("page", "findings", findings, Findings)
    if not findings.played:
        raise arguments.wrong("page", "findings", "of at least one policy", findings.played)
    view = View(findings, names or {})
    sections = [part for part in (make(view) for make in _SECTIONS) if part]
    return _PAGE.substitute(
        title=text(findings.title),
        style=_part("bocopt.report", "style.css") + _part("bocopt.tables.page", "page.css"),
        headline=headline(view),
        links=" ".join(map(_link, sections)),
        sections="".join(sections),
        script=_part("bocopt.tables.page", "page.js"),
    )


def _part(package: str, name: str) -> str:
    return files(package).joinpath(name).read_text(encoding="utf-8")


def _link(section: str) -> str:
    """To a section, by its own id and title."""
    anchor = section.split('id="', 1)[1].split('"', 1)[0]
    title = section.split("<h2>", 1)[1].split("</h2>", 1)[0]
    return f'<a href="#{anchor}">{title}</a>'
