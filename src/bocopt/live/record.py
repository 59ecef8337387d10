"""All that an agent knows, and how it is kept in a file."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.core import Array, Decision, IntArray, Problem, Solution, Status
from bocopt.numeric.history import History
from bocopt.state import (
    Arrays,
    CheckpointError,
    Shape,
    flatten,
    from_leaves,
    leaves,
    read_only,
    rebuild,
    shape_of,
)

_NUMBERS, _NUMBER, _COUNT = np.zeros(0), np.zeros(()), np.zeros((), np.int64)
_OWNER = "a checkpoint"  # in messages


class Open(NamedTuple):
    """A decision whose outcome is not known yet."""

    x: Array
    decision: Decision
    learned: IntArray  # () how many outcomes the policy knew
    low: Array  # () the least that it can cost
    high: Array  # () the most


class Live(NamedTuple):
    """All that an agent knows, replaced as a whole: an interrupt finds the old or the new."""

    state: Any  # of the policy
    t: int  # the next decision
    learned: int  # outcomes so far
    open: Mapping[int, Open]
    watched: tuple[Any, ...] | None  # states of the monitor
    last: tuple[Array, Array] | None  # the latest context that had an outcome, and it
    foreign: frozenset[int] = frozenset()  # those open that another configuration decided

    @property
    def width(self) -> int | None:
        """How many numbers a context has; None before the first."""
        known = [self.last[0]] if self.last else [waiting.x for waiting in self.open.values()]
        return len(known[0]) if known else None


def own(decision: Decision) -> Decision:
    """A copy that nobody else can change."""
    parts = [np.array(leaf) for leaf in leaves(decision)]
    solution, memo = read_only(from_leaves(shape_of(decision), parts))
    return Decision(Solution(*solution), memo)


def kept(live: Live, closed: Mapping[int, Array]) -> tuple[dict[str, Any], Arrays]:
    """A header and arrays; `closed` are the outcomes that are remembered."""
    header = {
        "t": live.t,
        "learned": live.learned,
        "open": list(live.open),
        "closed": list(closed),
        "memo": [shape_of(waiting.decision.memo) for waiting in live.open.values()],
        "foreign": sorted(live.foreign),
    }
    arrays = flatten(live.state) | flatten(live.watched or (), "monitor")
    if live.last is not None:
        arrays |= flatten(live.last, "last")
    if closed:
        arrays["outcomes"] = np.stack(list(closed.values()))
    for number, waiting in live.open.items():
        arrays |= flat_open(waiting, f"open.{number}")
    return header, arrays


def restored(
    header: Mapping[str, Any], arrays: Arrays, begun: Live, problem: Problem
) -> tuple[Live, dict[int, Array]]:
    """What was kept, into the nesting of an agent that has just begun; checked all over."""
    t, learned = (arguments.integer(_OWNER, n, header[n], "[0, inf)") for n in ("t", "learned"))
    opened, closed = list(header["open"]), list(header["closed"])
    numbers = [arguments.integer(_OWNER, "id", n, f"[0, {t})") for n in opened + closed]
    if len(set(numbers)) < len(numbers) or learned + len(opened) > t or len(closed) > learned:
        raise CheckpointError("Its decisions do not add up.")
    outcomes = arrays.get("outcomes", np.zeros((0, problem.dims.xi)))
    outcomes = arguments.array(_OWNER, "outcomes", outcomes, (..., problem.dims.xi))
    pairs = zip(opened, header["memo"], strict=True)
    live = Live(
        state=rebuild(begun.state, arrays),
        t=t,
        learned=learned,
        open={n: _known_to(learned, n, problem, arrays, memo) for n, memo in pairs},
        watched=rebuild(begun.watched, arrays, "monitor") if learned else None,
        last=rebuild((_NUMBERS, _NUMBERS), arrays, "last") if learned else None,
        foreign=frozenset(header.get("foreign", ())),
    )
    if not live.foreign <= live.open.keys():
        raise CheckpointError("Its decisions do not add up.")
    return live, dict(zip(closed, outcomes, strict=True))


def flat_open(waiting: Open, name: str) -> Arrays:
    """Its arrays; those of the memo by number, since only the policy knows what they are."""
    memo = {f"{name}.memo.{i}": leaf for i, leaf in enumerate(leaves(waiting.decision.memo))}
    bare = waiting._replace(decision=waiting.decision._replace(memo=()))
    return flatten(bare, name) | memo


def read_open(problem: Problem, arrays: Arrays, name: str, memo: Shape) -> Open:
    """An open decision, as it was kept."""
    solution = Solution(_NUMBERS, _NUMBER, _COUNT, _NUMBER)
    bare: Open = rebuild(Open(_NUMBERS, Decision(solution), _COUNT, _NUMBER, _NUMBER), arrays, name)
    arguments.array(_OWNER, "z", bare.decision.solution.z, (problem.dims.z,))
    Status(int(bare.decision.solution.status))
    parts = [arrays[f"{name}.memo.{i}"] for i in range(str(memo).count("None"))]
    return bare._replace(decision=Decision(bare.decision.solution, from_leaves(memo, parts)))


def _known_to(learned: int, number: int, problem: Problem, arrays: Arrays, memo: Shape) -> Open:
    """An open decision of one who knows so many outcomes."""
    waiting = read_open(problem, arrays, f"open.{number}", memo)
    if not 0 <= waiting.learned <= learned:
        raise CheckpointError(f"Decision {number} knew {waiting.learned} outcomes of {learned}.")
    return waiting


def compact(state: Any) -> Any:
    """The same, with no spare room in the buffers of histories."""
    if isinstance(state, History):
        return state.trimmed()
    if not isinstance(state, tuple):
        return state
    parts = [compact(part) for part in state]
    return type(state)(*parts) if hasattr(state, "_fields") else tuple(parts)
