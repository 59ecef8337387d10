"""What is measured: the paper's knapsack, two policies, stores to throw away, and real events."""

import itertools
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np

from bocopt import Ensemble, SampleAverage
from bocopt.app.service.registry import Registry
from bocopt.app.service.stores import EventRow, OutcomeTotals, Store, StreamRecord, open_store
from bocopt.app.service.stream_template import StreamTemplate, template_of
from bocopt.core import Array, Policy
from bocopt.paper import PaperStream
from bocopt_studies.paper.settings import Settings, problem_of

PROBLEM = problem_of(Settings())
POLICIES: dict[str, Policy[Any]] = {
    "SampleAverage": SampleAverage(PROBLEM),
    "Ensemble": Ensemble(PROBLEM),
}
KINDS = {name: template_of(name, PROBLEM, policy) for name, policy in POLICIES.items()}
SCRIPT = Path(__file__).parents[2] / "scripts" / "postgres"
STORES = ("SQLite", "PostgreSQL")

SHOP = """\
from bocopt import Ensemble, SampleAverage
from bocopt_studies.paper.settings import Settings, problem_of

problem = problem_of(Settings())
policies = {"SampleAverage": SampleAverage(problem), "Ensemble": Ensemble(problem)}
SampleAverage, Ensemble = policies["SampleAverage"], policies["Ensemble"]
"""


def data(stages: int, seed: int = 0) -> Iterator[tuple[Array, Array]]:
    """Contexts and outcomes of the paper's stream."""
    return itertools.islice(PaperStream().stages(np.array(seed)), stages)


@contextmanager
def folder() -> Iterator[Path]:
    """On the disk that results are meant for, and gone afterwards."""
    made = Path(tempfile.mkdtemp(prefix="bocopt-scale-"))
    try:
        yield made
    finally:
        shutil.rmtree(made)


class Server(NamedTuple):
    """A PostgreSQL server to throw away."""

    url: str
    pid: int


@contextmanager
def postgres() -> Iterator[Server]:
    """Its settings are the defaults of PostgreSQL, with 16 MB of shared buffers."""
    with folder() as place:
        place.chmod(0o755)  # the server runs as a user of its own
        started = subprocess.run(
            [SCRIPT, "start", place], capture_output=True, text=True, check=True
        )
        try:
            pid = int((place / "data" / "postmaster.pid").read_text().split()[0])
            yield Server(started.stdout.strip(), pid)
        finally:
            subprocess.run([SCRIPT, "stop", place, "immediate"], check=True)


def place_in(server: Server) -> str:
    """The address of an empty store in the server."""
    import psycopg

    name = f"scale_{uuid4().hex}"
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}".encode())
    return f"{server.url}?options=-csearch_path%3D{name}"


@contextmanager
def empty(store: str, server: Server) -> Iterator[tuple[str, Store]]:
    """An empty store of a kind, and its address."""
    with folder() as place:
        url = f"sqlite:///{place / 'log.db'}" if store == "SQLite" else place_in(server)
        with closing(open_store(url)) as opened:
            yield url, opened


def declared(store: Store, kind: StreamTemplate, names: Sequence[str]) -> list[StreamRecord]:
    """Streams that begin now."""
    registry = Registry(store, {kind.name: kind})
    rows = [
        StreamRecord(name, kind.name, kind.version, kind.fingerprint, registry.numeric, 0, 0.0)
        for name in names
    ]
    for at in range(0, len(rows), 10_000):
        store.declare(rows[at : at + 10_000])
    return rows


class Stage(NamedTuple):
    """What one decision and its outcome leave in the log."""

    decision: EventRow
    outcome: EventRow
    tally: OutcomeTotals

    def copied(self, stream: str, n: int) -> tuple[list[EventRow], list[OutcomeTotals]]:
        """As the n-th stage of another stream, with a key of 16 letters."""
        key = f"{stream[-7:]}-{n:08d}"
        rows = [
            self.decision._replace(stream=stream, seq=2 * n, decision=n, key=key),
            self.outcome._replace(stream=stream, seq=2 * n + 1, decision=n),
        ]
        return rows, [self.tally._replace(stream=stream, n=n + 1, decision=n)]
