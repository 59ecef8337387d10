"""Pieces of HTML. Whatever comes from a user passes through `text`."""

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape, unescape
from importlib.resources import files
from string import Template

from bocopt.app.text import plain

Names = Mapping[str, Sequence[str]]  # of columns, by what they are of
_DOCUMENT = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>$title</title>
$head</head>
<body>
$body</body>
</html>
""")


def text(words: str) -> str:
    """Return words escaped, also for attributes; what cannot be seen stands there by its code.

    >>> text('<a title="x">')
    '&lt;a title=&quot;x&quot;&gt;'
    """
    return escape(plain(words))


def name(words: str) -> str:
    """Return a name inside a sentence, which keeps its direction of writing to itself."""
    return f"<bdi>{text(words)}</bdi>"


def unmarked(markup: str) -> str:
    """Return the plain text that a reader sees of markup.

    >>> unmarked(f"{name('<a>')} or <b>b</b>")
    '<a> or b'
    """
    return unescape(re.sub("<[^>]*>", "", markup))


def lines(words: str) -> str:
    """Return escaped text of several lines, each kept as it is."""
    return "\n".join(text(line.expandtabs(4)) for line in words.splitlines())


def paragraph(*sentences: str, css: str = "") -> str:
    """Return a paragraph of sentences, which are markup; empty where there is no sentence."""
    said = " ".join(sentence for sentence in sentences if sentence)
    opened = f'<p class="{css}">' if css else "<p>"
    return f"{opened}{said}</p>\n" if said else ""


def listed(sentences: Iterable[str]) -> str:
    """Return a list of plain sentences, each once."""
    items = "".join(f"<li>{name(sentence)}</li>\n" for sentence in dict.fromkeys(sentences))
    return f"<ul>\n{items}</ul>\n" if items else ""


def table(
    header: Sequence[str], rows: Iterable[Sequence[str]], *, label: str, strong: str = ""
) -> str:
    """Return a table of plain cells, of which the first names a row; it scrolls where too wide."""
    head = "".join(f'<th scope="col">{name(cell)}</th>' for cell in header)
    body = "".join(_row(cells, strong) for cells in rows)
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{text(label)}"><table>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table></div>\n"
    )


def _row(cells: Sequence[str], strong: str) -> str:
    first, *others = cells
    css = ' class="strong"' if strong and first == strong else ""
    rest = "".join(f"<td>{text(cell)}</td>" for cell in others)
    return f'<tr{css}><th scope="row">{name(first)}</th>{rest}</tr>\n'


def section(title: str, *parts: str) -> str:
    """Return a section of parts, empty where it has none; the title is ours."""
    inside = "".join(parts)
    return (
        f'<section id="{anchor(title)}">\n<h2>{title}</h2>\n{inside}</section>\n' if inside else ""
    )


def anchor(title: str) -> str:
    """Return the id of a section by its title.

    >>> anchor("Cost over time")
    'cost-over-time'
    """
    return re.sub(r"\W+", "-", title.lower()).strip("-")


def labels(names: Names, of: str, count: int, otherwise: str) -> list[str]:
    """Return the names of columns where as many are given, or else numbers.

    >>> labels({"z": ["beds"]}, "z", 1, "z"), labels({}, "z", 2, "z")
    (['beds'], ['z 1', 'z 2'])
    """
    given = list(names.get(of, ()))
    return given if len(given) == count else [f"{otherwise} {i}" for i in range(1, count + 1)]


def document(title: str, head: str, body: str) -> str:
    """Return the whole file; all of its parts are markup, whose lines are ended."""
    return _DOCUMENT.substitute(title=title, head=head, body=body)


def style(css: str) -> str:
    """Return a style in the page itself, which then needs no other file."""
    return f"<style>\n{css}</style>\n"


def part(package: str, name: str) -> str:
    """Return a style or script that comes with a package."""
    return files(package).joinpath(name).read_text(encoding="utf-8")
