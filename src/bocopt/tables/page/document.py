"""The report of a study: one HTML file that needs nothing else."""

from collections.abc import Mapping, Sequence
from string import Template

from bocopt import arguments
from bocopt.report.document import document, part, style
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

_BODY = Template("""<header>
<h1><bdi>$title</bdi></h1>
$headline</header>
<nav aria-label="Contents">$links</nav>
<main>
$sections</main>
<script>
$script</script>
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
    sections = [made for made in (make(view) for make in _SECTIONS) if made]
    title = text(findings.title)
    body = _BODY.substitute(
        title=title,
        headline=headline(view),
        links=" ".join(map(_link, sections)),
        sections="".join(sections),
        script=part("bocopt.tables.page", "page.js"),
    )
    css = part("bocopt.report", "style.css") + part("bocopt.tables.page", "page.css")
    return document(title, style(css), body)


def _link(section: str) -> str:
    """To a section, by its own id and title."""
    anchor = section.split('id="', 1)[1].split('"', 1)[0]
    title = section.split("<h2>", 1)[1].split("</h2>", 1)[0]
    return f'<a href="#{anchor}">{title}</a>'
