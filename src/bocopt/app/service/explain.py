"""Why this z, as the service tells it: what it and others are expected to bring."""

import math
from typing import Any

from bocopt.app.service.commands import RefusedError
from bocopt.app.service.refolding import as_it_was
from bocopt.app.service.stores import EventRow, Store
from bocopt.app.service.stream_state import StreamState
from bocopt.core import Array
from bocopt.live.events import from_bytes
from bocopt.live.explanation import NoExplanationError, explained
from bocopt.live.fold import Decided
from bocopt.live.record import Live


def explanation(store: Store, state: StreamState, row: EventRow) -> dict[str, Any]:
    """z beside its neighbours, and beside what others would have decided."""
    event = from_bytes(row.body, state.template.problem)
    assert isinstance(event, Decided)
    then = _then(store, state, row, event)
    try:
        found = explained(state.template.fold, then, event, {"z": state.template.names})
    except NoExplanationError as error:
        raise RefusedError(409, str(error)) from error
    return {
        "id": found.id,
        "scenarios": found.scenarios,
        "sense": found.sense.value,
        "alpha": found.alpha,
        "status": found.status.message,
        "arm": found.arm and found.arm._asdict(),
        "candidates": [
            {
                "what": each.what,
                "name": each.name,
                "z": _by_name(state, each.z),
                "expected": each.expected if math.isfinite(each.expected) else None,
                "feasibility": each.feasibility,
            }
            for each in found.candidates
        ],
    }


def _then(store: Store, state: StreamState, row: EventRow, event: Decided) -> Live:
    """Return a record with the policy's state at a decision; a RefusedError if it is too old."""
    learned, taught = int(event.waiting.learned), int(event.waiting.taught)
    same = (state.live.learned, state.live.taught) == (learned, taught)
    if same and not store.corrections(state.stream, row.seq):
        return state.live
    far = max(state.template.limits.snapshot, state.template.limits.correctable)
    then = as_it_was(store, state, row.seq, far)
    if then is None:
        raise RefusedError(
            409,
            f"What was known at decision {row.decision} is no longer held: more than {far} events "
            "would have to be folded again.",
        )
    return then.live


def _by_name(state: StreamState, z: Array) -> dict[str, float]:
    return dict(zip(state.template.names, z.tolist(), strict=True))
