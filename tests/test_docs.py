"""The pages keep their word: code runs and prints what is shown, commands parse, links lead on."""

import re
import shlex
from itertools import pairwise
from pathlib import Path

import pytest
from extensions import pages
from extensions.pages import blocks, examples
from typer.testing import CliRunner

from bocopt import __version__
from bocopt.app.cli import app

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(DOCS.glob("*.md")),
    *sorted(DOCS.glob("examples/*.md")),
]
CHANGELOG = ROOT / "CHANGELOG.md"
EVERY_PAGE = pytest.mark.parametrize(
    "page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix()
)
SHELLS = ("sh", "console")


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.name != "index.md"], ids=lambda page: page.name
)
def test_examples_print_what_the_page_shows(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for line, printed, shown in pages.run(page):
        assert printed == shown, f"line {line}"
    drawn = {file.name for file in tmp_path.glob("*.svg")}
    assert drawn == set(re.findall(r"\]\((\w+\.svg)\)", page.read_text("utf-8")))


def test_the_landing_page_has_the_example_of_the_readme() -> None:
    ours, theirs = (list(examples(blocks(folder))) for folder in (DOCS / "index.md", PAGES[0]))
    assert [(block.text, shown) for block, shown in ours] == [(b.text, s) for b, s in theirs]


@EVERY_PAGE
def test_no_block_goes_unseen(page: Path) -> None:
    fences = re.findall(r"^\s*(?:```|~~~)", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(fences) == 2 * len(blocks(page))


@EVERY_PAGE
def test_output_stands_after_the_code_that_prints_it(page: Path) -> None:
    languages = ["", *(block.language for block in blocks(page))]
    assert {before for before, after in pairwise(languages) if after == "text"} <= {"python"}
    assert set(languages) <= {"", "python", "text", "{toctree}", *SHELLS}


def test_there_are_examples() -> None:
    shown = [bool(shown) for page in PAGES for _, shown in examples(blocks(page))]
    assert len(shown) >= 20
    assert sum(shown) >= 12


def commands() -> list[str]:
    """All of ours that the pages tell a reader to type, in blocks and in running text."""
    found = []
    for page in PAGES:
        lines = [line for b in blocks(page) if b.language in SHELLS for line in b.text.split("\n")]
        inline = re.findall(r"`((?:\.venv/bin/)?bocopt [^`]+|make [^`]+)`", page.read_text("utf-8"))
        found += [re.sub(r"^(\$ )?(\.venv/bin/)?", "", line) for line in [*lines, *inline]]
    return sorted(set(found))


@pytest.mark.parametrize("line", [line for line in commands() if line.startswith("bocopt ")])
def test_commands_exist_and_take_their_options(line: str) -> None:
    words = shlex.split(line, comments=True)[1:]
    assert CliRunner().invoke(app, [*words, "--help"]).exit_code == 0


def test_a_command_that_does_not_exist_is_noticed() -> None:
    for words in (["reproduce", "table9"], ["reproduce", "table1", "--trails", "3"]):
        assert CliRunner().invoke(app, [*words, "--help"]).exit_code == 2


def test_targets_of_make_exist() -> None:
    words = (shlex.split(line, comments=True) for line in commands() if line.startswith("make "))
    wanted = {target for _, *targets in words for target in targets}
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert {"run", "test"} <= wanted <= targets


@pytest.mark.parametrize("page", [*PAGES, CHANGELOG], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for link in re.findall(r"\]\((?!https?:)([^)]+)\)", text):
        name, _, anchor = link.partition("#")
        target = (page.parent / name) if name else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def anchors(page: Path) -> set[str]:
    """Of the headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_changelog_has_this_version() -> None:
    found = re.findall(r"^## \[(.*?)\]", CHANGELOG.read_text(encoding="utf-8"), re.MULTILINE)
    assert found[0] == "Unreleased"
    assert __version__ in found
