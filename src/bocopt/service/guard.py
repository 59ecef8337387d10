"""Who may ask: a bearer token, compared in constant time."""

import hmac
from dataclasses import dataclass

from starlette.types import ASGIApp, Receive, Scope, Send

from bocopt.service.requests import refused

_FREE = ("/healthz", "/readyz")  # for whoever looks after the process


@dataclass(frozen=True)
class Guard:
    """An application that answers only those who show the token; all, where there is none."""

    app: ASGIApp
    token: str | None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._may_enter(scope):
            response = refused(401, "Show the token: 'Authorization: Bearer TOKEN'.")
            response.headers["WWW-Authenticate"] = "Bearer"
            await response(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    def _may_enter(self, scope: Scope) -> bool:
        if self.token is None or scope["path"] in _FREE:
            return True
        shown = [value for name, value in scope["headers"] if name.lower() == b"authorization"]
        wanted = f"Bearer {self.token}".encode()
        return len(shown) == 1 and hmac.compare_digest(shown[0], wanted)
