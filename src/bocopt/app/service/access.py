"""Who may do what: the one place where it is decided.

    needed(method, path)     what a request needs: the first row of `NEEDED` that fits
    Access.by_token(shown)   what the holder of a token may do, by its role
    Access.by_cookie(...)    the same for a browser that showed one: no more than to read

A cookie goes along with whatever another page asks for in a user's name. So it opens nothing but
what is read, and that page does not see the answer.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from bocopt.app.service.page.sign_in import Session


class Permission(Enum):
    """A permission that a request needs."""

    NOTHING = "nothing"  # for whoever looks after the process
    FILES = "the files of the page"  # style and scripts, which tell nothing: no token is needed
    SIGN_IN = "sign in"  # no token either, but from a page of this service
    READ = "read"
    CHANGE = "change"


#: Methods, addresses, and what they need: the first that fits. What no row names is a change.
NEEDED: tuple[tuple[str, str, Permission], ...] = (
    (r".*", r"/(healthz|readyz)", Permission.NOTHING),
    (r".*", r"/page/.*", Permission.FILES),
    (r".*", r"/(login|logout)", Permission.SIGN_IN),
    (r"GET|HEAD", r".*", Permission.READ),
)
#: What a role may do. There is one: that of the token in `bocopt.toml`.
ROLES: Mapping[str, frozenset[Permission]] = {
    "operator": frozenset({Permission.READ, Permission.CHANGE}),
}
_NOBODY: frozenset[Permission] = frozenset()
_BY_COOKIE = frozenset({Permission.READ})


def needed(method: str, path: str) -> Permission:
    """Return what a request needs.

    >>> needed("GET", "/v1/streams").value, needed("PUT", "/v1/streams/shop").value
    ('read', 'change')
    """
    for methods, addresses, permission in NEEDED:
        if re.fullmatch(methods, method) and re.fullmatch(addresses, path, re.DOTALL):
            return permission
    return Permission.CHANGE


@dataclass(frozen=True)
class Access:
    """The tokens of a service and their roles. Without any, this machine alone may ask, for all."""

    holders: tuple[tuple[Session, str], ...] = field(default=(), repr=False)  # and the role

    @classmethod
    def of(cls, token: str | None) -> "Access":
        """Return the access of those who show the one token; None: there is none."""
        return cls() if token is None else cls(((Session(token), "operator"),))

    @property
    def asks_for_token(self) -> bool:
        """True if there is a token to be shown."""
        return bool(self.holders)

    def session(self, token: str) -> Session | None:
        """The session that a token opens, if it is one of ours."""
        opened = [session for session, _ in self.holders if session.opens(token)]
        return opened[0] if opened else None

    def by_token(self, shown: str) -> frozenset[Permission]:
        """Return the permissions of who shows a token."""
        opened = [ROLES[role] for session, role in self.holders if session.opens(shown)]
        return opened[0] if opened else _NOBODY

    def by_cookie(self, cookie: str, now: float) -> frozenset[Permission]:
        """Return the permissions of a browser that sends a cookie."""
        roles = [ROLES[role] for session, role in self.holders if session.holds(cookie, now)]
        return roles[0] & _BY_COOKIE if roles else _NOBODY
