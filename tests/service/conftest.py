"""Stores to test with: a SQLite file, and a PostgreSQL server that is thrown away."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from databases import SCRIPT, empty_schema


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
