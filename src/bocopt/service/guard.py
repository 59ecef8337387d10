"""Who may ask: those who show the token; without one, programs and pages of this machine alone."""

import hmac
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from bocopt.service.config import is_loopback
from bocopt.service.requests import refused

_FREE = ("/healthz", "/readyz")  # for whoever looks after the process


@dataclass(frozen=True)
class Guard:
    """An application that answers only those who may ask."""

    app: ASGIApp
    token: str | None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refusal(scope) if scope["type"] == "http" else None
        await (refusal or self.app)(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        if scope["path"] in _FREE:
            return None
        if self.token is None:
            return None if _is_local(scope) else refused(403, _ELSEWHERE)
        shown = _headers(scope, b"authorization")
        wanted = f"Bearer {self.token}".encode()
        if len(shown) == 1 and hmac.compare_digest(shown[0], wanted):
            return None
        response = refused(401, "Show the token: 'Authorization: Bearer TOKEN'.")
        response.headers["WWW-Authenticate"] = "Bearer"
        return response


_ELSEWHERE = (
    "Without a token, only requests to localhost are answered, and none of other sites' pages."
)


def _is_local(scope: Scope) -> bool:
    """Whether it asks for this machine by name, and not for the page of another site.

    A browser on this machine asks for any page that it shows, and a site may claim our address as
    its own. It tells us in these headers, which a page cannot change.
    """
    hosts, origins = _headers(scope, b"host"), _headers(scope, b"origin")
    try:
        names = [urlsplit(f"//{host.decode('ascii')}").hostname for host in hosts]
        pages = [urlsplit(origin.decode("ascii")).netloc.encode() for origin in origins]
    except ValueError:
        return False
    return all(is_loopback(name or "") for name in names) and all(page in hosts for page in pages)


def _headers(scope: Scope, wanted: bytes) -> list[bytes]:
    return [value for name, value in scope["headers"] if name.lower() == wanted]
