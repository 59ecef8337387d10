"""A page, read again as a browser would."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

_VOID = ("meta", "path")


@dataclass
class Table:
    header: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)


@dataclass
class Figure(Table):
    title: str = ""
    legend: list[str] = field(default_factory=list)  # the values shown
    columns: list[int] = field(default_factory=list)  # of the table, that they are from


@dataclass
class Parsed:
    source: str
    structure: list[tuple[str, ...]] = field(
        default_factory=list
    )  # elements with attributes' names
    unclosed: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)  # outside of figures
    figures: list[Figure] = field(default_factory=list)
    headline: str = ""
    text: str = ""


def parsed(source: str) -> Parsed:
    reader = _Reader(Parsed(source))
    reader.feed(source)
    reader.close()
    reader.page.unclosed += reader.open
    return reader.page


class _Reader(HTMLParser):
    def __init__(self, page: Parsed) -> None:
        super().__init__()
        self.page = page
        self.open: list[str] = []
        self.words = ""  # since the last cell, entry or title began
        self.table = Table()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.page.structure.append((tag, *given))
        if tag not in _VOID:
            self.open.append(tag)
        if "id" in given:
            self.page.ids.append(given["id"])
        if tag == "a":
            self.page.links.append(given["href"])
        if tag == "figure":
            self.page.figures.append(Figure())
        if tag == "table":
            inside = "figure" in self.open
            self.table = self.page.figures[-1] if inside else Table()
            self.page.tables += [] if inside else [self.table]
        if tag == "tr" and "tbody" in self.open:
            self.table.rows.append([])
        if "data-column" in given:
            self.page.figures[-1].columns.append(int(given["data-column"]))
        if tag in ("th", "td", "b", "p", "figcaption", "pre"):
            self.words = ""

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.page.structure.append((tag, *(name for name, _ in attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.page.unclosed.append(tag)
        if tag in ("th", "td"):
            heads = "thead" in self.open
            (self.table.header if heads else self.table.rows[-1]).append(self.words)
        if tag == "figcaption":
            self.page.figures[-1].title = self.words
        if tag == "b" and self.open[-1] == "li":
            self.page.figures[-1].legend.append(self.words)
        if tag == "p" and not self.page.headline:
            self.page.headline = self.words
        if tag in ("p", "li", "th", "td", "b"):
            self.page.text += " "

    def handle_data(self, data: str) -> None:
        self.words += data
        if not {"script", "style"} & set(self.open):
            self.page.text += data
