"""CPU of decisions and outcomes in a worker, what they leave behind, and how a stream comes back.

All in this process, as a worker does it: `Shard.propose` and `Shard.settle`. Commits are apart.
"""

import time
import tracemalloc
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any, NamedTuple

import numpy as np

from bocopt.app.service.commands import Command, Decide, Observe, Reply
from bocopt.app.service.refolding import followed, rebuilt
from bocopt.app.service.shard import CommitResult, Proposal, Shard
from bocopt.app.service.stores import Snapshot, Store, open_store
from bocopt.app.service.stream_cache import StreamCache
from bocopt.app.service.stream_state import StreamState, initial
from bocopt.app.service.stream_template import StreamTemplate
from bocopt.core import Array
from scale.subject import KINDS, Stage, data, declared, folder

OUTCOMES = (10, 100, 1000)
STREAMS = {10: 10, 100: 5, 1000: 1}  # that are played so far
BINS = 20  # of a sample of times: the simulation draws from their means
COPIES = 20  # of a stream in memory
AGAIN = 5  # times that a stream is built


class Played(NamedTuple):
    """A stream after so many outcomes."""

    cpu: dict[str, list[float]]  # seconds: of each decision, of each outcome
    stages: list[Stage]
    held: StreamState
    snapshot: Snapshot


def taken(call: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds, and what it gave."""
    before = time.process_time()
    found = call()
    return time.process_time() - before, found


def played(store: Store, kind: StreamTemplate, stream: str, outcomes: int, seed: int) -> Played:
    declared(store, kind, [stream])
    shard = Shard(store, StreamCache(store, {kind.name: kind}))
    cpu: dict[str, list[float]] = {"decision": [], "outcome": []}
    stages: list[Stage] = []
    for x, xi in data(outcomes, seed):
        number = len(stages)
        spent, asked = _done(shard, store, Decide(stream, x.tolist(), f"key-{number:012d}"))
        cpu["decision"].append(spent)
        spent, told = _done(shard, store, Observe(stream, number, xi.tolist()))
        cpu["outcome"].append(spent)
        stages.append(Stage(asked.rows[0], told.rows[0], told.stages[0]))
    held = shard.cache.state(stream)
    return Played(cpu, stages, held, held.snapshot())


def _done(shard: Shard, store: Store, command: Command) -> tuple[float, Proposal]:
    proposing, proposal = taken(lambda: shard.propose([command], 0.0))
    assert isinstance(proposal.answers[0], Reply), proposal.answers[0]
    store.append(proposal.rows, proposal.snapshots, proposal.stages)
    settling, _ = taken(lambda: shard.settle(CommitResult.KEPT))
    return proposing + settling, proposal


def measured(name: str) -> tuple[dict[str, Any], dict[int, Played]]:
    """Rows of one policy, by outcomes, and a stream of each."""
    rows, streams = {}, {}
    with folder() as place, closing(open_store("sqlite:///log.db", place)) as store:
        for outcomes in OUTCOMES:
            plays = [
                played(store, KINDS[name], f"{outcomes}-{seed}", outcomes, seed)
                for seed in range(STREAMS[outcomes])
            ]
            rows[str(outcomes)] = _row(store, plays)
            streams[outcomes] = plays[0]
    return rows, streams


def _row(store: Store, plays: Sequence[Played]) -> dict[str, Any]:
    half, latest = len(plays[0].stages) // 2, plays[0]
    cpu = {
        what: _sample(np.concatenate([play.cpu[what][half:] for play in plays]))
        for what in ("decision", "outcome")
    }
    from_log = _least(lambda: _folded(store, latest), 1 if half > 100 else AGAIN)
    store.append((), [latest.snapshot])
    return {
        "streams": len(plays),
        **cpu,
        "held_bytes": _held_bytes(store, latest),
        "snapshot_bytes": len(latest.snapshot.state),
        "snapshot_cpu_s": _least(latest.held.snapshot, AGAIN),
        "from_log_cpu_s": from_log,
        "from_snapshot_cpu_s": _least(lambda: _built(store, latest), AGAIN),
    }


def _sample(seconds: Array) -> dict[str, Any]:
    """Its mean, and the means of equal parts of it, from quick to slow."""
    parts = np.array_split(np.sort(seconds), min(BINS, len(seconds)))
    return {
        "n": len(seconds),
        "mean_s": float(seconds.mean()),
        "parts_s": [float(part.mean()) for part in parts],
    }


def _built(store: Store, play: Played) -> StreamState:
    return rebuilt(store, play.held.template, play.held.declared)


def _folded(store: Store, play: Played) -> StreamState:
    """From the log alone: a long one has left snapshots, too."""
    return followed(store, initial(play.held.template, play.held.declared))


def _least(call: Callable[[], Any], times: int) -> float:
    return min(taken(call)[0] for _ in range(times))


def _held_bytes(store: Store, play: Played) -> float:
    """What one more stream in memory takes, as Python and numpy allocate it."""
    _built(store, play)
    tracemalloc.start()
    copies = [_built(store, play) for _ in range(COPIES)]
    found = tracemalloc.get_traced_memory()[0] / len(copies)
    tracemalloc.stop()
    return found
