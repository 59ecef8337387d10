"""The fenced blocks of a Markdown page, and how its Python is run."""

import contextlib
import io
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple


class Block(NamedTuple):
    """A fenced block of a page."""

    language: str
    text: str
    line: int  # of its first line


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    fences = re.finditer(r"^```(\S*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [Block(f[1], f[2], text[: f.start(2)].count("\n") + 1) for f in fences]


def examples(found: list[Block]) -> Iterator[tuple[Block, str]]:
    """Each block of Python, and the output that the page shows right after it."""
    for block, after in pairwise([*found, Block("", "", 0)]):
        if block.language == "python":
            yield block, after.text if after.language == "text" else ""


def printed(block: Block, page: str, names: dict[str, Any]) -> str:
    """What the code prints; its line numbers are those of the page."""
    code = "\n" * (block.line - 1) + block.text
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(code, page, "exec"), names)
    return output.getvalue()


def run(page: Path) -> list[tuple[int, str, str]]:
    """All of a page's Python in order: the line of each block, what it prints, what is shown."""
    names: dict[str, Any] = {"__name__": "__main__"}
    return [
        (block.line, printed(block, page.name, names), shown)
        for block, shown in examples(blocks(page))
    ]
