"""Figures are drawn by the code on their page: anew for each site, and into the folder by hand.

`python docs/extensions/figures.py` renews the files beside the pages, which show them where the
repository is browsed. A site shows what its own build drew.
"""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import matplotlib as mpl

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from extensions import pages

DOCS = Path(__file__).parents[1]
PAGES = [*sorted(DOCS.glob("examples/*.md")), DOCS / "sales.md"]
STYLE = Path(__file__).with_suffix(".mplstyle")


def drawn(page: Path, folder: Path) -> list[Path]:
    """The figures that the page's code saves, in the folder; it must print what the page shows."""
    with chdir(folder), mpl.rc_context(fname=STYLE), patch.dict(os.environ, _ALWAYS_THE_SAME):
        mpl.use("agg")
        for line, printed, shown in pages.run(page):
            if printed != shown:
                raise ValueError(f"{page.name}, line {line} prints\n{printed}and shows\n{shown}")
    return sorted(folder.iterdir())


_ALWAYS_THE_SAME = {"SOURCE_DATE_EPOCH": "0"}  # matplotlib writes this time into its files


def draw_all() -> Iterator[tuple[Path, Path]]:
    """Every figure of every page with some, and the page; valid until the next is asked for."""
    for page in PAGES:
        with TemporaryDirectory() as folder:
            yield from ((figure, page) for figure in drawn(page, Path(folder)))


def renew(app: Sphinx, failed: Exception | None) -> None:
    """After the build: what it drew takes the place of what the repository has."""
    if failed or app.builder.format != "html":
        return
    for figure, _ in draw_all():
        shown = Path(app.outdir) / "_images" / figure.name
        if not shown.exists():
            raise ExtensionError(f"{figure.name} is drawn, but no page shows it.")
        shutil.copy(figure, shown)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("build-finished", renew)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    for figure, page in draw_all():
        shutil.copy(figure, page.parent)
