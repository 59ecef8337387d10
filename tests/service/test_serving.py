"""A real `bocopt serve`, killed and stopped."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import Any

from typed import SHOP, bocopt, play

from bocopt.app.service.stores import open_store


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A real `bocopt serve`, and where it listens."""
    code = "from bocopt.app.cli import app; app()"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "serve", str(folder / "bocopt.toml"), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        address = process.stdout.readline().removeprefix("Listening on ").strip()
        assert process.stdout.readline() == "Ready: 1 streams.\n", process.stderr.read()
        yield process, address
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


def asked(address: str, method: str, path: str, body: Any = None, key: str = "") -> tuple[int, Any]:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{address}{path}", data, method=method)
    if key:
        request.add_header("Idempotency-Key", key)
    try:
        with urllib.request.urlopen(request, timeout=30) as found:
            return found.status, json.load(found)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def test_what_was_answered_survives_a_kill_and_nothing_is_doubled(folder: Path) -> None:
    """Clients repeat what was not answered, by key; the log has each once."""
    answered: dict[str, int] = {}

    def client(me: str, address: str) -> None:
        for i in range(10_000):
            key = f"{me}-{i}"
            try:
                status, ticket = asked(address, "POST", decisions, {"x": [0.1]}, key)
                assert status == 201
                answered[key] = ticket["id"]
                asked(address, "PUT", f"{decisions}/{ticket['id']}/outcome", {"xi": [1.0, 1.1]})
            except (OSError, ValueError, HTTPException):  # killed, perhaps in the middle of it
                return

    decisions = "/v1/streams/shop/decisions"
    with serving(folder) as (process, address):
        who = [threading.Thread(target=client, args=(str(me), address)) for me in range(3)]
        for thread in who:
            thread.start()
        deadline = time.monotonic() + 60
        while len(answered) < 20 and time.monotonic() < deadline:
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        for thread in who:
            thread.join()
    assert len(answered) >= 20
    assert len(set(answered.values())) == len(answered)
    path = str(folder / "bocopt.toml")
    for command in (["doctor", path], ["replay", path, "--verify"]):
        code, output = bocopt(*command)
        assert code == 0, output
    config = folder / "bocopt.toml"
    config.write_text(config.read_text().replace("[service]\n", "[service]\nconfidence = 0.8\n"))
    with serving(folder) as (process, address):
        for key, number in answered.items():
            status, ticket = asked(address, "POST", decisions, {"x": [0.1]}, key)
            assert (status, ticket["id"]) == (200, number)
        events = asked(address, "GET", "/v1/streams/shop")[1]["events"]
        assert asked(address, "GET", "/v1/shadows")[1]["level"] == 0.2
        process.terminate()
        assert process.wait(30) == 0
    store = open_store("sqlite:///bocopt.db", folder, read_only=True)
    assert store.snapshots("shop")[0].seq == events
    store.close()


def test_a_changed_policy_is_refused_with_what_to_do(folder: Path) -> None:
    play(folder, 2)
    (folder / "shop.py").write_text(SHOP.replace("[1, 1]", "[2, 2]"))
    code, output = bocopt("serve", str(folder / "bocopt.toml"))
    assert code == 1
    assert "Stream 'shop' began with another problem or policy than [cases.shop]" in output
    assert "raise its version (it is '1')" in output
