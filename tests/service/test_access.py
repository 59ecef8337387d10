"""Who may do what is one table: every address is in it, and a role is what it says."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from running import Service
from shop import shop
from starlette.routing import Route

from bocopt.app.service import access
from bocopt.app.service.access import Access, Permission, needed
from bocopt.app.service.page.sign_in import Session

TOKEN, READER = "a-token-of-sixteen", "another-token-that-reads"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with a role that the code does not have: to read, and nothing else."""
    folder: Path = tmp_path_factory.mktemp("roles")
    holders = ((Session(TOKEN), "operator"), (Session(READER), "reader"))
    roles = {**access.ROLES, "reader": frozenset({Permission.READ})}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(access, "ROLES", roles)
        with Service(f"sqlite:///{folder / 'log.db'}", shop(), access=Access(holders)) as found:
            yield found


def _routes(service: Service) -> list[tuple[str, str]]:
    routes = [route for route in service.app.routes if isinstance(route, Route)]
    return [(method, route.path) for route in routes for method in sorted(route.methods or ())]


def test_what_every_address_needs(service: Service) -> None:
    free = {"/healthz": Permission.NOTHING, "/readyz": Permission.NOTHING}
    doors = {"/login": Permission.SIGN_IN, "/logout": Permission.SIGN_IN}
    others = {"/page/{file}": Permission.FILES}
    for method, path in _routes(service):
        expected = (free | doors | others).get(path)
        if expected is None:
            expected = Permission.READ if method in ("GET", "HEAD") else Permission.CHANGE
        assert needed(method, path) is expected, (method, path)
    assert len(_routes(service)) > 20


@pytest.mark.parametrize(
    ("method", "path", "permission"),
    [
        ("POST", "/elsewhere", Permission.CHANGE),
        ("PATCH", "/", Permission.CHANGE),
        ("GET", "/healthz/", Permission.READ),
        ("GET", "/page", Permission.READ),
        ("PUT", "/v1/streams/healthz", Permission.CHANGE),
        ("PUT", "/v1/streams/a\n/readyz", Permission.CHANGE),
    ],
)
def test_what_looks_like_a_free_address_is_none(
    method: str, path: str, permission: Permission
) -> None:
    assert needed(method, path) is permission


def _asked(service: Service, method: str, path: str, token: str) -> tuple[int, bytes]:
    shown = [("Authorization", f"Bearer {token}")]
    status, _, body = service.raw(method, path, b"{}" if method != "GET" else b"", shown)
    return status, body


def test_a_role_may_do_what_it_says_and_no_more(service: Service) -> None:
    number = re.compile(r"\{number\}")
    before = service.store.tail("shop")
    for method, path in _routes(service):
        address = number.sub("0", path.replace("{stream}", "shop"))
        if path.endswith("/events") or method == "HEAD":
            continue
        status, body = _asked(service, method, address, READER)
        if needed(method, path) is Permission.CHANGE:
            assert status == 403, address
            assert b"This token is not for requests that change." in body
            assert READER.encode() not in body
        elif needed(method, path) is not Permission.SIGN_IN:
            assert status not in (401, 403), address
    assert service.store.tail("shop") == before
    assert _asked(service, "PUT", "/v1/streams/shop", TOKEN)[0] in (200, 201)
    assert _asked(service, "PUT", "/v1/streams/shop", "no-token-of-ours-at-all")[0] == 401


def test_a_cookie_never_opens_more_than_reading() -> None:
    session = Session(TOKEN)
    one = Access.of(TOKEN)
    assert one.by_token(TOKEN) == {Permission.READ, Permission.CHANGE}
    assert one.by_cookie(session.cookie(0.0), 1.0) == {Permission.READ}
    assert one.by_cookie(Session(READER).cookie(0.0), 1.0) == set()
    assert Access().by_token("") == set()
    assert not Access().asks_for_token
