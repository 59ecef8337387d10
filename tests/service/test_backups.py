"""Backups as the page tells to make them, while the service runs; and what it tells to watch."""

import re
import shutil
import sqlite3
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest
from databases import empty_schema
from running import Service
from shop import folded, shop

from bocopt.app.service.stores import EventRow, open_store
from bocopt.client import Client

PAGE = (Path(__file__).parents[2] / "docs" / "service.md").read_text("utf-8")


def typed(path: Path, copy: Path, words: str) -> None:
    if shutil.which("sqlite3") is None:
        pytest.skip("no sqlite3 program")
    assert words.replace(str(copy), "copy.db") in PAGE
    subprocess.run(["sqlite3", path, words], check=True)


def by_backup(path: Path, copy: Path) -> None:
    typed(path, copy, f".backup {copy}")


def by_vacuum(path: Path, copy: Path) -> None:
    typed(path, copy, f"VACUUM INTO '{copy}'")


def in_python(path: Path, copy: Path) -> None:
    with sqlite3.connect(path) as source, sqlite3.connect(copy) as target:
        source.backup(target)
    source.close()
    target.close()


def rows(url: str) -> list[EventRow]:
    store = open_store(url, read_only=True)
    try:
        return list(store.tail("shop"))
    finally:
        store.close()


def restored(copy: str) -> list[EventRow]:
    """The events of a copy, which goes on where it ends."""
    found = rows(copy)
    with Service(copy, shop()) as service, Client(address(service)) as client:
        shown = client.stream("shop")
        assert shown["events"] == len(found)
        assert client.decide("shop", [0.5]).id == shown["decisions"]
        assert folded(service.store, shop()).seq == len(found) + 1
    return found


def address(service: Service) -> str:
    return f"http://127.0.0.1:{service.connected().port}"


def play(service: Service, enough: threading.Event) -> None:
    with Client(address(service)) as client:
        while not enough.is_set():
            ticket = client.decide("shop", [0.3])
            client.observe("shop", ticket.id, [1.0, 1.0])


@pytest.mark.parametrize("backup", [by_backup, by_vacuum, in_python])
def test_a_copy_made_while_it_serves_is_the_log_up_to_some_event(
    tmp_path: Path, backup: Callable[[Path, Path], None]
) -> None:
    path, enough = tmp_path / "log.db", threading.Event()
    with Service(f"sqlite:///{path}", shop()) as service:
        playing = threading.Thread(target=play, args=(service, enough))
        playing.start()
        try:
            while len(rows(f"sqlite:///{path}")) < 20:
                pass
            backup(path, tmp_path / "copy.db")
        finally:
            enough.set()
            playing.join()
    found = restored(f"sqlite:///{tmp_path / 'copy.db'}")
    assert len(found) >= 20
    assert found == rows(f"sqlite:///{path}")[: len(found)]


def test_a_dump_of_postgresql_is_the_log(postgres: str, tmp_path: Path) -> None:
    for program in ("pg_dump", "pg_restore"):
        if shutil.which(program) is None:
            pytest.skip(f"no {program}")
    url, dump = empty_schema(postgres), tmp_path / "copy.dump"
    with Service(url, shop()) as service, Client(address(service)) as client:
        client.observe("shop", client.decide("shop", [0.3]).id, [1.0, 1.0])
        parts = urlsplit(url)
        server, schema = urlunsplit(parts._replace(query="")), url.rpartition("%3D")[2]
        subprocess.run(
            ["pg_dump", f"--schema={schema}", "--format=custom", f"--file={dump}", server],
            check=True,
        )
        client.decide("shop", [0.4])
    before = rows(url)
    subprocess.run(["pg_restore", "--clean", f"--dbname={server}", dump], check=True)
    assert restored(url) == before[:2]
    assert len(before) == 3


def test_what_the_page_watches_is_counted(local: Service) -> None:
    named = set(re.findall(r"\bbocopt_\w+", PAGE))
    assert len(named) >= 6
    local.ask("POST", "/v1/streams/shop/decisions", {"x": [0.3]})
    counted = local.raw("GET", "/metrics")[2].decode()
    assert {name for name in named if not re.search(rf"\b{name}\b", counted)} == set()
