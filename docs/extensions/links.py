"""After a build: every link inside the site leads to a page that is there, and to a place on it."""

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError


class _Page(HTMLParser):
    """The places of a page, and where its links lead."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.places: set[str] = {""}
        self.links: set[str] = set()
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.places.add(value)
            if name in ("href", "src") and value is not None:
                self.links.add(value)


def broken(site: Path) -> list[str]:
    """The links that lead nowhere, each with its page; what lies outside the site is not asked."""
    pages = {file.resolve(): _Page(file) for file in sorted(site.rglob("*.html"))}
    found = []
    for file, page in pages.items():
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            places = pages[target].places if target in pages else {"", parts.fragment}
            if not target.is_file() or unquote(parts.fragment) not in places:
                found.append(f"{file.relative_to(site.resolve())}: {link}")
    return found


def check(app: Sphinx, failed: Exception | None) -> None:
    wrong = [] if failed or app.builder.format != "html" else broken(Path(app.outdir))
    if wrong:
        raise ExtensionError("These links lead nowhere:\n" + "\n".join(wrong))


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("build-finished", check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
