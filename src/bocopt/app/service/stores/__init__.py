"""Stores of events: SQLite by default, PostgreSQL by one line."""

from pathlib import Path

from bocopt.app.service.stores.store import (
    Configured,
    ConflictError,
    EventRow,
    OutcomeTotals,
    Snapshot,
    Store,
    StoreError,
    StreamRecord,
    StreamSummary,
)

__all__ = [
    "Configured",
    "ConflictError",
    "EventRow",
    "OutcomeTotals",
    "Snapshot",
    "Store",
    "StoreError",
    "StreamRecord",
    "StreamSummary",
    "open_store",
]

_SQLITE, _POSTGRES = "sqlite:///", ("postgresql://", "postgres://")


def open_store(url: str, folder: Path = Path(), *, read_only: bool = False) -> Store:
    """The store at "sqlite:///file" (relative to the folder) or "postgresql://..."."""
    if url.startswith(_POSTGRES):
        from bocopt.app.service.stores.postgres import open_postgres

        return open_postgres(url, read_only=read_only)
    if url.startswith(_SQLITE) and len(url) > len(_SQLITE):
        from bocopt.app.service.stores.sqlite import open_sqlite

        return open_sqlite(folder / url.removeprefix(_SQLITE), read_only=read_only)
    expected = "'sqlite:///FILE' or 'postgresql://USER@HOST/DATABASE'"
    raise ValueError(f"A store must be {expected}. Got {url.partition('@')[2] or url!r} instead.")
