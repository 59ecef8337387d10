"""The documentation site: Sphinx over the Markdown of the repository, `make site` builds it.

Its source folder is the root of the repository, so that every relative link means the same here and
where the repository is browsed.
"""

import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path[:0] = [str(DOCS), str(DOCS.parent / "src")]

project = "bocopt"
html_title = "bocopt"
html_theme = "furo"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "extensions.figures",
    "extensions.links",
    "extensions.public",
    "extensions.sources",
]

root_doc = "docs/index"
include_patterns = [
    "docs/*.md",
    "docs/api/*.rst",
    "docs/examples/*.md",
    "docs/results/*.md",
    "benchmarks/results/*.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
]
exclude_patterns = [".*", "results", "site", "src", "tests"]
templates_path = ["templates"]
html_additional_pages = {"index": "start.html"}  # the root leads to docs/index.html
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}

highlight_language = "none"
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"

myst_heading_anchors = 4

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autosummary_generate = False
toc_object_entries_show_parents = "hide"

nitpicky = True
nitpick_ignore_regex = [  # other projects, whose sites are not asked, and what is not public
    ("py:class", r"(ArrayLike|numpy\.\w.*|collections\.abc\.\w+)"),
    ("py:class", r"(pathlib\.Path|os\.PathLike|ssl\.SSLContext|Axes)"),
    ("py:class", r"bocopt(\.\w+)+"),
]
