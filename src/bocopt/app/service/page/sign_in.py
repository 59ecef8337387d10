"""Signing in: a browser cannot send the token with every page, so it shows it once.

From then on it sends a cookie, which says until when, and is signed.
"""

import hashlib
import hmac
import re
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import parse_qs

from itsdangerous import BadSignature, Signer

from bocopt.app.page.markup import paragraph, text
from bocopt.app.service.page.document import page

COOKIE = "bocopt"
LASTS = 7 * 86400  # seconds that one stays signed in
_OURS = re.compile(r"/(streams/[A-Za-z0-9._-]{1,64}(/decisions/[0-9]{1,15})?)?")


@dataclass(frozen=True)
class Session:
    """Signed cookies for those who showed the token; not stored: a new token ends all sessions."""

    token: str

    @cached_property
    def _signer(self) -> Signer:
        """Its key is slow to compute: a cookie should not tell the token to who tries many."""
        key = hashlib.scrypt(self.token.encode(), salt=b"bocopt page", n=1 << 14, r=8, p=1)
        return Signer(key, salt="bocopt page", key_derivation="hmac", digest_method=hashlib.sha256)

    def opens(self, token: str) -> bool:
        """Return True if this is the token, compared in constant time."""
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


def sign_in_page(towards: str, message: str = "") -> str:
    """The form; `message` says what was wrong with the last try."""
    content = (
        "<header><h1>Sign in</h1>\n"
        f"{paragraph('This service asks for its token.', css='headline')}</header>\n"
        '<form class="search" method="post" action="/login">'
        f'<input type="hidden" name="next" value="{text(towards)}">'
        '<input type="text" name="user" value="bocopt" autocomplete="username" hidden>'
        '<input type="password" name="token" aria-label="Token" placeholder="token" required '
        'autocomplete="current-password" maxlength="1000"><button>Sign in</button></form>\n'
        f"{paragraph(text(message), css='wrong')}"
        f"{paragraph('It stands in the file that the configuration names.', css='note')}"
    )
    return page("Sign in", content)


def ours(address: str | None) -> str:
    """An address of the page, or the first one: nobody is sent elsewhere.

    >>> ours("/streams/shop"), ours("//elsewhere"), ours(None)
    ('/streams/shop', '/', '/')
    """
    return address if address is not None and _OURS.fullmatch(address) else "/"


def form_of(body: bytes) -> tuple[str, str]:
    """The token and where to go next."""
    try:
        found = parse_qs(body.decode("ascii"), max_num_fields=5)
    except ValueError:
        return "", "/"
    return found.get("token", [""])[0], ours(found.get("next", [None])[0])


def set_cookie(value: str, *, secure: bool) -> str:
    """The header; an empty value ends it."""
    lasts = LASTS if value else 0
    only = "; Secure" if secure else ""
    return f"{COOKIE}={value}; Path=/; Max-Age={lasts}; HttpOnly; SameSite=Strict{only}"
