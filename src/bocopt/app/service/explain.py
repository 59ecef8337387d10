"""Why this z: what it and others are expected to bring, under the same scenarios."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from bocopt.abilities import HasArms, HasShadows, UnderScenarios
from bocopt.app.service.commands import RefusedError
from bocopt.app.service.held import Held, as_it_was
from bocopt.app.service.stores import Row, Store
from bocopt.core import Array, Policy, Problem, Status, judge
from bocopt.live.events import from_bytes
from bocopt.live.fold import Decided
from bocopt.live.record import Live
from bocopt.wrappers import find, scenarios_of


def explanation(store: Store, held: Held, row: Row) -> dict[str, Any]:
    """z beside its neighbours, and beside what others would have decided."""
    event = from_bytes(row.body, held.kind.problem)
    assert isinstance(event, Decided)
    waiting, problem = event.waiting, held.kind.problem
    x, z = waiting.x, waiting.decision.solution.z
    then = _then(store, held, row, event).state
    scenarios, w = _scenarios(held, then, event)
    candidates, arm = [("taken", "", z), *_neighbours(held.kind.names, z)], None
    if event.by == held.kind.fold.by:  # else the memo is another policy's
        candidates += _others(held.kind.fold.policy, waiting.decision.memo, then)
        arm = _arm(held.kind.fold.policy, waiting.decision.memo, then)
    expected = _expected(problem, x, np.stack([other for *_, other in candidates]), scenarios, w)
    return {
        "id": event.number,
        "scenarios": len(w),
        "sense": problem.sense.value,
        "alpha": problem.risk.alpha,
        "status": Status(int(waiting.decision.solution.status)).message,
        "arm": arm,
        "candidates": [
            {"what": what, "name": name, "z": _by_name(held, other), **numbers}
            for (what, name, other), numbers in zip(candidates, expected, strict=True)
        ],
    }


def _then(store: Store, held: Held, row: Row, event: Decided) -> Live:
    """What was known when it was decided: only outcomes and lessons change that."""
    learned, taught = int(event.waiting.learned), int(event.waiting.taught)
    if (held.live.learned, held.live.taught) == (learned, taught):
        return held.live
    far = held.kind.limits.snapshot
    then = as_it_was(store, held, row.seq, far)
    if then is None:
        raise RefusedError(
            409,
            f"What was known at decision {row.decision} is no longer held: more than {far} events "
            "would have to be folded again.",
        )
    return then.live


def _scenarios(held: Held, state: Any, event: Decided) -> tuple[Array, Array]:
    policy = held.kind.fold.policy
    stage = event.number + int(event.waiting.taught)
    found = scenarios_of(policy, state, stage, event.waiting.x)
    if found is None:
        has_any = find(policy, UnderScenarios) is not None
        why = "no outcome was known yet" if has_any else f"{type(policy).__name__} has none"
        raise RefusedError(409, f"Decision {event.number} was not taken under scenarios: {why}.")
    return found


def _neighbours(names: tuple[str, ...], z: Array) -> Iterator[tuple[str, str, Array]]:
    for i, name in enumerate(names):
        for what, step in (("one more", 1.0), ("one less", -1.0)):
            yield what, name, z + step * np.eye(len(z))[i]


def _others(
    policy: Policy[Any], memo: tuple[Any, ...], then: Any
) -> Iterator[tuple[str, str, Array]]:
    """What shadows and arms would have done."""
    if shadowed := find(policy, HasShadows, then, memo):
        for name, z in shadowed.part.shadow_decisions(shadowed.memo):
            yield "shadow", name, z
    if found := find(policy, HasArms, then, memo):
        for name, z in found.part.arm_decisions(found.memo):
            yield "arm", name, z


def _arm(policy: Policy[Any], memo: tuple[Any, ...], then: Any) -> dict[str, Any] | None:
    """Whose decision was taken, of an ensemble's arms: only the model's is under its scenarios."""
    found = find(policy, HasArms, then, memo)
    if found is None:
        return None
    name, names = found.part.arm_taken(found.memo), found.part.arm_names
    weights = dict(zip(names, found.state.info.arm_weights.tolist(), strict=True))
    return {"name": name, "weight": weights[name], "own_scenarios": name == names[0]}


def _by_name(held: Held, z: Array) -> dict[str, float]:
    return dict(zip(held.kind.names, z.tolist(), strict=True))


def _expected(
    problem: Problem, x: Array, z: Array, scenarios: Array, w: Array
) -> list[dict[str, float | None]]:
    """(k), (n, d), (s, m), (s) -> what each z brings on average, and how often it is feasible."""
    costs, violations = judge(problem, x, z[:, None, :], scenarios)
    means = problem.sense.sign * (w * costs).sum(axis=-1)
    shares = (w * (violations <= 0)).sum(axis=-1)
    return [
        {"expected": mean if np.isfinite(mean) else None, "feasibility": share}
        for mean, share in zip(means.tolist(), shares.tolist(), strict=True)
    ]
