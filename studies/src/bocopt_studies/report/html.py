"""A report as one HTML file that needs nothing else: tables, figures, light and dark, print."""

import re
from collections.abc import Mapping, Sequence
from html import escape
from string import Template

from bocopt.app.page.markup import document, part, style
from bocopt.app.text import plain
from bocopt_studies.report.blocks import Block, Chart, Grid, Link, Row, Section
from bocopt_studies.report.charts import INK, PAPER

_BODY = Template("""<header>
<h1>$title</h1>
<p>$lead</p>
<nav>$links</nav>
</header>
<main>
$sections</main>
""")


def page(title: str, lead: str, sections: Sequence[Section], drawings: Mapping[str, bytes]) -> str:
    """The whole file; `drawings` are the charts' SVG files by name."""
    names = [_anchor(section.title) for section in sections]
    links = [
        f'<a href="#{name}">{_text(section.title)}</a>'
        for name, section in zip(names, sections, strict=True)
    ]
    body = _BODY.substitute(
        title=_text(title),
        lead=_inline(lead),
        links=" ".join(links),
        sections="".join(
            f'<section id="{name}">\n<h2>{_text(section.title)}</h2>\n'
            f"{_blocks(section.blocks, drawings)}</section>\n"
            for name, section in zip(names, sections, strict=True)
        ),
    )
    return document(_text(title), style(part("bocopt.app.page", "style.css")), body)


def _blocks(blocks: Sequence[Block], drawings: Mapping[str, bytes]) -> str:
    parts = []
    for block in blocks:
        match block:
            case str():
                parts.append(f"<p>{_inline(block)}</p>\n")
            case Grid():
                parts.append(_table(block))
            case Chart():
                parts.append(_figure(block, drawings))
            case Link():
                parts.append(f'<p><a href="{_text(block.target)}">{_text(block.text)}</a></p>\n')
    return "".join(parts)


def _table(grid: Grid) -> str:
    def line(row: Row, tag: str) -> str:
        """Return a row as HTML: a heading, then cells in `tag`."""
        first, *others = row.cells
        cells = [f'<th scope="{"col" if tag == "th" else "row"}">{_inline(first)}</th>']
        cells += [f"<{tag}>{_inline(cell)}</{tag}>" for cell in others]
        return f"<tr{' class=muted' if row.muted else ''}>{''.join(cells)}</tr>\n"

    body = "".join(line(row, "td") for row in grid.rows)
    return (
        f'<figure class="table{" words" if grid.words else ""}">\n'
        f"<figcaption><b>{_inline(grid.title)}</b></figcaption>\n"
        f'<div class="wide" tabindex="0"><table>\n<thead>{line(Row(grid.header), "th")}</thead>\n'
        f"<tbody>\n{body}</tbody>\n</table></div>\n{_caption(grid.caption)}</figure>\n"
    )


def _figure(chart: Chart, drawings: Mapping[str, bytes]) -> str:
    return (
        f'<figure class="chart">\n<figcaption><b>{_inline(chart.title)}</b></figcaption>\n'
        f"{_svg(drawings[f'{chart.name}.svg'], chart)}"
        f"{_caption(chart.caption)}</figure>\n"
    )


def _svg(drawing: bytes, chart: Chart) -> str:
    """The drawing itself, in the page's colours, with ids that no other drawing on it has."""
    text = drawing.decode()
    text = text[text.index("<svg") :]
    text = text.replace(INK, "currentColor").replace(PAPER, "none")
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'(\bid="|href="#|url\(#)', rf"\1{chart.name}.", text)
    label = _text(f"{chart.title}: {chart.caption}")
    return text.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)


def _caption(text: str) -> str:
    return f"<p class=note>{_inline(text)}</p>\n" if text else ""


def _inline(text: str) -> str:
    """Escaped text, with `code`."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(plain(text), quote=False))


def _text(text: str) -> str:
    """Escaped text, also for attributes."""
    return escape(plain(text))


def _anchor(title: str) -> str:
    return re.sub(r"\W+", "-", title.lower()).strip("-")
