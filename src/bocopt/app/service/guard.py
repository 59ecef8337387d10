"""The door of the service: a request is answered if who asks may do what it needs (`access`).

Without a token, programs and pages of this machine alone may ask. A browser shows the token once,
and then a cookie.
"""

import time
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from bocopt.app.service.access import Access, Permission, needed
from bocopt.app.service.config import is_loopback
from bocopt.app.service.page.sign_in import COOKIE
from bocopt.app.service.requests import refused


@dataclass(frozen=True)
class Guard:
    """An application that answers only those who may ask."""

    app: ASGIApp
    access: Access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refusal(scope) if scope["type"] == "http" else None
        await (refusal or self.app)(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        asked = needed(scope["method"], scope["path"])
        if asked is Permission.NOTHING:
            return None
        if not self.access.asks_for_token:
            return None if _is_local(scope) else refused(403, _ELSEWHERE)
        if asked is Permission.FILES:
            return None
        if asked is Permission.SIGN_IN:
            return None if _is_own_page(scope) else refused(403, "Ask from a page of this service.")
        by_token = self._shown(scope)
        if asked in by_token or asked in self._signed_in(scope):
            return None
        if by_token:
            return refused(403, f"This token is not for requests that {asked.value}.")
        return _towards_sign_in(scope)

    def _shown(self, scope: Scope) -> frozenset[Permission]:
        """Return the permissions of the token in the header."""
        shown = _headers(scope, b"authorization")
        if len(shown) != 1 or not shown[0].startswith(b"Bearer "):
            return frozenset()
        return self.access.by_token(shown[0].removeprefix(b"Bearer ").decode("latin-1"))

    def _signed_in(self, scope: Scope) -> frozenset[Permission]:
        """Return the permissions of the cookies."""
        now = time.time()
        allowed = (self.access.by_cookie(cookie, now) for cookie in _cookies(scope))
        return frozenset[Permission]().union(*allowed)


def _towards_sign_in(scope: Scope) -> Response:
    """A browser is sent to the form, a program is told what to show."""
    if _is_looked_at(scope):
        towards = {"Location": f"/login?{urlencode({'next': scope['path']})}"}
        return Response(status_code=303, headers=towards)
    response = refused(401, "Show the token: 'Authorization: Bearer TOKEN'.")
    response.headers["WWW-Authenticate"] = "Bearer"
    return response


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
