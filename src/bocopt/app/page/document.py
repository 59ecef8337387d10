"""The report of a study: one HTML file that needs nothing else."""

from collections.abc import Callable, Mapping, Sequence
from string import Template

from bocopt import arguments
from bocopt.app.findings import Findings
from bocopt.app.page.basis import ASSUMED, USE, assumed, use
from bocopt.app.page.calibration import CALIBRATION, calibration
from bocopt.app.page.feasible import FEASIBILITY, feasibility
from bocopt.app.page.headline import headline
from bocopt.app.page.markup import anchor, document, part, style, text
from bocopt.app.page.money import OVER_TIME, POLICIES, over_time, policies
from bocopt.app.page.view import ReportView
from bocopt.app.page.weights import WEIGHTS, weights
from bocopt.app.page.worst import WORST, worst

_BODY = Template("""<header>
<h1><bdi>$title</bdi></h1>
$headline</header>
<nav aria-label="Contents">$links</nav>
<main>
$sections</main>
<script>
$script</script>
""")
_SECTIONS: Mapping[str, Callable[[ReportView], str]] = {  # by title
    OVER_TIME: over_time,
    POLICIES: policies,
    FEASIBILITY: feasibility,
    CALIBRATION: calibration,
    WEIGHTS: weights,
    WORST: worst,
    ASSUMED: assumed,
    USE: use,
}


def page(findings: Findings, names: Mapping[str, Sequence[str]] | None = None) -> str:
    """Return the whole file of a report.

    names       of columns that findings have no names for: "z" of decisions, "arm_weights" of arms,
                "weights" of laws; what has none is numbered
    """
    arguments.kind("page", "findings", findings, Findings)
    if not findings.played:
        raise arguments.wrong("page", "findings", "of at least one policy", findings.played)
    view = ReportView(findings, names or {})
    return written(view, {title: make(view) for title, make in _SECTIONS.items()})


def written(view: ReportView, made: Mapping[str, str], *, yearly: str = "", below: str = "") -> str:
    """Return the whole file of sections by title.

    yearly      a paragraph on a year, that stands in the headline
    below       one that stands below all that the headline says
    """
    findings = view.findings
    sections = {title: section for title, section in made.items() if section}
    title = text(findings.title)
    body = _BODY.substitute(
        title=title,
        headline=headline(view, yearly) + below,
        links=" ".join(map(_link, sections)),
        sections="".join(sections.values()),
        script=part("bocopt.app.page", "page.js"),
    )
    css = part("bocopt.app.page", "style.css") + part("bocopt.app.page", "page.css")
    return document(title, style(css), body)


def _link(title: str) -> str:
    """Return a link to the section of that title."""
    return f'<a href="#{anchor(title)}">{title}</a>'
