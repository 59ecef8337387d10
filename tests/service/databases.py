"""The script that starts PostgreSQL, and places in it that are empty."""

from pathlib import Path
from uuid import uuid4

SCRIPT = Path(__file__).parents[2] / "scripts" / "postgres"


def empty_schema(server: str) -> str:
    """An address in the server, for one test alone."""
    import psycopg

    name = f"test_{uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}".encode())
    return f"{server}?options=-csearch_path%3D{name}"
