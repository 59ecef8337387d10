"""Plain docstrings as reStructuredText, and the comments of fields as a list."""

import inspect
import re
import textwrap
from collections.abc import Iterator, Mapping
from itertools import groupby

from numpy.typing import ArrayLike
from sphinx.util.typing import stringify_annotation

from bocopt.core import Array, BoolArray, IntArray

_SPAN = re.compile(r"(`[^`]+`|\*\*[^*\s][^*]*\*\*|(?<![\w*])\*[^*\s](?:[^*]*[^*\s])?\*(?![\w*]))")
_FIELD = re.compile(r"^    (\w+): (.+?)  # (.+)$")
_TERM = re.compile(r"(?:\w+ {2,}| {6,})\S")
_NAMES = {
    stringify_annotation(alias, "smart"): name
    for name, alias in {
        "~bocopt.core.Array": Array,
        "~bocopt.core.BoolArray": BoolArray,
        "~bocopt.core.IntArray": IntArray,
        "ArrayLike": ArrayLike,
    }.items()
}


def plain_to_rst(lines: list[str], links: Mapping[str, str]) -> list[str]:
    """Paragraph by paragraph: doctests stay, formulas are shown as they stand, text is escaped."""
    found: list[str] = []
    for blank, paragraph in groupby(lines, key=lambda line: not line.strip()):
        if not blank:
            found += [*_paragraph(list(paragraph), links), ""]
    return found


def _paragraph(lines: list[str], links: Mapping[str, str]) -> Iterator[str]:
    if lines[0].lstrip().startswith(">>>"):
        yield from lines
    elif all(line.startswith("    ") for line in lines):
        yield from ("::", "", *lines)
    elif all(_TERM.match(line) for line in lines):
        yield from _terms(lines, links)
    else:
        yield from (inline(line, links) for line in lines)


def _terms(lines: list[str], links: Mapping[str, str]) -> Iterator[str]:
    """Two columns, parameters and what they mean, as a list."""
    for line in lines:
        name, text = re.split(r"\s{2,}", line, maxsplit=1)
        yield f"- ``{name}``: {inline(text, links)}" if name else f"  {inline(text, links)}"


def inline(text: str, links: Mapping[str, str]) -> str:
    """A line of text: code and emphasis as they are, all else without a meaning.

    >>> inline("`Agent` has *one* x_k * y", {"Agent": "bocopt.live.Agent"})
    ':py:obj:`~bocopt.live.Agent` has *one* x\\\\_k \\\\* y'
    """
    parts = _SPAN.split(text)
    parts[::2] = [re.sub(r"([\\*_|`])", r"\\\1", part) for part in parts[::2]]
    parts[1::2] = [_code(part[1:-1], links) if part[0] == "`" else part for part in parts[1::2]]
    return "".join(parts)


def _code(text: str, links: Mapping[str, str]) -> str:
    return f":py:obj:`~{links[text]}`" if text in links else f"``{text}``"


def fields(record: type, links: Mapping[str, str]) -> list[str]:
    """The fields of a class that have a comment beside them, with it.

    A comment begins with the shape, as everywhere in this library.
    """
    try:
        source = textwrap.dedent(inspect.getsource(record))
    except (OSError, TypeError):
        return []
    found = (_FIELD.match(line) for line in source.splitlines())
    rows = [f"- ``{m[1]}``: {inline(m[3], links)}" for m in found if m]
    return ["", *rows, ""] if rows else []


def short_types(text: str | None) -> str | None:
    """Arrays by the names that the source has for them, and defaults that are made as dots."""
    if text is None:
        return None
    for long, name in _NAMES.items():
        text = text.replace(long, name)
    return text.replace("<factory>", "...")
