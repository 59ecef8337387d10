"""Texts from users: shown as they are, wherever they are shown, and never more than text."""

import io

import pytest
from rich.console import Console

from bocopt.app.text import count, plain
from bocopt_studies.report import charts, html, tables
from bocopt_studies.report.blocks import Chart, Curve, Grid, Row, Section

FORMULA = r"$\frac{1}{0$"
CONTROLS = "\x1b[2J\x9b2J\x07\x08\x00\x7f"


def chart(label: str = "a", name: str = "c") -> Chart:
    return Chart(name, label, label, [Curve(label, [1, 2], [0.0, 1.0])], label, x_label=label)


def grid(text: str) -> Grid:
    return Grid(text, ["", text], [Row([text, "1"]), Row(["a", text], muted=True)], text)


def on_terminal(text: str) -> str:
    screen = io.StringIO()
    Console(file=screen, width=400).print(tables.terminal(grid(text)))
    return screen.getvalue()


@pytest.mark.parametrize(
    "name",
    ["../x", "a/b", "", ".", "..", ".hidden", '"><script>', "a b", "a\nb", "\ud800", r"\g<0>"],
)
def test_the_name_of_a_chart_is_a_plain_file_name(name: str) -> None:
    with pytest.raises(ValueError, match="The 'name' parameter of Chart must be a plain file name"):
        chart(name=name)


def test_labels_are_no_formulas() -> None:
    drawn = charts.files(chart(FORMULA))["c.svg"].decode()
    assert drawn.count(FORMULA) == 3  # two axes and a curve


@pytest.mark.parametrize("text", ["one\ntwo", "one\r\ntwo", "one\u2028two", "one\x0btwo"])
def test_a_text_is_one_line_of_a_markdown_table(text: str) -> None:
    table = tables.markdown(grid(text)).split("\n\n")[1]
    assert len(table.splitlines()) == 4
    assert table.count("one") == 3


@pytest.mark.parametrize(("text", "written"), [("a|b", r"a\|b"), (r"a\|b", r"a\\\|b")])
def test_a_pipe_does_not_end_a_markdown_cell(text: str, written: str) -> None:
    assert f"| {written} | 1 |" in tables.markdown(grid(text))


def test_markdown_holds_no_tags_and_no_links_but_ours() -> None:
    assert r"| \<script>x\</script> | 1 |" in tables.markdown(grid("<script>x</script>"))
    assert r"| [x\](javascript:y) | 1 |" in tables.markdown(grid("[x](javascript:y)"))
    assert "| 1 <= 2 [3, 4] `<b>` | 1 |" in tables.markdown(grid("1 <= 2 [3, 4] `<b>`"))


def test_no_control_character_reaches_the_terminal() -> None:
    shown = on_terminal(CONTROLS)
    assert r"\x1b[2J\x9b2J\x07" in shown
    assert not [c for c in shown if not c.isprintable() and c != "\n"]


@pytest.mark.parametrize("text", ["\ud800", CONTROLS, "a\u202eb"])
def test_any_text_can_be_written(text: str) -> None:
    shown = chart(text)
    page = html.page(text, text, [Section(text, [text, grid(text), shown])], charts.files(shown))
    for written in (page, tables.markdown(grid(text)), on_terminal(text)):
        assert plain(text) in written.encode().decode()
    assert not [c for c in page if not c.isprintable() and c != "\n"]


def test_texts_are_escaped_in_figures_as_well() -> None:
    shown = chart('"><script>alert(1)</script>')
    page = html.page("t", "", [Section("s", [shown])], charts.files(shown))
    assert "<script" not in page


def test_counts_agree_with_their_number() -> None:
    assert [count(n, "trial") for n in (0, 1, 2, 1000)] == [
        "0 trials",
        "1 trial",
        "2 trials",
        "1000 trials",
    ]
