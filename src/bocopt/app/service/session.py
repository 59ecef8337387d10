"""Who has signed in on the page: a cookie that says until when, and is signed."""

import hashlib
import hmac
from dataclasses import dataclass
from functools import cached_property

from itsdangerous import BadSignature, Signer

COOKIE = "bocopt"
LASTS = 7 * 86400  # seconds that one stays signed in


@dataclass(frozen=True)
class Session:
    """Of the service with this token. Nothing is stored: another token ends all sessions."""

    token: str

    @cached_property
    def _signer(self) -> Signer:
        """Its key is slow to compute: a cookie should not tell the token to who tries many."""
        key = hashlib.scrypt(self.token.encode(), salt=b"bocopt page", n=1 << 14, r=8, p=1)
        return Signer(key, salt="bocopt page", key_derivation="hmac", digest_method=hashlib.sha256)

    def opens(self, token: str) -> bool:
        return hmac.compare_digest(token.encode(), self.token.encode())

    def cookie(self, now: float) -> str:
        """The cookie for one who has shown the token."""
        return self._signer.sign(str(int(now) + LASTS)).decode()

    def holds(self, cookie: str, now: float) -> bool:
        """True if it was signed with this token, and is not over."""
        try:
            until = self._signer.unsign(cookie)
        except BadSignature:
            return False
        return now < int(until)  # what is signed is a number of ours
