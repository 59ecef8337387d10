"""All that an agent knows, and how it is kept in a file."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.core import Array, Bounds, Decision, IntArray, Problem, Solution, Status
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
_SOLUTION = Solution(_NUMBERS, _NUMBER, _COUNT, _NUMBER)
_OWNER = "a checkpoint"  # in messages


class Open(NamedTuple):
    """A decision whose outcome is not known yet."""

    x: Array
    decision: Decision
    learned: IntArray  # () how many outcomes the policy knew
    low: Array  # () the least that it can cost
    high: Array  # () the most
    taught: IntArray  # () how many lessons the policy knew


class Live(NamedTuple):
    """All that an agent knows, replaced as a whole: an interrupt finds the old or the new."""

    state: Any  # of the policy
    t: int  # the next decision
    learned: int  # outcomes of decisions so far
    open: Mapping[int, Open]
    watched: tuple[Any, ...] | None  # states of the monitor
    last: tuple[Array, Array] | None  # the latest context that had an outcome, and it
    foreign: frozenset[int] = frozenset()  # those open that another configuration decided
    taught: int = 0  # lessons so far: stages of the policy at which nobody asked it
    seed: int = 0  # of the policy
    in_part: bool = False  # whether the state is that of the policy inside `PartlySeen`

    @property
    def stage(self) -> int:
        """The policy's stage at the next decision or lesson: both kinds count."""
        return self.t + self.taught

    @property
    def width(self) -> int | None:
        """Number of entries of a context; None before the first."""
        known = [self.last[0]] if self.last else [waiting.x for waiting in self.open.values()]
        return len(known[0]) if known else None


def own(decision: Decision) -> Decision:
    """A copy that nobody else can change."""
    parts = [np.array(leaf) for leaf in leaves(decision)]
    solution, memo = read_only(from_leaves(shape_of(decision), parts))
    return Decision(Solution(*solution), memo)


def kept(live: Live, closed: Mapping[int, Bounds]) -> tuple[dict[str, Any], Arrays]:
    """A header and arrays; `closed` are the outcomes that are remembered."""
    header = {
        "t": live.t,
        "learned": live.learned,
        "taught": live.taught,
        "open": list(live.open),
        "closed": list(closed),
        "memo": [shape_of(waiting.decision.memo) for waiting in live.open.values()],
        "foreign": sorted(live.foreign),
        **({"in_part": True} if live.in_part else {}),
    }
    arrays = flatten(live.state) | flatten(live.watched or (), "monitor")
    if live.last is not None:
        arrays |= flatten(live.last, "last")
    if closed:
        arrays |= _flat_outcomes(list(closed.values()))
    for number, waiting in live.open.items():
        arrays |= flat_open(waiting, f"open.{number}")
    return header, arrays


def _flat_outcomes(seen: Sequence[Bounds]) -> Arrays:
    """Return what was seen of outcomes (n): once where all were seen in full."""
    low, high = np.stack([each.low for each in seen]), np.stack([each.high for each in seen])
    return {"outcomes": low} | ({} if (low == high).all() else {"outcomes.high": high})


def restored(
    header: Mapping[str, Any], arrays: Arrays, begun: Live, problem: Problem
) -> tuple[Live, dict[int, Bounds]]:
    """Return the state and the outcomes that were kept, in the nesting of `begun`; all checked."""
    if begun.in_part != header.get("in_part", False):
        raise CheckpointError("It knows outcomes that were seen in part, or does not.")
    counts = ("t", "learned", "taught")
    t, learned, taught = (arguments.integer(_OWNER, n, header[n], "[0, inf)") for n in counts)
    opened, closed = list(header["open"]), list(header["closed"])
    numbers = [arguments.integer(_OWNER, "id", n, f"[0, {t})") for n in opened + closed]
    if len(set(numbers)) < len(numbers) or learned + len(opened) > t or len(closed) > learned:
        raise CheckpointError("Its decisions do not add up.")
    low = arrays.get("outcomes", np.zeros((0, problem.dims.xi)))
    high = arrays.get("outcomes.high", low)
    if not low.shape == high.shape == (len(closed), problem.dims.xi) or not (low <= high).all():
        raise CheckpointError("Its outcomes do not fit.")
    pairs = zip(opened, header["memo"], strict=True)
    live = Live(
        state=rebuild(begun.state, arrays),
        t=t,
        learned=learned,
        open={n: _known_to(learned, taught, n, problem, arrays, memo) for n, memo in pairs},
        watched=rebuild(begun.watched, arrays, "monitor") if learned else None,
        last=rebuild((_NUMBERS, _NUMBERS), arrays, "last") if learned + taught else None,
        foreign=frozenset(header.get("foreign", ())),
        taught=taught,
        seed=begun.seed,
        in_part=begun.in_part,
    )
    if not live.foreign <= live.open.keys():
        raise CheckpointError("Its decisions do not add up.")
    return live, {n: Bounds(*ends) for n, *ends in zip(closed, low, high, strict=True)}


def flat_open(waiting: Open, name: str) -> Arrays:
    """Return its arrays; those of the memo by number, since only the policy knows what they are."""
    bare = waiting._replace(decision=waiting.decision._replace(memo=()))
    return flatten(bare, name) | _flat_memo(waiting.decision, name)


def flat_decision(decision: Decision, name: str) -> Arrays:
    """The same of a decision alone."""
    return flatten(decision.solution, f"{name}.solution") | _flat_memo(decision, name)


def _flat_memo(decision: Decision, name: str) -> Arrays:
    return {f"{name}.memo.{i}": leaf for i, leaf in enumerate(leaves(decision.memo))}


def read_open(problem: Problem, arrays: Arrays, name: str, memo: Shape) -> Open:
    """An open decision, as it was kept."""
    begun = Open(_NUMBERS, Decision(_SOLUTION), _COUNT, _NUMBER, _NUMBER, _COUNT)
    bare: Open = rebuild(begun, arrays, name)
    return bare._replace(decision=_whole(problem, bare.decision.solution, arrays, name, memo))


def read_decision(problem: Problem, arrays: Arrays, name: str, memo: Shape) -> Decision:
    """A decision alone, as it was kept."""
    return _whole(problem, rebuild(_SOLUTION, arrays, f"{name}.solution"), arrays, name, memo)


def _whole(
    problem: Problem, solution: Solution, arrays: Arrays, name: str, memo: Shape
) -> Decision:
    """Return the decision with its memo, checked."""
    arguments.array(_OWNER, "z", solution.z, (problem.dims.z,))
    Status(int(solution.status))
    parts = [arrays[f"{name}.memo.{i}"] for i in range(str(memo).count("None"))]
    return Decision(solution, from_leaves(memo, parts))


def _known_to(
    learned: int, taught: int, number: int, problem: Problem, arrays: Arrays, memo: Shape
) -> Open:
    """An open decision of one who knows so many outcomes, and as many lessons as it did."""
    waiting = read_open(problem, arrays, f"open.{number}", memo)
    if not 0 <= waiting.learned <= learned:
        raise CheckpointError(f"Decision {number} knew {waiting.learned} outcomes of {learned}.")
    if waiting.taught != taught:  # none comes between a decision and its outcome
        raise CheckpointError(f"Decision {number} knew {waiting.taught} lessons of {taught}.")
    return waiting


def compact(state: Any) -> Any:
    """The same, with no spare room in the buffers of histories."""
    if isinstance(state, History):
        return state.trimmed()
    if not isinstance(state, tuple):
        return state
    parts = [compact(part) for part in state]
    return type(state)(*parts) if hasattr(state, "_fields") else tuple(parts)
