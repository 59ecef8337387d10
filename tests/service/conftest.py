"""Stores to test with: a SQLite file, and a PostgreSQL server that is thrown away."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "postgres"


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a server of this session's own; skipped where there is none to start."""
    folder = tempfile.mkdtemp(prefix="bocopt-postgres-")  # not ours alone, as tmp_path is
    try:
        started = subprocess.run([SCRIPT, "start", folder], capture_output=True, text=True)
        if started.returncode:
            pytest.skip(f"no PostgreSQL: {started.stderr.strip()}")
        yield started.stdout.strip()
        subprocess.run([SCRIPT, "stop", folder, "immediate"], check=True)
    finally:
        shutil.rmtree(folder)


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty store."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'log.db'}"
    return empty_schema(request.getfixturevalue("postgres"))


def empty_schema(server: str) -> str:
    import psycopg

    name = f"test_{uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}".encode())
    return f"{server}?options=-csearch_path%3D{name}"
