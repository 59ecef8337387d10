"""The frame of every page: head, bar, security policy for browsers, style and scripts."""

from functools import cache
from hashlib import sha256
from string import Template

from starlette.responses import Response

from bocopt.app.page.markup import document, name, paragraph, part, text

_POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
)
_SAFE = {
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_FILES: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "page.css": (
        "text/css",
        [
            ("bocopt.app.page", "style.css"),
            ("bocopt.app.page", "page.css"),
            ("bocopt.app.service.page", "service.css"),
        ],
    ),
    "charts.js": ("text/javascript", [("bocopt.app.page", "page.js")]),
    "live.js": ("text/javascript", [("bocopt.app.service.page", "live.js")]),
    "icon.svg": ("image/svg+xml", [("bocopt.app.service.page", "icon.svg")]),
}
_HEAD = Template("""<link rel="icon" href="$icon">
<link rel="stylesheet" href="$style">
<script src="$charts" defer></script>
<script src="$live" defer></script>
""")
_BODY = Template("""<div class="bar"><a class="home" href="/">bocopt</a>$way$leave</div>
<main$data>
$content</main>
""")
_LEAVE = '<form method="post" action="/logout"><button>Sign out</button></form>'


@cache
def _file(file: str) -> tuple[str, bytes] | None:
    """The media type and the content of a file of the page."""
    if file not in _FILES:
        return None
    media, parts = _FILES[file]
    return media, "".join(part(*each) for each in parts).encode()


@cache
def _address(file: str) -> str:
    """One that changes with the content, so that browsers may keep it."""
    found = _file(file)
    assert found is not None
    return f"/page/{file}?{sha256(found[1]).hexdigest()[:12]}"


def file_response(file: str) -> Response | None:
    """Return a style, script or icon for the browser to cache; None if there is no such file."""
    found = _file(file)
    if found is None:
        return None
    kept = {"Cache-Control": "public, max-age=31536000, immutable"}
    return Response(found[1], 200, {**_SAFE, **kept}, media_type=found[0])


def page(
    title: str,
    content: str,
    *,
    way: tuple[tuple[str, str], ...] = (),
    leave: bool = False,
    data: str = "",
) -> str:
    """The whole page; `content` and `data` are markup, `way` leads to it: addresses and words."""
    links = "".join(
        f'<span class="to">/</span><a href="{text(address)}">{name(words)}</a>'
        for address, words in way
    )
    head = _HEAD.substitute(
        icon=_address("icon.svg"),
        style=_address("page.css"),
        charts=_address("charts.js"),
        live=_address("live.js"),
    )
    body = _BODY.substitute(
        way=links,
        leave=_LEAVE if leave else "",
        data=f" {data}" if data else "",
        content=content,
    )
    return document(text(title), head, body)


def html(content: str, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Return a page as a response with security headers, not to be cached."""
    kept = {**_SAFE, "Cache-Control": "no-store", **(headers or {})}
    return Response(content, status, kept, media_type="text/html")


def trouble(status: int, message: str, *, leave: bool) -> Response:
    """Return a page that says what could not be shown, and why."""
    content = f"<h1>{status}</h1>\n{paragraph(text(message))}"
    content += '<p><a href="/">All streams</a></p>\n'
    return html(page(f"{status}", content, leave=leave), status)
