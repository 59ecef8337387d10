"""Streams, decisions and events as plain data for JSON: numbers are finite, or null."""

import copy
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bocopt.app.service import compared
from bocopt.app.service.commands import Query, RefusedError
from bocopt.app.service.explain import explanation
from bocopt.app.service.outcomes import seen_shown
from bocopt.app.service.stores import EventRow, OutcomeTotals, Store
from bocopt.app.service.stream_state import StreamState
from bocopt.app.service.stream_template import StreamTemplate
from bocopt.app.service.summaries import read, sales_questions
from bocopt.core import Array, Status
from bocopt.guarantees import Certificate
from bocopt.guarantees.phrases import together
from bocopt.live.events import from_bytes
from bocopt.live.fold import Corrected, Decided, Event, Observed, Taught
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


def ticket(template: StreamTemplate, event: Decided, at: float) -> dict[str, Any]:
    """A decision to act on."""
    solution = event.waiting.decision.solution
    status = Status(int(solution.status))
    return {
        "id": event.number,
        "z": dict(zip(template.names, numbers(solution.z), strict=True)),
        "status": status.name,
        "message": status.message,
        "gap": number(solution.gap),
        "at": at,
    }


def outcome_shown(template: StreamTemplate, totals: OutcomeTotals) -> dict[str, Any]:
    """Return the cost or reward of a decision, its feasibility and its value in hindsight.

    All of it is null where a part of the outcome was seen.
    """
    sign, word = template.problem.sense.sign, template.problem.sense.value
    return {
        "id": totals.decision,
        "learned": True,
        word: None if totals.cost is None else number(sign * totals.cost),
        "feasible": None if totals.feasible is None else bool(totals.feasible),
        "hindsight": None if totals.hindsight is None else number(sign * totals.hindsight),
    }


def event_shown(template: StreamTemplate, row: EventRow) -> dict[str, Any]:
    """An event of the log."""
    event: Event = from_bytes(row.body, template.problem)
    if isinstance(event, Taught):
        never = bool(np.isnan(event.seen.low).any())  # came an outcome of it
        xi = [None] * len(event.seen.low) if never else seen_shown(event.seen)
        row_shown = {"x": numbers(event.x), "xi": xi, "at": row.at}
        return {"seq": row.seq, "kind": row.kind, "lesson": event.number} | row_shown
    event_shown: dict[str, Any] = {"seq": row.seq, "kind": row.kind, "decision": row.decision}
    if isinstance(event, Decided):
        event_shown |= {"x": numbers(event.waiting.x)} | ticket(template, event, row.at)
        del event_shown["id"], event_shown["message"]
    elif isinstance(event, Observed | Corrected):
        event_shown["xi"] = seen_shown(event.seen)
    return event_shown | {"at": row.at}


def shown(store: Store, state: StreamState, show: Query) -> Mapping[str, Any]:
    """Return the data that a query asks for; a RefusedError (404) for an unknown decision."""
    if show.what == "summary":
        return summary(state)
    if show.what == "certificates":
        said = [certificate_shown(state.template, found) for found in certificates(state)]
        sure = {"together": all_together(said)}
        return {"certificates": said} | sure | _compared(store, state)
    assert show.number is not None
    rows = store.about(state.stream, show.number)
    if not rows:
        raise RefusedError(404, f"There is no decision {show.number} of {state.stream!r}.")
    if show.what == "explanation":
        return explanation(store, state, rows[0])
    return {"events": [event_shown(state.template, row) for row in rows]}


def summary(state: StreamState) -> dict[str, Any]:
    """A stream in a few numbers."""
    totals, problem, live = state.totals, state.template.problem, state.live
    sign, known = problem.sense.sign, totals.known
    best = totals.hindsights
    return {
        "id": state.stream,
        "case": state.declared.problem,
        "version": state.declared.version,
        "seed": state.declared.seed,
        "events": state.seq,
        "decisions": live.t,
        "outcomes": live.learned,
        "seen_in_part": totals.n - known,
        "taught": live.taught,
        "open": [{"id": each, "since": state.since[each]} for each in live.open],
        "sense": problem.sense.value,
        "unit": state.template.unit,
        "confidence": round(1.0 - state.template.delta, 15),
        "average": number(sign * totals.costs / known) if known else None,
        "average_in_hindsight": number(sign * best / known) if known and best is not None else None,
        "feasible": totals.feasibles / known if known else None,
        "alpha": problem.risk.alpha,
        "dims": problem.dims._asdict(),
        "names": list(state.template.names),
        "context": list(state.template.contexts),
        "outcome": list(state.template.outcomes),
        "concerns": sales_questions(state.template.outcomes, read(totals.told)),
    }


def certificates(state: StreamState) -> list[Certificate]:
    """Return what is guaranteed so far, without comparisons that have not begun."""
    watched = state.live.watched
    if watched is None:
        return []
    monitor = copy.copy(state.template.fold.monitor)  # it is shared, and holds what it is shown
    monitor.restore(watched)
    trios = zip(monitor.certificates(), watched, monitor.initial(()), strict=True)
    return [found for found, state, begun in trios if not _same(state, begun)]


def _compared(store: Store, state: StreamState) -> dict[str, Any]:
    """Since when shadows are compared; nothing where there are none."""
    if not state.template.shadows:
        return {}
    since = compared.since(store.configurations(state.stream), state.template.fold.by)
    return {"compared_since": {"decision": since.decision, "words": since.words}}


def _same(one: Any, other: Any) -> bool:
    pairs = zip(leaves(one), leaves(other), strict=True)
    return all(np.array_equal(left, right, equal_nan=True) for left, right in pairs)


def all_together(said: Sequence[Mapping[str, Any]]) -> str:
    """Return a sentence on the joint confidence of the certificates; empty for fewer than two."""
    claim = [each["delta"] for each in said if each["applicable"] or each["refuted"]]
    return together(claim, "the certificates")


def certificate_shown(template: StreamTemplate, found: Certificate) -> dict[str, Any]:
    """A certificate in words and numbers; of what was seen in part, between what its value was."""
    in_full = bool(np.isnan(found.least))
    return {
        "name": found.name,
        "words": found.words(template.problem.sense, template.unit),
        "claim": found.claim(template.problem.sense, template.unit) if found.applicable else None,
        "assumptions": list(found.assumptions),
        "note": found.note,
        "other": found.other or None,
        "applicable": bool(found.applicable),
        "refuted": bool(found.refuted),
        "vacuous": bool(found.vacuous),
        "delta": found.delta,
        "value": number(found.value) if in_full else None,
        "between": None if in_full else [number(found.least), number(found.value)],
        "bound": number(found.bound),
    }
