"""Is the log whole: its tables, its events, its snapshots, and what should have come by now."""

import math
import time
from collections.abc import Generator, Iterator

from bocopt.app.service.config import Config
from bocopt.app.service.refolding import Walk
from bocopt.app.service.registry import other_scale
from bocopt.app.service.replay import Finding, chosen, rows_of
from bocopt.app.service.stores import OutcomeTotals, Snapshot, Store, StreamRecord
from bocopt.app.service.stream_state import DamagedError, StreamState, initial
from bocopt.live.events import OtherConfigurationError, from_snapshot
from bocopt.state import CheckpointError

_SHOWN = 5  # of many alike


def findings(config: Config, store: Store, stream: str | None) -> Iterator[Finding]:
    """All that was looked at, and what is wrong with it."""
    damage = store.damage()
    yield from (Finding(False, f"the store: {words}") for words in damage)
    if not damage:
        yield Finding(True, "the store: tables and indexes are whole.")
    for declared in chosen(config, store, stream):
        yield from _of_stream(config, store, declared)
    if stream is None:
        for each in store.streams():
            if each.problem not in config.templates:
                words = f"{each.id}: is like {each.problem!r}, which the file does not declare."
                yield Finding(True, words)


def _of_stream(config: Config, store: Store, declared: StreamRecord) -> Iterator[Finding]:
    template = config.templates[declared.problem]
    if (declared.version, declared.fingerprint) != (template.version, template.fingerprint):
        words = "began with another problem or policy than the file declares."
        yield Finding(False, f"{declared.id}: {words}")
    if declared.scale != template.scale:
        yield Finding(False, other_scale(declared, template))
    walk = Walk(store, initial(template, declared))
    left = store.snapshots(declared.id)
    try:
        for row in rows_of(store, declared.id):
            left = yield from _looked_at(walk, left)
            walk.step(row)
        left = yield from _looked_at(walk, left)
    except DamagedError as error:
        yield Finding(False, f"{error} Events after it cannot be folded.")
        return
    state = walk.state
    for seq in (snapshot.seq for snapshot in left):
        yield Finding(False, f"{state.stream}: the snapshot at {seq} is after the end of the log.")
    yield Finding(True, f"{state.stream}: {state.seq} events, which fold without a gap.")
    yield from _sums(store, state)
    yield from _overdue(state)


def _looked_at(walk: Walk, snapshots: list[Snapshot]) -> Generator[Finding, None, list[Snapshot]]:
    """Yield what is found of snapshots that know all events up to here; return the others."""
    here = [each for each in snapshots if max(each.seq, each.as_of) == walk.state.seq]
    for snapshot in here:
        yield _of_snapshot(walk.back(snapshot.seq), snapshot)
    return [each for each in snapshots if each not in here] if here else snapshots


def _of_snapshot(state: StreamState, snapshot: Snapshot) -> Finding:
    where = f"{state.stream}: the snapshot at {snapshot.seq}"
    try:
        from_snapshot(snapshot.state, state.template.fold, state.declared.seed)
    except OtherConfigurationError:
        return Finding(True, f"{where} was made by another configuration, and is not used.")
    except CheckpointError as error:
        return Finding(False, f"{where} is not used: {error} The log is folded instead.")
    if snapshot.state != state.snapshot().state:
        return Finding(True, f"{where} has other bits than the log has here: from another machine?")
    return Finding(True, f"{where} is what the log says.")


def _sums(store: Store, state: StreamState) -> Iterator[Finding]:
    last = store.last_stage(state.stream)
    if (0 if last is None else last.n) != state.totals.n:
        yield Finding(
            False, f"{state.stream}: its sums for charts do not reach the end of the log."
        )
    elif last is not None and not _same_sums(last, state.totals):
        yield Finding(False, f"{state.stream}: its sums for charts are not those of the log.")
    listed = {number for number, _ in store.waiting(state.stream, state.template.limits.max_open)}
    if any(number < state.live.t and number not in state.since for number in listed):
        words = "decisions that have ended are listed as waiting for their outcome."
        yield Finding(False, f"{state.stream}: {words}")


def _same_sums(one: OutcomeTotals, other: OutcomeTotals) -> bool:
    """Return whether sums are the same, but for how another machine rounds."""
    counts = (one.known, one.feasibles) == (other.known, other.feasibles)
    return counts and math.isclose(one.costs, other.costs, rel_tol=1e-6, abs_tol=1e-6)


def _overdue(state: StreamState) -> Iterator[Finding]:
    now = time.time()
    late = state.overdue(now)
    if late:
        some = ", ".join(map(str, late[:_SHOWN]))
        words = f"{len(late)} outcomes are overdue (decision {some}): the service gives them up."
        yield Finding(True, f"{state.stream}: {words}")
    elif state.since:
        oldest = (now - min(state.since.values())) / 3600
        words = f"{len(state.since)} outcomes are waited for, the oldest for {oldest:.1f} hours."
        yield Finding(True, f"{state.stream}: {words}")
