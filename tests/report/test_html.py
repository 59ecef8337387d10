"""The page: text is text, whatever it holds."""

from bocopt_studies.report.blocks import Chart, Curve, Grid, Row, Section
from bocopt_studies.report.charts import files
from bocopt_studies.report.html import page


def test_text_is_escaped() -> None:
    rows = [Row(["x & y", "`V <= c'z`"]), Row(["*", "2 * 3 * 4"], muted=True)]
    grid = Grid("<b>", ["a<", "b"], rows)
    text = page("T<", "lead <i>", [Section("S & s", ["p < q", grid])], {})
    for shown in (
        "T&lt;",
        "lead &lt;i&gt;",
        "p &lt; q",
        "<b>&lt;b&gt;</b>",
        "x &amp; y",
        "<code>V &lt;= c'z</code>",
        "2 * 3 * 4",
        '<section id="s-s">',
        'href="#s-s"',
        "class=muted",
    ):
        assert shown in text


def test_figures_take_the_colours_of_the_page() -> None:
    chart = Chart("c", 'A "chart"', "reward", [Curve("a", [1, 2], [0.0, 1.0])], caption="<note>")
    text = page("t", "", [Section("s", [chart])], files(chart))
    assert "currentColor" in text
    assert "#1f2328" not in text.partition("</style>")[2]
    assert 'aria-label="A &quot;chart&quot;: &lt;note&gt;"' in text
