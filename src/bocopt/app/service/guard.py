"""Access control by a token; without one, programs and pages of this machine alone may ask.

A browser shows the token once, and then a cookie. A cookie goes along with whatever a page asks
for, so it opens nothing but what is read.
"""

import hmac
import time
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from bocopt.app.service.config import is_loopback
from bocopt.app.service.page.sign_in import COOKIE, Session
from bocopt.app.service.requests import refused

_FREE = ("/healthz", "/readyz")  # for whoever looks after the process
_DOORS = ("/login", "/logout")
_FILES = "/page/"  # style and scripts, which tell nothing


@dataclass(frozen=True)
class Guard:
    """An application that answers only those who may ask."""

    app: ASGIApp
    token: str | None
    session: Session | None = None  # of the same token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refusal(scope) if scope["type"] == "http" else None
        await (refusal or self.app)(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        if scope["path"] in _FREE:
            return None
        if self.token is None:
            return None if _is_local(scope) else refused(403, _ELSEWHERE)
        if scope["path"] in _DOORS:
            return None if _is_own_page(scope) else refused(403, "Ask from a page of this service.")
        if scope["path"].startswith(_FILES) or self._shows_token(scope) or self._signed_in(scope):
            return None
        if _is_looked_at(scope):
            towards = {"Location": f"/login?{urlencode({'next': scope['path']})}"}
            return Response(status_code=303, headers=towards)
        response = refused(401, "Show the token: 'Authorization: Bearer TOKEN'.")
        response.headers["WWW-Authenticate"] = "Bearer"
        return response

    def _shows_token(self, scope: Scope) -> bool:
        shown = _headers(scope, b"authorization")
        wanted = f"Bearer {self.token}".encode()
        return len(shown) == 1 and hmac.compare_digest(shown[0], wanted)

    def _signed_in(self, scope: Scope) -> bool:
        """Only to read: another page may ask in a user's name, but not see the answer."""
        if self.session is None or scope["method"] not in ("GET", "HEAD"):
            return False
        now = time.time()
        return any(self.session.holds(cookie, now) for cookie in _cookies(scope))


_ELSEWHERE = (
    "Without a token, only requests to localhost are answered, and none of other sites' pages."
)


def _is_local(scope: Scope) -> bool:
    """Return True if a request names this machine, and no page of another site sent it.

    A browser on this machine asks for any page that it shows, and a site may claim our address as
    its own. It tells us in these headers, which a page cannot change.
    """
    try:
        hosts = [host.decode("ascii") for host in _headers(scope, b"host")]
        names = [urlsplit(f"//{host}").hostname for host in hosts]
    except ValueError:
        return False
    return all(is_loopback(name or "") for name in names) and _is_own_page(scope)


def _is_own_page(scope: Scope) -> bool:
    """Return True unless a request has the origin of another site."""
    hosts, origins = _headers(scope, b"host"), _headers(scope, b"origin")
    try:
        pages = [urlsplit(origin.decode("ascii")).netloc.encode() for origin in origins]
    except ValueError:
        return False
    return all(page in hosts for page in pages)


def _is_looked_at(scope: Scope) -> bool:
    """Return True if a browser asks for a page, and not a program for data."""
    shown = scope["path"] == "/" or scope["path"].startswith("/streams/")
    wants = b",".join(_headers(scope, b"accept"))
    return shown and scope["method"] in ("GET", "HEAD") and b"text/html" in wants


def _cookies(scope: Scope) -> list[str]:
    """Ours, as far as they could be: the signed end of a session."""
    text = b";".join(_headers(scope, b"cookie")).decode("latin-1")
    pairs = (pair.strip().partition("=") for pair in text.split(";"))
    return [value for name, _, value in pairs if name == COOKIE and value.isascii()]


def _headers(scope: Scope, wanted: bytes) -> list[bytes]:
    return [value for name, value in scope["headers"] if name.lower() == wanted]
