"""Stores to test with: a SQLite file, and a PostgreSQL server that is thrown away."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from databases import SCRIPT, empty_schema
from running import Service
from shop import shop
from typed import CONFIG, SHOP

from bocopt.app.case_file import StreamLimits
from bocopt.app.service.stores import Store, open_store


@pytest.fixture(scope="session")
def server() -> Iterator[tuple[str, str]]:
    """A server of this session's own, and its folder; skipped where there is none to start."""
    folder = tempfile.mkdtemp(prefix="bocopt-postgres-")  # not ours alone, as tmp_path is
    try:
        started = subprocess.run([SCRIPT, "start", folder], capture_output=True, text=True)
        if started.returncode:
            pytest.skip(f"no PostgreSQL: {started.stderr.strip()}")
        yield started.stdout.strip(), folder
        subprocess.run([SCRIPT, "stop", folder, "immediate"], check=True)
    finally:
        shutil.rmtree(folder)


@pytest.fixture
def postgres(server: tuple[str, str]) -> str:
    """Its address."""
    return server[0]


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty store."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'log.db'}"
    return empty_schema(request.getfixturevalue("postgres"))


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    opened = open_store(url)
    yield opened
    opened.close()


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Store]:
    opened = open_store("sqlite:///log.db", tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def service(url: str) -> Iterator[Service]:
    with Service(url, shop(names=("left", "right"))) as found:
        yield found


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Service]:
    with Service(
        f"sqlite:///{tmp_path / 'log.db'}", shop(limits=StreamLimits(max_open=3))
    ) as found:
        yield found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(SHOP)
    (tmp_path / "bocopt.toml").write_text(CONFIG)
    return tmp_path
