"""A client of `bocopt serve` in plain requests: whatever is not answered is asked again."""

import time
from uuid import uuid4

import requests

AGAIN = (408, 429, 502, 503, 504, 507)  # it may be otherwise in a while
LOST = (requests.ConnectionError, requests.Timeout)
CUT = (requests.exceptions.ChunkedEncodingError, requests.exceptions.JSONDecodeError)
session = requests.Session()  # with a token: session.headers["Authorization"] = f"Bearer {token}"


def asked(method, url, patience=60, **what):
    end, pause = time.monotonic() + patience, 0.05
    while time.monotonic() < end:
        try:
            answer = session.request(method, url, timeout=35, **what)
            if answer.status_code not in AGAIN:
                answer.raise_for_status()  # refused: answer.json()["error"] says why
                return answer.json()
        except LOST + CUT:
            pass  # it may have been done: the same key, or the same outcome, is safe to repeat
        time.sleep(pause)
        pause = min(2 * pause, 5)
    raise TimeoutError(f"{url} was not answered within {patience} seconds.")


def decide(stream, x):
    key = {"Idempotency-Key": uuid4().hex}  # one for all tries
    return asked("POST", f"{stream}/decisions", json={"x": x}, headers=key)


def observe(stream, number, xi):
    return asked("PUT", f"{stream}/decisions/{number}/outcome", json={"xi": xi})


if __name__ == "__main__":
    shop = "http://127.0.0.1:8321/v1/streams/shop"
    ticket = decide(shop, [0.3])
    print(ticket["z"])
    print(observe(shop, ticket["id"], [1.1, 0.9]))
