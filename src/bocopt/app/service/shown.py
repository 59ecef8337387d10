"""Streams, decisions and events as plain data for JSON: numbers are finite, or null."""

import copy
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bocopt.app.service import compared
from bocopt.app.service.commands import Query, RefusedError
from bocopt.app.service.explain import explanation
from bocopt.app.service.stores import EventRow, OutcomeTotals, Store
from bocopt.app.service.stream_state import StreamState
from bocopt.app.service.stream_template import StreamTemplate
from bocopt.core import Array, Status
from bocopt.guarantees import Certificate
from bocopt.guarantees.certificate import together
from bocopt.live.events import from_bytes
from bocopt.live.fold import Decided, Event, Observed, Taught
from bocopt.state import leaves


def number(value: Any) -> float | None:
    """One that JSON has a form for.

    >>> number(np.float64(2.5)), number(np.inf), number(-0.0)
    (2.5, None, 0.0)
    """
    return float(value) + 0.0 if math.isfinite(value) else None


def numbers(values: Array) -> list[float | None]:
    """Return an array of any shape as a flat list, with None for numbers that are not finite."""
    return [number(value) for value in np.asarray(values, float).ravel()]


def ticket(kind: StreamTemplate, event: Decided, at: float) -> dict[str, Any]:
    """A decision to act on."""
    solution = event.waiting.decision.solution
    status = Status(int(solution.status))
    return {
        "id": event.number,
        "z": dict(zip(kind.names, numbers(solution.z), strict=True)),
        "status": status.name,
        "message": status.message,
        "gap": number(solution.gap),
        "at": at,
    }


def outcome_shown(kind: StreamTemplate, tally: OutcomeTotals) -> dict[str, Any]:
    """Return the cost or reward of a decision, its feasibility and its value in hindsight."""
    sign, word = kind.problem.sense.sign, kind.problem.sense.value
    best = None if tally.hindsight is None else number(sign * tally.hindsight)
    return {
        "id": tally.decision,
        "learned": True,
        word: number(sign * tally.cost),
        "feasible": bool(tally.feasible),
        "hindsight": best,
    }


def event_shown(kind: StreamTemplate, row: EventRow) -> dict[str, Any]:
    """An event of the log."""
    event: Event = from_bytes(row.body, kind.problem)
    if isinstance(event, Taught):
        row_shown = {"x": numbers(event.x), "xi": numbers(event.xi), "at": row.at}
        return {"seq": row.seq, "kind": row.kind, "lesson": event.number} | row_shown
    told: dict[str, Any] = {"seq": row.seq, "kind": row.kind, "decision": row.decision}
    if isinstance(event, Decided):
        told |= {"x": numbers(event.waiting.x)} | ticket(kind, event, row.at)
        del told["id"], told["message"]
    elif isinstance(event, Observed):
        told["xi"] = numbers(event.xi)
    return told | {"at": row.at}


def shown(store: Store, held: StreamState, show: Query) -> Mapping[str, Any]:
    """Return the data that a query asks for; a RefusedError (404) for an unknown decision."""
    if show.what == "summary":
        return summary(held)
    if show.what == "certificates":
        said = [certificate_shown(held.kind, found) for found in certificates(held)]
        sure = {"together": all_together(said)}
        return {"certificates": said} | sure | _compared(store, held)
    assert show.number is not None
    rows = store.about(held.stream, show.number)
    if not rows:
        raise RefusedError(404, f"There is no decision {show.number} of {held.stream!r}.")
    if show.what == "explanation":
        return explanation(store, held, rows[0])
    return {"events": [event_shown(held.kind, row) for row in rows]}


def summary(held: StreamState) -> dict[str, Any]:
    """A stream in a few numbers."""
    tally, problem, live = held.tally, held.kind.problem, held.live
    sign, n = problem.sense.sign, max(tally.n, 1)
    best = tally.hindsights
    return {
        "id": held.stream,
        "case": held.declared.problem,
        "version": held.declared.version,
        "seed": held.declared.seed,
        "events": held.seq,
        "decisions": live.t,
        "outcomes": live.learned,
        "taught": live.taught,
        "open": [{"id": each, "since": held.since[each]} for each in live.open],
        "sense": problem.sense.value,
        "unit": held.kind.unit,
        "confidence": round(1.0 - held.kind.delta, 15),
        "average": number(sign * tally.costs / n) if tally.n else None,
        "average_in_hindsight": number(sign * best / n) if tally.n and best is not None else None,
        "feasible": tally.feasibles / n if tally.n else None,
        "alpha": problem.risk.alpha,
        "dims": problem.dims._asdict(),
        "names": list(held.kind.names),
        "context": list(held.kind.contexts),
        "outcome": list(held.kind.outcomes),
    }


def certificates(held: StreamState) -> list[Certificate]:
    """Return what is guaranteed so far, without comparisons that have not begun."""
    watched = held.live.watched
    if watched is None:
        return []
    monitor = copy.copy(held.kind.fold.monitor)  # it is shared, and holds what it is shown
    monitor.restore(watched)
    trios = zip(monitor.certificates(), watched, monitor.begun(()), strict=True)
    return [found for found, state, begun in trios if not _same(state, begun)]


def _compared(store: Store, held: StreamState) -> dict[str, Any]:
    """Since when shadows are compared; nothing where there are none."""
    if not held.kind.shadows:
        return {}
    since = compared.since(store.configurations(held.stream), held.kind.fold.by)
    return {"compared_since": {"decision": since.decision, "words": since.words}}


def _same(one: Any, other: Any) -> bool:
    pairs = zip(leaves(one), leaves(other), strict=True)
    return all(np.array_equal(left, right, equal_nan=True) for left, right in pairs)


def all_together(said: Sequence[Mapping[str, Any]]) -> str:
    """Return a sentence on the joint confidence of the certificates; empty for fewer than two."""
    claim = [each["delta"] for each in said if each["applicable"] or each["refuted"]]
    return together(claim, "the certificates")


def certificate_shown(kind: StreamTemplate, found: Certificate) -> dict[str, Any]:
    """A certificate in words and numbers."""
    return {
        "name": found.name,
        "words": found.words(kind.problem.sense, kind.unit),
        "claim": found.claim(kind.problem.sense, kind.unit) if found.applicable else None,
        "assumptions": list(found.assumptions),
        "note": found.note,
        "other": found.other or None,
        "applicable": bool(found.applicable),
        "refuted": bool(found.refuted),
        "vacuous": bool(found.vacuous),
        "delta": found.delta,
        "value": number(found.value),
        "bound": number(found.bound),
    }
