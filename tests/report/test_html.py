"""The page: text is text, whatever it holds."""

from pathlib import Path

from bocopt.report.blocks import Chart, Curve, Grid, Row, Section
from bocopt.report.charts import save
from bocopt.report.html import page


def test_text_is_escaped(tmp_path: Path) -> None:
    rows = [Row(["x & y", "`V <= c'z`"]), Row(["*", "2 * 3 * 4"], muted=True)]
    grid = Grid("<b>", ["a<", "b"], rows)
    text = page("T<", "lead <i>", [Section("S & s", ["p < q", grid])], tmp_path)
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


def test_figures_take_the_colours_of_the_page(tmp_path: Path) -> None:
    chart = Chart("c", 'A "chart"', "reward", [Curve("a", [1, 2], [0.0, 1.0])], caption="<note>")
    save(chart, tmp_path)
    text = page("t", "", [Section("s", [chart])], tmp_path)
    assert "currentColor" in text
    assert "#1f2328" not in text.partition("</style>")[2]
    assert 'aria-label="A &quot;chart&quot;: &lt;note&gt;"' in text
