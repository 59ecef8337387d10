"""The page in a real browser: what is drawn is there, fits, can be read, and follows the log."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsers import assert_fits, opened_at
from running import Service
from shop import shop
from troubled import KINDS, troubled

from bocopt.app.service.stores import open_store

#: Of each chart: its title, the size of its drawing, and how much of each mark is inside of it.
DRAWN = """() => [...document.querySelectorAll("figure.plotted")].map(figure => {
  const all = figure.querySelector(".canvas svg").getBoundingClientRect();
  const part = e => {
    const r = e.getBoundingClientRect();
    return [Math.min(r.right, all.right) - Math.max(r.left, all.left),
            Math.min(r.bottom, all.bottom) - Math.max(r.top, all.top)];
  };
  const of = kind => [...figure.querySelectorAll(`.canvas svg .${kind}`)].map(part);
  return {title: figure.querySelector("b").textContent, width: all.width, height: all.height,
          lines: of("line"), bands: of("band"), areas: of("area"), bars: of("bar")};
})"""
#: Of each candidate: where its marks and lines are, as shares of their tracks.
MARKS = """() => [...document.querySelectorAll("table.why tr:not(.group)")].slice(1).map(row => ({
  kind: row.className, what: row.cells[0].textContent, beside: row.cells[5].textContent,
  marks: [...row.querySelectorAll(".track")].map(track => {
    const all = track.getBoundingClientRect();
    const at = e => { const r = e?.getBoundingClientRect();
      return r && r.height > 0 ? ((r.left + r.right) / 2 - all.left) / all.width : null; };
    return [at(track.querySelector("circle")), at(track.querySelector(".zero"))];
  })}))"""
NIGHT = "rgb(18, 22, 27)"


def opened(browser: Any, service: Service, path: str, **context: Any) -> Any:
    return opened_at(browser, f"http://127.0.0.1:{service.port}{path}", **context)


def assert_drawn(tab: Any, wanted: dict[str, tuple[int, int, int, int]]) -> None:
    """So many lines, bands, areas and bars; each inside its drawing, wide and high."""
    found = {chart["title"]: chart for chart in tab.evaluate(DRAWN)}
    assert list(found) == list(wanted)
    for title, (lines, bands, areas, bars) in wanted.items():
        chart = found[title]
        assert chart["width"] > 200 or title.startswith("xi")
        assert chart["height"] > 100
        assert (len(chart["lines"]), len(chart["bands"])) == (lines, bands)
        assert len(chart["areas"]) == areas
        assert len(chart["bars"]) == bars
        assert all(w > 0.6 * chart["width"] and h > 0 for w, h in chart["lines"])
        assert all(w > 0.9 * chart["width"] and h > 0 for w, h in chart["bands"])
        assert all(h > 0 for _, h in chart["areas"])
        assert all(w > 0 for w, _ in chart["bars"])


CHARTS = {
    "Average reward": (3, 0, 0, 0),
    "Feasible so far (%)": (1, 1, 0, 0),
    "Arms: whose decision is taken": (0, 0, 2, 0),
    "Members of the model: whose predictions are mixed": (0, 0, 5, 0),
    "xi 1": (0, 1, 0, 10),
    "xi 2": (0, 1, 0, 10),
}
PHONE = {"viewport": {"width": 390, "height": 800}, "has_touch": True, "color_scheme": "dark"}


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    url = f"sqlite:///{tmp_path_factory.mktemp('fleet') / 'log.db'}"
    store = open_store(url)
    troubled(store, streams=3, outcomes=25)
    store.close()
    with Service(url, KINDS[0], more=KINDS[1:]) as service:
        yield service


def test_the_fleet_a_stream_and_a_decision(browser: Any, fleet: Service) -> None:
    for context in ({}, PHONE):
        tab = opened(browser, fleet, "/", **context)
        assert_fits(tab)
        assert tab.locator(".headline").inner_text() == "5 of 11 streams need a person."
        flags = tab.locator(".flag").all_inner_texts()
        assert flags == ["below target", "almost full", "overdue", "shadow is better", "quiet"]
        tab.get_by_role("link", name="ensemble").click()
        assert_drawn(tab, CHARTS)
        assert_fits(tab)
        assert "reward of the decisions taken is at least" in tab.locator(".headline").inner_text()
        assert tab.locator("#shadows h3").all_inner_texts() == ["average"]
        tab.get_by_role("link", name="24", exact=True).click()
        assert_fits(tab)
        assert_why(tab)
        if context:
            night = tab.evaluate("getComputedStyle(document.body).backgroundColor")
            assert night == NIGHT


def assert_why(tab: Any) -> None:
    """z is on its line; what meets the target lies right of that line, and earns less than z."""
    taken, *others = tab.evaluate(MARKS)
    (reward, line), (share, target) = taken["marks"]
    assert reward == pytest.approx(line, abs=0.02)
    assert share >= target - 0.02
    assert {each["what"] for each in others} >= {"one more of left", "arm model", "shadow average"}
    for each in others:
        (reward, line), (share, target) = each["marks"]
        if each["beside"] == "never feasible":
            assert reward is share is None
        elif each["kind"] == "met":
            assert share >= target - 0.02
            assert each["beside"].endswith("more") == (reward > line + 1e-6)
        else:
            assert share < target + 0.02


def test_a_page_follows_the_log_and_keeps_what_is_open(browser: Any, tmp_path: Path) -> None:
    with Service(f"sqlite:///{tmp_path / 'log.db'}", shop()) as service:
        tab = opened(browser, service, "/streams/shop")
        tab.locator(".status.live").wait_for()
        assert tab.locator(".headline").inner_text() == "Nothing was decided yet."
        for i in range(3):
            service.ask("POST", "/v1/streams/shop/decisions", {"x": [0.1 * i]})
            path = f"/v1/streams/shop/decisions/{i}/outcome"
            service.ask("PUT", path, {"xi": [1.0 + 0.1 * i, 1.0]})
        tab.get_by_text("Event 5: outcome 2").wait_for(timeout=5000)
        tab.locator("main[data-seq='5']").wait_for(timeout=10_000)
        assert "is at least" in tab.locator(".headline").inner_text()
        assert tab.locator("table.decided tbody tr").count() == 3
        tab.locator("figure.plotted").first.locator("summary").click()
        service.ask("POST", "/v1/streams/shop/decisions", {"x": [0.4]})
        service.ask("PUT", "/v1/streams/shop/decisions/3/outcome", {"xi": [1.0, 1.0]})
        tab.mouse.move(0, 0)
        tab.locator("h1").click()
        tab.locator("main[data-seq='7']").wait_for(timeout=10_000)
        assert tab.locator("figure.plotted tbody tr").first.is_visible()
        assert tab.locator("figure.plotted").first.locator("tbody tr").count() == 4
        assert tab.locator(".canvas[role=slider]").count() == 2
        assert tab.troubles == []


@pytest.mark.full
def test_signing_in_and_out(browser: Any, tmp_path: Path) -> None:
    token = "a-token-of-sixteen"
    with Service(f"sqlite:///{tmp_path / 'log.db'}", shop(), token) as service:
        tab = opened(browser, service, "/streams/shop")
        assert_fits(tab)
        tab.get_by_label("Token").fill("wrong")
        tab.get_by_role("button", name="Sign in").click()
        tab.get_by_text("That is not the token.").wait_for()
        tab.troubles.clear()  # the browser tells of the 401
        tab.get_by_label("Token").fill(token)
        tab.get_by_role("button", name="Sign in").click()
        tab.locator(".status.live").wait_for()
        assert tab.url.endswith("/streams/shop")
        assert tab.evaluate("document.cookie") == ""
        tab.get_by_role("button", name="Sign out").click()
        tab.get_by_label("Token").wait_for()
        assert tab.troubles == []


@pytest.mark.full
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 768, 1280])
def test_every_page_fits_everywhere(browser: Any, fleet: Service, width: int, scheme: str) -> None:
    context = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
    paths = ["/", "/?q=none", "/streams/ensemble/decisions/24"]
    streams = ["ensemble", "reckless", "timid", "fresh", "late", "full", "quiet", "shop-001"]
    for path in [*paths, *(f"/streams/{stream}" for stream in streams)]:
        tab = opened(browser, fleet, path, **context)
        assert_fits(tab)
        background = tab.evaluate("getComputedStyle(document.body).backgroundColor")
        assert background == (NIGHT if scheme == "dark" else "rgb(255, 255, 255)")
        tab.context.close()
