"""Requests that mean no good, and of which none can be done: bodies, headers, paths and numbers.

`harmless` is the rule: whatever it says of a request, the service must refuse it, or it only
reads. It knows what a valid body is, and errs on the side of valid.
"""

import json
import math
import random
from collections.abc import Callable
from typing import Any, NamedTuple

_WORDS = [
    "x", "xi", "z", "case", "seed", "id", "__class__", "constructor", "\ud800", "", "X",
    "at_least", "at_most",
]  # fmt: skip
_ODD: list[Any] = [
    None, True, False, 0, -1, 1e308, -1e308, 5e-324, 10**400, 2**63, -(2**63), 1.5, "", "1", "NaN",
    "\x00", "é", "\ud800", "a" * 300, "' OR 1=1 --", "../../etc/passwd", "${jndi:x}", [], {},
]  # fmt: skip
_LITERALS = [b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-1e999", b"1" + b"0" * 5000, b"0x10"]
_IDS = [
    "none", "north ", "NORTH", "north%00", "north%2f..%2fsouth", "..", ".", "%2e%2e%2f%2e%2e",
    "north'--", "north;DROP%20TABLE%20events", "%ff%fe", "north%0d%0aX-Evil:1", "a" * 65, "%",
    "n%C3%B6rth", "{stream}", "*", "north%u0041", "%252e%252e",
]  # fmt: skip
_NUMBERS = ["99999999", "-1", "1e3", "0x1", "9" * 16, "9" * 30, "1.0", "%30%30x", "", "٣"]
_QUERIES = ["", "?after=x", "?after=-9&limit=-9", "?limit=0", "?after=1;DROP", "?%ff=%ff", "?a&a"]
_HEADERS = [
    "Content-Type: text/xml", "Content-Type: application/json; charset=utf-7", "Accept: */*",
    "X-Forwarded-For: 127.0.0.1", "Authorization: Bearer x", "Authorization: ", "Cookie: a=b",
    "Idempotency-Key: k", "Last-Event-ID: x", "Accept-Encoding: gzip, br", "TE: trailers",
    "X-HTTP-Method-Override: DELETE", "Content-Encoding: gzip", "Range: bytes=0-1",
]  # fmt: skip
_BAD_KEYS = ["", " ", "a b", "a" * 201, "é", "\x7f", "a\tb"]


class Nonsense(NamedTuple):
    """One request; `head` has everything but the length."""

    method: str
    path: str
    headers: tuple[str, ...]
    body: bytes

    def sent(self) -> bytes:
        lines = [f"{self.method} {self.path} HTTP/1.1", "Host: localhost", *self.headers]
        lines.append(f"Content-Length: {len(self.body)}")
        return "\r\n".join(lines).encode("utf-8", "surrogateescape") + b"\r\n\r\n" + self.body


def nonsense(rng: random.Random) -> Nonsense:
    """One that cannot be done."""
    for _ in range(100):
        found = rng.choices(_KINDS, _WEIGHTS)[0](rng)
        if harmless(found):
            return found
    raise AssertionError("No harmless request was found in a hundred tries.")


def _decision(rng: random.Random) -> Nonsense:
    path = f"/v1/streams/{rng.choice(['north', 'south', 'east'])}/decisions"
    return Nonsense("POST", path, _headers(rng), _body(rng, "x"))


def _outcome(rng: random.Random) -> Nonsense:
    path = f"/v1/streams/north/decisions/{rng.randrange(4)}/outcome"
    return Nonsense("PUT", path, _headers(rng), _body(rng, "xi"))


def _correction(rng: random.Random) -> Nonsense:
    path = f"/v1/streams/north/decisions/{rng.randrange(4)}/correction"
    return Nonsense("PUT", path, _headers(rng), _body(rng, "xi"))


def _begin(rng: random.Random) -> Nonsense:
    return Nonsense("PUT", "/v1/streams/new", _headers(rng), _body(rng, "case"))


def _path(rng: random.Random) -> Nonsense:
    """A body that would be fine, somewhere that it is not."""
    stream = _twisted(rng, rng.choice(_IDS))
    about = f"decisions/{rng.choice(_NUMBERS)}"
    rest = rng.choice(["decisions", f"{about}/outcome", f"{about}/correction", "log", ""])
    body = rng.choice([b'{"x": [0.5]}', b'{"xi": [1.0, 1.0]}', b""])
    method = rng.choice(["POST", "PUT", "GET", "DELETE", "PATCH", "OPTIONS", "HEAD"])
    query = rng.choice(_QUERIES)
    return Nonsense(method, f"/v1/streams/{stream}/{rest}{query}", _headers(rng), body)


def _number(rng: random.Random) -> Nonsense:
    path = f"/v1/streams/north/decisions/{rng.choice(_NUMBERS)}"
    if rng.random() < 0.5:
        return Nonsense("PUT", f"{path}/outcome", (), b'{"xi": [1.0, 1.0]}')
    return Nonsense(rng.choice(["DELETE", "GET"]), path, _headers(rng), b"")


def _key(rng: random.Random) -> Nonsense:
    header = f"Idempotency-Key: {rng.choice(_BAD_KEYS)}"
    return Nonsense("POST", "/v1/streams/north/decisions", (header,), b'{"x": [0.5]}')


def _read(rng: random.Random) -> Nonsense:
    where = rng.choice(["log", "certificates", f"decisions/{rng.randrange(3)}/explanation"])
    query = rng.choice(_QUERIES)
    return Nonsense("GET", f"/v1/streams/north/{where}{query}", _headers(rng), b"")


_KINDS: list[Callable[[random.Random], Nonsense]]
_KINDS = [_decision, _outcome, _correction, _begin, _path, _number, _key, _read]
_WEIGHTS = [36, 18, 6, 8, 12, 8, 8, 4]


def _headers(rng: random.Random) -> tuple[str, ...]:
    return tuple(rng.sample(_HEADERS, rng.choice([0, 0, 1, 2])))


def _twisted(rng: random.Random, text: str) -> str:
    """Now and then with a character more, fewer or other; none that ends the line."""
    if rng.random() < 0.5 or not text:
        return text
    at = rng.randrange(len(text))
    return text[:at] + rng.choice(["", "%", "~", "%7f", "+", "é", '"']) + text[at + 1 :]


def _body(rng: random.Random, key: str) -> bytes:
    """A structure that is nearly right, or one that was, byte by byte spoilt."""
    pick = rng.random()
    if pick < 0.5:
        return _json(_nearly(rng, key))
    if pick < 0.6:
        return b'{"%s": [%s]}' % (key.encode(), rng.choice(_LITERALS))
    if pick < 0.95:
        xi = rng.choice(
            [[1.0, 0.9], [1.0, {"at_least": 0.9}], [{"at_least": 1, "at_most": 2}, None]]
        )
        right = {"x": [0.5], "xi": xi, "case": "north"}[key]
        return _spoilt(rng, _json({key: right}))
    if pick < 0.96:
        return rng.choice([b"[", b'{"x":']) * rng.randrange(1, 3000)
    return rng.randbytes(rng.randrange(64))


def _json(value: Any) -> bytes:
    return json.dumps(value).encode("utf-8", "surrogatepass")


def _nearly(rng: random.Random, key: str) -> Any:
    values = [_value(rng, 2) for _ in range(rng.randrange(4))]
    found: Any = {key: values if rng.random() < 0.6 else _value(rng, 2)}
    if rng.random() < 0.3:
        found[rng.choice(_WORDS)] = _value(rng, 2)
    return found if rng.random() < 0.9 else _value(rng, 3)


def _value(rng: random.Random, depth: int) -> Any:
    pick = rng.random()
    if depth == 0 or pick < 0.7:
        return rng.choice(_ODD) if rng.random() < 0.7 else rng.gauss(0, 1)
    if pick < 0.85:
        return [_value(rng, depth - 1) for _ in range(rng.randrange(4))]
    return {rng.choice(_WORDS): _value(rng, depth - 1) for _ in range(rng.randrange(3))}


def _spoilt(rng: random.Random, data: bytes) -> bytes:
    spoilt = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(spoilt) + 1)
        if rng.random() < 0.4 or at == len(spoilt):
            spoilt[at:at] = rng.randbytes(rng.randrange(1, 3))
        elif rng.random() < 0.5:
            spoilt[at] ^= 1 << rng.randrange(8)
        else:
            del spoilt[at : at + rng.randrange(1, 4)]
    return bytes(spoilt)


def harmless(found: Nonsense) -> bool:
    """Whether nothing can come of it. Errs on the side of no."""
    if found.path.split("?")[0].endswith("/events"):
        return False  # it would be answered without an end
    if found.method not in ("POST", "PUT") or found.path.startswith(
        "/v1/streams/north/decisions/9"
    ):
        return True
    return not _can_be_done(found)


def _can_be_done(found: Nonsense) -> bool:
    for header in found.headers:
        if header.startswith("Idempotency-Key: ") and header[17:] in _BAD_KEYS:
            return False
    if found.path.endswith(("decisions", "outcome", "correction")):
        known = any(f"/{name}/" in found.path for name in ("north", "south", "east"))
        return known and _is_vector(found.body)
    return found.method == "PUT" and _is_object(found.body)  # it might begin a stream


def _parsed(body: bytes) -> Any:
    if not body.strip():
        return {}
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _is_object(body: bytes) -> bool:
    found = _parsed(body)
    fine = isinstance(found, dict) and set(found) <= {"case", "seed"}
    like = found.get("case") if fine else 0
    return fine and isinstance(like, str | None) and type(found.get("seed")) in (int, type(None))


def _is_vector(body: bytes) -> bool:
    found = _parsed(body)
    if not isinstance(found, dict) or set(found) not in ({"x"}, {"xi"}):
        return False
    values = next(iter(found.values()))
    if not isinstance(values, list) or len(values) != (1 if "x" in found else 2):
        return False
    return all(_is_number(value) or ("xi" in found and _is_bound(value)) for value in values)


def _is_bound(value: Any) -> bool:
    """Whether it may be a number of which bounds or nothing is known."""
    if value is None:
        return True
    ends = isinstance(value, dict) and value and set(value) <= {"at_least", "at_most"}
    return bool(ends) and all(_is_number(end) for end in value.values())


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False
