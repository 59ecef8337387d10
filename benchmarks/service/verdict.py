"""The log against what was acknowledged: what is lost, what is doubled, and replay = live state."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from clients import Notes
from subject import Subject, bocopt

from bocopt.app.service.config import Config, load_config
from bocopt.app.service.outcomes import seen_shown
from bocopt.app.service.stores import EventRow, open_store
from bocopt.live.events import from_bytes
from bocopt.live.fold import Corrected, Decided, Observed

_SHOWN = 5


@dataclass(frozen=True)
class Verdict:
    """What was found; `problems` says it in words, and is empty where all is well."""

    events: int
    acknowledged: int
    lost: int
    doubled: int
    streams: int
    same: int  # streams whose live state is the fold of their log, bit for bit
    problems: tuple[str, ...]

    def numbers(self) -> dict[str, int]:
        found = asdict(self)
        del found["problems"]
        return found


def judged(subject: Subject, notes: Sequence[Notes]) -> Verdict:
    """After a graceful stop, when every request has been answered."""
    config = load_config(subject.config)
    logs = logs_of(config)
    rows = [row for log in logs.values() for row in log]
    lost = missing(config, rows, notes)
    doubled = twice(rows, notes)
    wrong = [told for note in notes for told in note.wrong]
    same, told = _replayed(subject, logs)
    acknowledged = sum(len(note.decisions) + len(note.ends) for note in notes)
    problems = [f"lost: {each}" for each in lost] + [f"doubled: {each}" for each in doubled]
    return Verdict(
        events=len(rows),
        acknowledged=acknowledged,
        lost=len(lost),
        doubled=len(doubled),
        streams=len(logs),
        same=same,
        problems=(*problems, *(f"wrong: {each}" for each in wrong), *told),
    )


def logs_of(config: Config) -> dict[str, list[EventRow]]:
    store = open_store(config.store, config.folder, read_only=True)
    try:
        return {each.id: store.tail(each.id) for each in store.streams()}
    finally:
        store.close()


def missing(
    config: Config, rows: Sequence[EventRow], notes: Sequence[Notes], like: str | None = None
) -> list[str]:
    """Acknowledged, and not in the log as it was acknowledged; streams are like themselves."""
    decided: dict[tuple[str, str | None], tuple[object, ...]] = {}
    ended: dict[tuple[str, int], list[Any]] = {}
    problems = {name: kind.problem for name, kind in config.templates.items()}
    for row in rows:
        event = from_bytes(row.body, problems[like or row.stream])
        if isinstance(event, Decided):
            x, z = event.waiting.x.tolist(), event.waiting.decision.solution.z.tolist()
            decided[row.stream, row.key] = (row.decision, x, z)
        else:
            found = seen_shown(event.seen) if isinstance(event, Observed | Corrected) else None
            ended.setdefault((row.stream, row.decision), []).append(found)
    lost = [
        str(each)
        for note in notes
        for each in note.decisions
        if decided.get((each.stream, each.key)) != (each.number, [each.x], list(each.z))
    ]
    for place, told in _ends(notes).items():
        there = ended.get(place, [])
        lost += [
            f"{place}: {each}, the log has {there}"
            for i, each in enumerate(told)
            if there[i : i + 1] != [each]
        ]
    return lost


def _ends(notes: Sequence[Notes]) -> dict[tuple[str, int], list[Any]]:
    """How each decision ended, and what was corrected then, in order: one client has all of it."""
    found: dict[tuple[str, int], list[Any]] = {}
    for note in notes:
        for each in note.ends:
            xi = None if each.xi is None else list(each.xi)
            found.setdefault((each.stream, each.number), []).append(xi)
    return found


def twice(rows: Sequence[EventRow], notes: Sequence[Notes]) -> list[str]:
    """In the log more than once, or in it although nobody asked for it.

    Every request was repeated until it was answered, so the log holds what was answered, and
    nothing else.
    """
    keys = Counter((row.stream, row.key) for row in rows if row.kind == "decision")
    ends = Counter((row.stream, row.decision) for row in rows if row.kind != "decision")
    asked = {(each.stream, each.key) for note in notes for each in note.decisions}
    told = {place: len(some) for place, some in _ends(notes).items()}
    found = [f"{place}" for place, n in keys.items() if n > 1]
    found += [f"{place} was never answered" for place in keys if place not in asked]
    return found + [
        f"{place} ended or was corrected {n} times, and {told.get(place, 0)} were answered"
        for place, n in ends.items()
        if n > told.get(place, 0)
    ]


def _replayed(subject: Subject, logs: dict[str, list[EventRow]]) -> tuple[int, list[str]]:
    """How many streams left a snapshot at their end that is what the log says, bit for bit.

    A server that stops gracefully snapshots what it holds. `doctor` folds the log from the first
    event and compares all bits; `replay --verify` also decides again.
    """
    code, text = bocopt("doctor", subject.config)
    problems = [] if code == 0 else [f"doctor: exit code {code}\n{text}"]
    found = re.findall(r"^(\S+): the snapshot at (\d+) is what the log says\.$", text, re.M)
    ends = {(stream, str(log[-1].seq + 1)) for stream, log in logs.items() if log}
    ends |= {(stream, "") for stream, log in logs.items() if not log}  # nothing to compare
    same = sum(1 for end in ends if end in found or not end[1])
    if same < len(ends):
        problems.append(f"doctor: no snapshot is what the log says at {ends - set(found)}\n{text}")
    code, text = bocopt("replay", subject.config, "--verify")
    if code:
        problems.append(f"replay --verify: exit code {code}\n{text}")
    return same, problems


def some(problems: Sequence[str]) -> str:
    return "\n".join(problems[:_SHOWN])
