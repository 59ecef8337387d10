"""Who has signed in on the page: a cookie that says until when, and is signed."""

import hashlib
import hmac
from dataclasses import dataclass
from functools import cached_property

COOKIE = "bocopt"
LASTS = 7 * 86400  # seconds that one stays signed in


@dataclass(frozen=True)
class Session:
    """Of the service with this token. Nothing is stored: another token ends all sessions."""

    token: str

    @cached_property
    def _key(self) -> bytes:
        """Slow to compute: who has a cookie should not find the token by trying many."""
        return hashlib.scrypt(self.token.encode(), salt=b"bocopt page", n=1 << 14, r=8, p=1)

    def opens(self, token: str) -> bool:
        return hmac.compare_digest(token.encode(), self.token.encode())

    def cookie(self, now: float) -> str:
        """For one who has shown the token."""
        until = str(int(now) + LASTS)
        return f"{until}.{self._signed(until)}"

    def holds(self, cookie: str, now: float) -> bool:
        until, _, signed = cookie.partition(".")
        right = hmac.compare_digest(signed.encode(), self._signed(until).encode())
        return right and now < int(until)  # what is signed is a number of ours

    def _signed(self, until: str) -> str:
        return hmac.new(self._key, until.encode(), hashlib.sha256).hexdigest()
