"""The documentation site: every page is found, every link leads on, every public name is shown."""

import importlib
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from extensions import figures
from extensions.docstrings import fields, inline, plain_to_rst, short_types
from extensions.links import broken
from extensions.pages import blocks
from extensions.public import MODULES, homes, names_of
from sphinx.errors import ExtensionError
from sphinx.util.matching import get_matching_files
from test_docs import anchors

import bocopt
from bocopt.core import Dims, Solution

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> set[Path]:
    """What the site is made of, by its own configuration."""
    monkeypatch.setattr(sys, "path", [*sys.path])  # the configuration adds to it
    conf = runpy.run_path(str(DOCS / "conf.py"))
    found = get_matching_files(ROOT, conf["include_patterns"], conf["exclude_patterns"])
    return {ROOT / name for name in found}


def toctrees(page: Path) -> Iterator[list[str]]:
    """The lines of each table of contents of a page."""
    if page.suffix == ".md":
        yield from (b.text.split("\n") for b in blocks(page) if b.language == "{toctree}")
    else:
        text = page.read_text("utf-8")
        found = re.findall(r"^\.\. toctree::\n((?:\n|   .*\n)*)", text, re.MULTILINE)
        yield from ([line.strip() for line in lines.split("\n")] for lines in found)


def listed(page: Path) -> Iterator[Path]:
    """The pages that it puts into the contents."""
    for lines in toctrees(page):
        entries = [line for line in lines if line and not line.startswith(":")]
        for entry in entries:
            name = (page.parent / entry).resolve()
            found = [file for end in (".md", ".rst") for file in name.parent.glob(name.name + end)]
            assert found, f"{page.name} lists {entry}, which is not there"
            yield from found


def test_every_page_is_in_the_contents(pages: set[Path]) -> None:
    assert {found for page in pages for found in listed(page)} == pages - {DOCS / "index.md"}


def test_links_and_anchors_of_every_page_resolve(pages: set[Path]) -> None:
    seen = 0
    for page in sorted(page for page in pages if page.suffix == ".md"):
        for link in re.findall(r"\]\((?!https?:)([^)\s]+)\)", page.read_text("utf-8")):
            name, _, anchor = link.partition("#")
            target = page.parent / name if name else page
            assert target.exists(), f"{page.name}: {link}"
            assert not anchor or anchor in anchors(target), f"{page.name}: {link}"
            seen += 1
    assert seen > 200


def shown() -> dict[str, list[str]]:
    """The names of each module that the API reference shows."""
    found: dict[str, list[str]] = {module: [] for module in MODULES}
    for page in sorted((DOCS / "api").glob("*.rst")):
        groups = r"^\.\. public:: (\S+)\n((?:\n|   .*\n)*)"
        for module, lines in re.findall(groups, page.read_text("utf-8"), re.MULTILINE):
            found[module] += re.sub(r":\w+:", "", lines).split()
    return found


def test_the_reference_shows_every_public_name_once() -> None:
    found = shown()
    for module, names in found.items():
        assert len(set(names)) == len(names), module
        assert set(names) <= set(names_of(module)), module
        if hasattr(importlib.import_module(module), "__all__"):
            assert set(names) == set(names_of(module)), module


def test_the_reference_shows_what_the_package_exports() -> None:
    values = [
        getattr(importlib.import_module(module), name)
        for module, names in shown().items()
        for name in names
    ]
    for name in bocopt.__all__:
        value = getattr(bocopt, name)
        if name != "__version__" and not hasattr(value, "__path__") and callable(value):
            assert any(value is other for other in values), name


def test_text_of_docstrings_keeps_its_meaning() -> None:
    links = {"Agent": "bocopt.live.Agent"}
    assert inline("`Agent` has *one* x_k", links) == ":py:obj:`~bocopt.live.Agent` has *one* x\\_k"
    assert inline("a * b * c, `x | y`, **all**", links) == "a \\* b \\* c, ``x | y``, **all**"


def test_paragraphs_of_docstrings_are_told_apart() -> None:
    text = ["One.", "", "    min c'z", "", "gap    relative", "       to z", "", ">>> 1", "1"]
    assert plain_to_rst(text, {}) == [
        *("One.", "", "::", "", "    min c'z", ""),
        *("- ``gap``: relative", "  to z", "", ">>> 1", "1", ""),
    ]


def test_fields_have_their_comments() -> None:
    rows = fields(Solution, homes())
    assert rows[1] == "- ``z``: (d)"
    assert "- ``status``: () a Status" in rows
    assert fields(Dims, {}) == []


def test_arrays_have_their_names() -> None:
    long = "(x: ~numpy.ndarray[tuple[~typing.Any, ...], ~numpy.dtype[~numpy.float64]])"
    assert short_types(long) == "(x: ~bocopt.core.Array)"
    assert short_types(None) is None


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<p id="here"><a href="b.html#there">b</a><a href="#here">')
    (tmp_path / "b.html").write_text('<img src="no.png"><a href="https://elsewhere.org/x">')
    assert broken(tmp_path) == ["a.html: b.html#there", "b.html: no.png"]


def test_what_a_build_drew_takes_the_place_of_what_the_repository_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn, shown = tmp_path / "energy.svg", tmp_path / "_images" / "energy.svg"
    drawn.write_text("new")
    monkeypatch.setattr(figures, "draw_all", lambda: [(drawn, tmp_path / "page.md")])
    app: Any = SimpleNamespace(builder=SimpleNamespace(format="html"), outdir=tmp_path)
    with pytest.raises(ExtensionError, match=r"energy.svg is drawn, but no page shows it"):
        figures.renew(app, None)
    shown.parent.mkdir()
    shown.write_text("old")
    figures.renew(app, ValueError())
    assert shown.read_text() == "old"
    figures.renew(app, None)
    assert shown.read_text() == "new"


@pytest.mark.full
def test_the_site_builds_without_a_warning(tmp_path: Path, pages: set[Path]) -> None:
    options = ["--fail-on-warning", "--keep-going", "--quiet", "-j", "auto", "-c", str(DOCS)]
    build = ["-m", "sphinx", *options, "-d", str(tmp_path / "read"), str(ROOT)]
    site = tmp_path / "site"
    done = subprocess.run([sys.executable, *build, str(site)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(list(site.rglob("*.html"))) > 150
    links = [re.findall(r"\]\((?!https?:)(\S+\.svg)\)", page.read_text("utf-8")) for page in pages]
    shown = {Path(link).name for found in links for link in found}
    assert len(shown) > 4
    assert {figure.name for figure in (site / "_images").glob("*.svg")} == shown
