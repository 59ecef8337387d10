"""Events and snapshots as bytes, and back: a checksum, a version, and arrays with names.

    SHA-256 of all that follows (32 bytes) | format (1 byte) | header and arrays (`state`)

No pickle and no archive. What is damaged, cut short or of another format is refused.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from bocopt.bounds import exactly
from bocopt.core import Bounds, Decision, Problem, Solution
from bocopt.live.fold import Corrected, Decided, Event, Fold, Forgotten, Observed, Taught
from bocopt.live.record import (
    Live,
    Open,
    compact,
    flat_decision,
    flat_open,
    kept,
    read_decision,
    read_open,
    restored,
)
from bocopt.state import (
    Arrays,
    CheckpointError,
    flatten,
    pack,
    read_only,
    rebuild,
    shape_of,
    unpack,
)

_FORMAT = b"\x02"
_BESIDE = "beside"
_SUM = hashlib.sha256().digest_size
_KINDS: Mapping[type, str] = {
    Decided: "decision",
    Observed: "outcome",
    Forgotten: "forgotten",
    Taught: "lesson",
    Corrected: "correction",
}


class OtherConfigurationError(CheckpointError):
    """A snapshot that is sound, and of no use to the policy that decides now."""


def kind_of(event: Event) -> str:
    """Return the name of the event's kind in a log.

    >>> kind_of(Forgotten(3))
    'forgotten'
    """
    return _KINDS[type(event)]


def to_bytes(event: Event) -> bytes:
    """An event for a log."""
    if isinstance(event, Taught):
        return _lesson_bytes(event)
    header: dict[str, Any] = {"kind": kind_of(event), "decision": event.number}
    if isinstance(event, Decided):
        header |= {"by": event.by, "memo": shape_of(event.waiting.decision.memo)}
        header |= {"row": event.row} | _in_part(event)
        return sealed(header, flat_open(event.waiting, "open"))
    return sealed(header, {} if isinstance(event, Forgotten) else _flat_outcome(event.seen))


def _in_part(event: Decided | Taught) -> dict[str, bool]:
    return {"in_part": True} if event.in_part else {}


def _flat_outcome(seen: Bounds) -> Arrays:
    """Return the ends of an outcome, or the one array of one that was seen in full."""
    in_full = np.array_equal(seen.low, seen.high, equal_nan=True)
    return {"xi": seen.low} if in_full else {"low": seen.low, "high": seen.high}


def _lesson_bytes(event: Taught) -> bytes:
    header = {
        "kind": kind_of(event),
        "lesson": event.number,
        "by": event.by,
        "memo": shape_of(event.decision.memo),
        "row": event.row,
        "came": event.came,
        **_in_part(event),
    }
    arrays = {"x": event.x} | _flat_outcome(event.seen)
    return sealed(header, arrays | flat_decision(event.decision, "own"))


def from_bytes(data: bytes, problem: Problem) -> Event:
    """An event of a log, or a CheckpointError."""
    header, arrays = unsealed(data)
    try:
        kind = header["kind"]
        number = header["lesson" if kind == _KINDS[Taught] else "decision"]
        if type(number) is not int or number < 0:
            raise CheckpointError(f"It is about a decision {number!r}.")
        if kind == _KINDS[Taught]:
            return _lesson(number, header, arrays, problem)
        if kind == "decision":
            waiting = read_only_open(read_open(problem, arrays, "open", header["memo"]))
            if flat_open(waiting, "open").keys() != arrays.keys():
                raise CheckpointError("There are arrays that fit nowhere.")
            by, row = str(header["by"]), str(header["row"])
            return Decided(number, waiting, by, row, header.get("in_part", False))
        if kind == "outcome":
            return Observed(number, _outcome(arrays, problem))
        if kind == "correction":
            return Corrected(number, _outcome(arrays, problem))
        if kind == "forgotten":
            return Forgotten(number)
    except (KeyError, TypeError, ValueError) as error:
        why = error if isinstance(error, CheckpointError) else repr(error)
        raise CheckpointError(f"An event does not fit the problem. {why}") from error
    raise CheckpointError(f"There is no event of the kind {kind!r}.")


def _lesson(number: int, header: Mapping[str, Any], arrays: Arrays, problem: Problem) -> Taught:
    own, x = read_decision(problem, arrays, "own", header["memo"]), arrays["x"]
    if x.dtype != np.float64 or x.ndim != 1:
        raise CheckpointError(f"Its context has the shape {x.shape}.")
    seen = _outcome(arrays, problem)
    if {"x"} | _flat_outcome(seen).keys() | flat_decision(own, "own").keys() != arrays.keys():
        raise CheckpointError("There are arrays that fit nowhere.")
    own, by, row = _read_only_decision(own), str(header["by"]), str(header["row"])
    came, in_part = header["came"], header.get("in_part", False)
    return Taught(number, read_only(x), seen, own, by, row, came, in_part)


def _outcome(arrays: Arrays, problem: Problem) -> Bounds:
    if "xi" in arrays:
        seen = exactly(arrays["xi"])
    else:
        seen = Bounds(arrays["low"], arrays["high"])
        if not (seen.low <= seen.high).all():
            raise CheckpointError("The ends of its outcome do not fit.")
    for end in seen:
        if end.dtype != np.float64 or end.shape != (problem.dims.xi,):
            raise CheckpointError(f"Its outcome has the shape {end.shape}.")
    found: Bounds = read_only(seen)
    return found


def read_only_open(waiting: Open) -> Open:
    """Return the open decision with read-only arrays, so that nobody can change what was logged."""
    decision = _read_only_decision(waiting.decision)
    return waiting._replace(x=read_only(waiting.x), decision=decision)


def _read_only_decision(decision: Decision) -> Decision:
    solution, memo = read_only(tuple(decision))
    return Decision(Solution(*solution), memo)


def snapshot_bytes(fold: Fold[Any], live: Live, beside: Any = ()) -> bytes:
    """All that is known, of histories their rows only; a pure function of the events so far.

    `beside` is a state that somebody else folds of the same events.
    """
    header, arrays = kept(live._replace(state=compact(live.state)), {})
    return sealed({"by": fold.by, **header}, arrays | flatten(beside, _BESIDE))


def beside_snapshot(data: bytes, begun: Any) -> Any:
    """Return the state that was kept beside a snapshot, or raise a CheckpointError."""
    try:
        return rebuild(begun, unsealed(data)[1], _BESIDE)
    except (KeyError, TypeError, ValueError) as error:
        why = error if isinstance(error, CheckpointError) else repr(error)
        raise CheckpointError(f"A snapshot does not fit. {why}") from error


def from_snapshot(data: bytes, fold: Fold[Any], seed: int) -> Live:
    """Return the state of an agent from a snapshot, or raise a CheckpointError: it is damaged, or
    of another configuration.
    """
    header, arrays = unsealed(data)
    try:
        if header["by"] != fold.by:
            raise OtherConfigurationError("It belongs to another configuration.")
        begun = fold.begin(seed)._replace(watched=fold.monitor.initial(()))
        if header.get("in_part", False):
            begun = fold.seen_in_part(begun)
        live, _ = restored(header, arrays, begun, fold.problem)
    except OtherConfigurationError:
        raise
    except (KeyError, TypeError, ValueError) as error:
        why = error if isinstance(error, CheckpointError) else repr(error)
        raise CheckpointError(f"A snapshot does not fit. {why}") from error
    return live


def sealed(header: Mapping[str, Any], arrays: Arrays) -> bytes:
    """Return a header and arrays as bytes, with a checksum in front."""
    body = _FORMAT + pack(header, arrays)
    return hashlib.sha256(body).digest() + body


def unsealed(data: bytes) -> tuple[dict[str, Any], Arrays]:
    """The header and the arrays, or a CheckpointError."""
    total, body = data[:_SUM], data[_SUM:]
    if hashlib.sha256(body).digest() != total:
        raise CheckpointError("It is damaged or cut short: its checksum does not match.")
    if body[:1] != _FORMAT:
        raise CheckpointError(f"It has the format {body[:1]!r}; this bocopt reads {_FORMAT!r}.")
    return unpack(body[1:])
