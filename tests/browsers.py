"""Pages in a real browser: what all of them must stand."""

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

#: Elements that stick out of the window, though nothing around them scrolls.
_STICKS_OUT = """() => [...document.querySelectorAll("body *")]
  .filter(e => !e.parentElement.closest(".wide, pre, details, svg") && e.getClientRects().length)
  .map(e => [e.getBoundingClientRect(), e.outerHTML.slice(0, 80)])
  .filter(([box]) => box.left < -0.5 || box.right > innerWidth + 0.5).map(([, e]) => e)"""
#: Labels of an axis that lie on each other.
_OVERLAPS = """() => [...document.querySelectorAll(".left, .below")].flatMap(axis => {
  const boxes = [...axis.children].map(e => e.getBoundingClientRect()).filter(r => r.width);
  return boxes.filter((a, i) => boxes.some((b, j) => i < j &&
    a.left < b.right && b.left < a.right && a.top < b.bottom - 1 && b.top < a.bottom - 1))
    .map(() => axis.textContent);
})"""
#: Labels that are cut off at the edge of the window.
_CUT = """() => [...document.querySelectorAll(".left text, .below text")]
  .map(e => [e.getBoundingClientRect(), e.textContent])
  .filter(([box]) => box.width && (box.left < -0.5 || box.right > innerWidth + 0.5))
  .map(([, e]) => e)"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A real Chromium; it keeps an event loop, so that other modules are better without it."""
    api: Any = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("there is no Chromium on this machine: scripts/chromium installs it")
    with api.sync_playwright() as play:
        started = play.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()


def opened_at(browser: Any, address: str, **context: Any) -> Any:
    """A tab with a page, which notes what its scripts complain of and whom it asks."""
    tab = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **context}).new_page()
    tab.troubles, tab.asked = [], []
    tab.on("pageerror", lambda error: tab.troubles.append(str(error)))
    tab.on("console", lambda said: tab.troubles.append(said.text))
    tab.on("request", lambda asked: tab.asked.append(asked.url))
    tab.goto(address)
    return tab


def assert_fits(tab: Any) -> None:
    """Nothing sticks out or lies on each other, and no script complained."""
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert tab.evaluate(_STICKS_OUT) == []
    assert tab.evaluate(_OVERLAPS) == []
    assert tab.evaluate(_CUT) == []
    assert tab.troubles == []
