"""Signing in on the page: what a cookie opens, and what it does not."""

import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from running import Service
from shop import shop

from bocopt.app.service.page.sign_in import LASTS, Session

TOKEN = "a-token-of-sixteen"
HTML = ("Accept", "text/html,*/*")
FORM = ("Content-Type", "application/x-www-form-urlencoded")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder: Path = tmp_path_factory.mktemp("signed")
    with Service(f"sqlite:///{folder / 'log.db'}", shop(), TOKEN) as found:
        yield found


def sign_in(service: Service, token: str, towards: str = "/", **headers: str) -> tuple[int, str]:
    """The status, and the cookie that was set."""
    body = urlencode({"token": token, "next": towards}).encode()
    status, told, _ = service.raw("POST", "/login", body, [FORM, *headers.items()])
    return status, (told["set-cookie"] or "").partition(";")[0]


def test_the_token_opens_the_page_and_the_cookie_keeps_it_open(service: Service) -> None:
    status, told, _ = service.raw("GET", "/streams/shop", headers=[HTML])
    assert (status, told["location"]) == (303, "/login?next=%2Fstreams%2Fshop")
    status, told, form = service.raw("GET", told["location"], headers=[HTML])
    assert status == 200
    assert b'name="next" value="/streams/shop"' in form
    body = urlencode({"token": TOKEN, "next": "/streams/shop"}).encode()
    status, told, _ = service.raw("POST", "/login", body, [FORM])
    assert (status, told["location"]) == (303, "/streams/shop")
    kept, *flags = told["set-cookie"].split("; ")
    assert {"HttpOnly", "SameSite=Strict", "Path=/", f"Max-Age={LASTS}"} == set(flags)
    assert TOKEN not in kept
    cookie = ("Cookie", f"other=1; {kept}")
    for path in ("/", "/streams/shop", "/v1/streams/shop", "/v1/streams/shop/log", "/metrics"):
        assert service.raw("GET", path, headers=[cookie])[0] == 200
    status, told, _ = service.raw("POST", "/logout", b"", [cookie])
    assert (status, told["location"]) == (303, "/login")
    assert "bocopt=; Path=/; Max-Age=0" in told["set-cookie"]


def test_a_cookie_changes_nothing(service: Service) -> None:
    """Another page may have a browser ask in a user's name."""
    cookie = ("Cookie", sign_in(service, TOKEN)[1])
    for method, path in (
        ("POST", "/v1/streams/shop/decisions"),
        ("PUT", "/v1/streams/north"),
        ("PUT", "/v1/streams/shop/decisions/0/outcome"),
        ("DELETE", "/v1/streams/shop/decisions/0"),
    ):
        assert service.raw(method, path, b'{"x": [0.1]}', [cookie])[0] == 401
    assert service.store.tail("shop") == []


def test_cookies_that_are_not_ours_open_nothing(service: Service) -> None:
    right = sign_in(service, TOKEN)[1].partition("=")[2]
    until, _, signed = right.partition(".")
    later = str(int(until) + 1)
    for wrong in (
        "",
        TOKEN,
        until,
        f"{later}.{signed}",
        f"{until}.{signed[:-1]}",
        f"{until}.{'0' * len(signed)}",
        f".{signed}",
        f"\xe9.{signed}",
        Session("another-token-of-mine").cookie(time.time()),
        Session(TOKEN).cookie(time.time() - LASTS - 1),
    ):
        asked = service.raw("GET", "/v1/streams/shop", headers=[("Cookie", f"bocopt={wrong}")])
        assert asked[0] == 401, wrong
    assert service.raw("GET", "/v1/streams", headers=[("Cookie", f"other={right}")])[0] == 401


def test_wrong_tokens_take_a_while_and_are_counted(service: Service) -> None:
    for wrong in (TOKEN[:-1], "\xe9\u20ac"):
        started = time.perf_counter()
        assert sign_in(service, wrong) == (401, "")
        assert time.perf_counter() - started >= 1.0
    counted = service.raw("GET", "/metrics", headers=[("Authorization", f"Bearer {TOKEN}")])[2]
    assert b'bocopt_sign_ins_total{result="wrong"} 2\n' in counted
    service.front.engine.metrics.count("bocopt_sign_ins_total", '{result="wrong"}', -2)


def test_other_sites_can_neither_sign_in_nor_lead_away(service: Service) -> None:
    assert sign_in(service, TOKEN, Origin="http://elsewhere.example")[0] == 403
    assert sign_in(service, TOKEN, Origin="null")[0] == 403
    assert sign_in(service, TOKEN, Origin=f"http://127.0.0.1:{service.port}")[0] == 303
    for towards in ("//elsewhere.example", "http://elsewhere.example", "/\\elsewhere", "/v1/x\r\n"):
        body = urlencode({"token": TOKEN, "next": towards}).encode()
        assert service.raw("POST", "/login", body, [FORM])[1]["location"] == "/"
    status, _, form = service.raw("GET", '/login?next="><script>', headers=[HTML])
    assert (status, b"<script>" in form) == (200, False)


def test_programs_are_told_and_not_led(service: Service) -> None:
    for path in ("/", "/streams/shop", "/v1/streams"):
        assert service.ask("GET", path)[0] == 401
    assert service.raw("GET", "/v1/streams", headers=[HTML])[0] == 401
    assert service.raw("GET", "/page/page.css")[0] == 200
    assert service.raw("GET", "/page/../http.py")[0] == 404
    assert service.raw("POST", "/login", b"x" * 5000, [FORM])[0] == 413


def test_behind_a_proxy_with_tls_the_cookie_is_for_tls_alone(service: Service) -> None:
    body = urlencode({"token": TOKEN}).encode()
    told = service.raw("POST", "/login", body, [FORM, ("X-Forwarded-Proto", "https")])[1]
    assert told["set-cookie"].endswith("; Secure")
