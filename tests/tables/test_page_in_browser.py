"""The report of a study in a real browser: nothing sticks out, and values can be read off."""

from pathlib import Path
from typing import Any

import pytest
from browsers import assert_fits, opened_at
from findings_cases import CASES, hostile
from small_panels import bakery

from bocopt.app import backtest_panel, open_case
from bocopt.app.page import page, panel_page

#: Lines that are not drawn from one end of their chart to the other.
CUT = """() => [...document.querySelectorAll(".canvas path.line")].filter(e => {
  const r = e.getBoundingClientRect(), all = e.closest(".canvas").getBoundingClientRect();
  return r.width < 0.97 * all.width || r.bottom < all.top || r.top > all.bottom;
}).length"""
LEGEND = "f => [...f.querySelectorAll('[data-column]')].map(e => e.textContent)"
ROWS = "f => [...f.querySelectorAll('tbody tr')].map(r => [...r.cells].map(c => c.textContent))"


def opened(browser: Any, folder: Path, text: str, **context: Any) -> Any:
    (folder / "report.html").write_text(text, encoding="utf-8")
    return opened_at(browser, (folder / "report.html").as_uri(), **context)


def assert_is_well(tab: Any) -> None:
    """All is drawn, and nothing was asked for but the page itself."""
    assert_fits(tab)
    assert tab.evaluate(CUT) == 0
    assert len(tab.asked) == 1


def test_values_can_be_read_off_by_pointer_and_keyboard(browser: Any, tmp_path: Path) -> None:
    tab = opened(browser, tmp_path, page(CASES["one outcome"].findings()))
    assert_is_well(tab)
    chart = tab.locator("figure.plotted").first
    canvas, rows = chart.locator(".canvas"), chart.locator("tbody tr").count()
    chart.locator("summary").click()
    at_rest = chart.evaluate(LEGEND)
    box = canvas.bounding_box()
    tab.mouse.move(box["x"] + box["width"] / 2, box["y"] + 20)
    middle = chart.evaluate(LEGEND)
    assert chart.evaluate(ROWS)[rows // 2] == middle != at_rest
    tab.mouse.move(0, 0)
    assert chart.evaluate(LEGEND) == at_rest
    canvas.focus()
    canvas.press("Home")
    first = chart.evaluate(LEGEND)
    canvas.press("ArrowRight")
    assert first != chart.evaluate(LEGEND) != at_rest
    assert first[0] == "2023-01-31"
    assert canvas.get_attribute("role") == "slider"
    assert "2023-02-01" in canvas.get_attribute("aria-valuetext")


def test_a_phone_at_night_with_long_names(browser: Any, tmp_path: Path) -> None:
    case = hostile(CASES["one outcome"], "averyveryverylongname" * 6)
    phone = {"viewport": {"width": 390, "height": 800}, "has_touch": True, "color_scheme": "dark"}
    tab = opened(browser, tmp_path, page(case.findings()), **phone)
    assert_is_well(tab)
    chart = tab.locator("figure.plotted").first
    at_rest = chart.evaluate(LEGEND)
    chart.locator(".canvas").tap()
    assert chart.evaluate(LEGEND) != at_rest
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(18, 22, 27)"


def test_without_scripts_and_on_paper(browser: Any, tmp_path: Path) -> None:
    text = page(CASES["newsvendor"].findings())
    paper = {"viewport": {"width": 680, "height": 960}, "color_scheme": "dark"}
    tab = opened(browser, tmp_path, text, java_script_enabled=False, **paper)
    assert tab.locator("figure.plotted .canvas").first.is_visible()
    assert tab.locator("button").count() == 0
    tab.locator("summary").first.click()
    assert tab.locator("figure.plotted tbody tr").first.is_visible()
    printed = opened(browser, tmp_path, text, **paper)
    printed.emulate_media(media="print")
    assert_is_well(printed)
    wide = "[...document.querySelectorAll('table')].filter(e => e.clientWidth > innerWidth).length"
    assert printed.evaluate(wide) == 0
    assert (
        printed.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    )


@pytest.mark.full
def test_the_code_is_copied(browser: Any, tmp_path: Path) -> None:
    f = CASES["three stages"].findings()
    tab = opened(browser, tmp_path, page(f), permissions=["clipboard-read", "clipboard-write"])
    tab.get_by_role("button", name="Copy").click()
    tab.get_by_role("button", name="Copied").wait_for()
    assert tab.evaluate("navigator.clipboard.readText()").strip() == f.code.strip()


@pytest.mark.full
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 768, 1280])
@pytest.mark.parametrize("name", CASES)
def test_every_case_fits_everywhere(
    browser: Any, tmp_path: Path, name: str, width: int, scheme: str
) -> None:
    context = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
    assert_is_well(opened(browser, tmp_path, page(CASES[name].findings()), **context))


@pytest.fixture(scope="module")
def series(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The report of several."""
    return panel_page(backtest_panel(open_case(bakery(tmp_path_factory.mktemp("bakery")))))


def test_the_table_of_all_series_sorts_and_filters(
    browser: Any, series: str, tmp_path: Path
) -> None:
    tab = opened(browser, tmp_path, series)
    assert_is_well(tab)
    area = tab.locator(".sortable")
    names = "a => [...a.querySelectorAll('tbody tr:not([hidden]) th')].map(e => e.textContent)"
    assert area.evaluate(names) == ["South", "a/b c", "late", "north"]
    head = area.locator("thead th").nth(1)
    head.locator("button").click()
    assert area.evaluate(names) == ["north", "South", "late", "a/b c"]  # by decisions
    assert head.get_attribute("aria-sort") == "descending"
    head.locator("button").press("Enter")
    assert area.evaluate(names) == ["a/b c", "late", "South", "north"]
    assert head.get_attribute("aria-sort") == "ascending"
    area.locator("thead th").first.locator("button").click()
    assert area.locator("[aria-sort]").count() == 1
    area.locator("input").fill("TH")
    assert {*area.evaluate(names)} == {"north", "South"}
    assert area.locator("output").text_content() == "2 of 4"


def test_a_report_of_many_series_is_whole_without_scripts_and_on_a_phone(
    browser: Any, series: str, tmp_path: Path
) -> None:
    phone = {"viewport": {"width": 390, "height": 800}, "color_scheme": "dark"}
    assert_is_well(opened(browser, tmp_path, series, **phone))
    tab = opened(browser, tmp_path, series, java_script_enabled=False)
    assert tab.locator(".sortable tbody tr").count() == 4
    assert tab.locator(".sortable input, .sortable button").count() == 0
