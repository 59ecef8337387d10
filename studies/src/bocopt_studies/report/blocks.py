"""Blocks of a report: plain data, shown on the terminal, as Markdown, HTML or figures."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bocopt import arguments


class Row(NamedTuple):
    """Cells of a table; a muted row is there for comparison."""

    cells: Sequence[str]
    muted: bool = False


@dataclass(frozen=True)
class Grid:
    """A table. `code` in backticks is allowed in its cells."""

    title: str
    header: Sequence[str]
    rows: Sequence[Row]
    caption: str = ""
    words: bool = False  # cells are sentences rather than numbers


class Curve(NamedTuple):
    """A line over stages and, where there is one, the band around it."""

    label: str
    t: Sequence[float]
    middle: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()


@dataclass(frozen=True)
class Chart:
    """Curves over stages, or over something else; `name` is that of its files."""

    name: str
    title: str
    y_label: str
    curves: Sequence[Curve]
    caption: str = ""
    x_label: str = "stage"
    steps: bool = False  # for histograms: a value holds around its place
    logarithmic: bool = False  # the stages

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}", self.name):
            expected = "a plain file name: up to 100 of A-Z, a-z, 0-9, '_', '-' and '.'"
            raise arguments.wrong("Chart", "name", expected, self.name)


class Link(NamedTuple):
    """Link to a file beside the page: only pages have it."""

    text: str
    target: str


Block = str | Grid | Chart | Link  # a string is a paragraph


@dataclass(frozen=True)
class Section:
    title: str
    blocks: Sequence[Block]
