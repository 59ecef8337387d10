"""The log from its first event: as it was logged, or deciding again."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from bocopt.app.service.config import Config
from bocopt.app.service.machine import numeric_fingerprint
from bocopt.app.service.refolding import Walk
from bocopt.app.service.shown import certificates
from bocopt.app.service.stores import EventRow, Store, StreamRecord
from bocopt.app.service.stream_state import DamagedError, StreamState, initial, logged
from bocopt.app.text import count
from bocopt.live.events import to_bytes
from bocopt.live.fold import Decided
from bocopt.state import CheckpointError

_AT_ONCE = 1000


class Finding(NamedTuple):
    """Something to tell, and whether it is as it should be."""

    fine: bool
    words: str


class _Checked(NamedTuple):
    """Decisions that were taken again."""

    same_bits: int = 0
    same_z: int = 0
    others: tuple[int, ...] = ()
    foreign: int = 0  # by another configuration: there is nothing to compare


def chosen(config: Config, store: Store, stream: str | None) -> list[StreamRecord]:
    """The streams that are meant; a ValueError where there is no such one."""
    found = [each for each in store.streams() if stream in (None, each.id)]
    if stream is not None and not found:
        raise ValueError(f"There is no stream {stream!r} in {config.store}.")
    return [each for each in found if each.problem in config.templates]


def replayed(config: Config, store: Store, stream: str | None, verify: bool) -> Iterator[Finding]:
    """Yield for each stream its state at the end, and whether decisions come out the same."""
    for declared in chosen(config, store, stream):
        walk = Walk(store, initial(config.templates[declared.problem], declared))
        checked, corrections = _Checked(), 0
        try:
            for row in rows_of(store, declared.id):
                if verify and row.kind == "decision":
                    checked = _decided_again(walk.state, row, checked)
                corrections += row.kind == "correction"
                walk.step(row)
        except DamagedError as error:
            yield Finding(False, str(error))
            continue
        yield from _summed(walk.state, corrections)
        if verify:
            yield _verdict(declared, checked)


def rows_of(store: Store, stream: str) -> Iterator[EventRow]:
    """All events of a stream, a part of them in memory."""
    after = -1
    while rows := store.tail(stream, after, _AT_ONCE):
        yield from rows
        after = rows[-1].seq


def _decided_again(state: StreamState, row: EventRow, checked: _Checked) -> _Checked:
    fold = state.template.fold
    try:
        event = logged(row, state)
    except CheckpointError:
        return checked  # folding it says what is wrong with it
    assert isinstance(event, Decided)
    if event.by != fold.by:
        return checked._replace(foreign=checked.foreign + 1)
    again = fold.decide(state.live, event.waiting.x)
    if to_bytes(again) == row.body:
        return checked._replace(same_bits=checked.same_bits + 1)
    z, now = (each.waiting.decision.solution.z for each in (event, again))
    if np.array_equal(z, now):
        return checked._replace(same_z=checked.same_z + 1)
    return checked._replace(others=(*checked.others, row.decision))


def _verdict(declared: StreamRecord, checked: _Checked) -> Finding:
    here = declared.numeric == numeric_fingerprint()
    total = checked.same_bits + checked.same_z + len(checked.others)
    words = f"  decided again: {checked.same_bits} of {total} bit for bit"
    if checked.same_z:
        where = "on this machine, where bits should be the same" if here else "on another machine"
        words += f", {checked.same_z} with the same z ({where})"
    if checked.others:
        some = ", ".join(map(str, checked.others[:5]))
        words += f", {len(checked.others)} with another z (decision {some})"
    if checked.foreign:
        words += f"; {checked.foreign} were taken by another configuration"
    return Finding(not (checked.others or (here and checked.same_z)), words + ".")


def _summed(state: StreamState, corrections: int) -> Iterator[Finding]:
    live, sense, unit = state.live, state.template.problem.sense, state.template.unit
    many = f"{state.seq} events, {live.t} decisions, {live.learned} outcomes, {len(live.open)} open"
    many += f"; {count(live.taught, 'lesson')}" if live.taught else ""
    many += f"; {count(corrections, 'correction')}" if corrections else ""
    many += "."
    yield Finding(True, f"{state.stream}: {many}")
    for found in certificates(state):
        yield Finding(True, f"  {found.words(sense, unit)}")
