"""Links to files and folders of the repository lead to pages that show them.

`[loop.py](../src/bocopt/loop.py)` works where the repository is browsed. On the site it would be a
download, or nothing for a folder, so each linked file gets a page with its text, and each linked
folder one with the list of its files.
"""

from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.highlighting import PygmentsBridge
from sphinx.transforms import SphinxTransform

_LANGUAGES = {".py": "python", ".toml": "toml", ".json": "json"}
_FOLDER = "source"


class LinkSources(SphinxTransform):
    """Before Sphinx copies what is linked as a download, or misses what is a folder."""

    default_priority = 5

    def apply(self, **kwargs: Any) -> None:
        for node in [node for node in self.document.findall(nodes.Element) if _is_link(node)]:
            _, path = self.env.relfn2path(node["reftarget"], self.env.docname)
            file, root = Path(path), Path(self.env.srcdir)
            if not file.exists():
                continue  # the missing link is reported by whoever resolves it
            file, root = file.resolve(), root.resolve()
            page = page_of(file.relative_to(root))
            self.env.metadata[self.env.docname].setdefault("sources", set()).add(file)
            uri = self.app.builder.get_relative_uri(self.env.docname, page)
            node.replace_self(nodes.reference("", "", *node.children, internal=True, refuri=uri))


def _is_link(node: nodes.Element) -> bool:
    """Of MyST to something that is no page."""
    kinds = (addnodes.download_reference, addnodes.pending_xref)
    return isinstance(node, kinds) and node["reftype"] == "myst" and node["refdomain"] is None


def page_of(path: Path) -> str:
    return f"{_FOLDER}/{path.as_posix()}"


def show_sources(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """A page for every linked file, linked folder and file in one."""
    root = Path(app.srcdir).resolve()
    linked = {file for data in app.env.metadata.values() for file in data.get("sources", ())}
    inside = {file for folder in linked if folder.is_dir() for file in folder.glob("*.py")}
    for file in sorted(linked | inside):
        path = file.relative_to(root)
        body = _listed(file) if file.is_dir() else _shown(file)
        title = escape(path.as_posix())
        context = {"title": title, "body": f"<h1>{title}</h1>{body}"}
        yield page_of(path), context, "page.html"


def _shown(file: Path) -> str:
    language = _LANGUAGES.get(file.suffix, "none")
    return PygmentsBridge("html").highlight_block(file.read_text(encoding="utf-8"), language)


def _listed(folder: Path) -> str:
    names = sorted(file.name for file in folder.glob("*.py"))
    links = (f'<li><a href="{folder.name}/{name}.html">{name}</a></li>' for name in names)
    return f"<ul>{''.join(links)}</ul>"


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_transform(LinkSources)
    app.connect("html-collect-pages", show_sources)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
