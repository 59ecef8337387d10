"""States of one policy for many series: a row each in arrays, played some hundred rows at a time.

    states = rows gathered; states' = learn(states, ..); rows <- states'

It is an array program: there is no Python work for each series. Rows are gathered, played by one
call and scattered while they are in the processor's cache. Series whose histories are equally long
are played by one call.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bocopt import arguments
from bocopt.abilities import Lockstep
from bocopt.core import Array, Decision, IntArray, Policy, Problem, S, Solution
from bocopt.loop import checked_decision
from bocopt.numeric.history import History
from bocopt.numeric.stacking import UnlikeError, axes_of, is_ragged, together
from bocopt.state import Arrays, CheckpointError, flatten, leaves, mapped, rebuild
from bocopt.wrappers import promises

_AT_ONCE = 256  # rows: more leave the cache
Some = slice | IntArray  # of the series of a call


class Histories(NamedTuple):
    """The histories of all series, each with as many rows as it has."""

    buffer: Array  # (n, capacity, m)
    size: IntArray  # (n)
    dropped: IntArray  # (n)


def plays_in_rows(policy: Policy[Any]) -> bool:
    """Return whether states of a policy can be rows of arrays, whatever each has learned.

    It must say `lockstep`, and have nothing in its state that is common to all, or that has sizes
    of its own, but for histories. That no decision leaves a memo is seen when it decides.
    """
    if not promises(policy, Lockstep):
        return False
    return _has_rows(axes_of(policy.init), policy.init(np.zeros(1, np.int64)))


def _has_rows(axes: Any, state: Any) -> bool:
    if isinstance(state, History):
        return True
    if not isinstance(state, tuple):
        return bool(axes)
    return not is_ragged(state) and all(map(_has_rows, axes, state))


class SeriesStates(Generic[S]):
    """States of a policy that `plays_in_rows`, for series that are numbered by their place.

    Until its first outcome a series has the state that its seed says; only then it has a row.
    """

    def __init__(self, policy: Policy[S], problem: Problem) -> None:
        self.policy, self.problem = policy, problem
        self.seeds, self.learned = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self._tree: Any = None  # leaves (room, ...); rows without an outcome mean nothing
        self._torn = False

    def __len__(self) -> int:
        return len(self.seeds)

    def add(self, seeds: IntArray) -> None:
        """Add series with these seeds (n), at the places after the last."""
        self.seeds = np.concatenate([self.seeds, np.asarray(seeds, np.int64)])
        self.learned = np.concatenate([self.learned, np.zeros(len(seeds), np.int64)])
        if self._tree is not None:
            self._tree = _with_room(self._tree, len(self))

    def remove(self, many: int) -> None:
        """Remove so many of the last series, that have learned nothing."""
        self.seeds, self.learned = (part[: len(part) - many] for part in (self.seeds, self.learned))

    def each(
        self, places: IntArray, function: Callable[[S, Some], Any]
    ) -> Iterator[tuple[Some, Any]]:
        """Yield some of different series (n), and what a function says of their states at once."""
        if self._torn:
            raise ValueError(
                "Learning was interrupted, and some series have learned what others have not. Load "
                "what was saved before, and learn again."
            )
        for some in self._alike(places):
            found = arguments.checked(together, function, self._gathered(places[some]), some)
            yield some, found

    def decide(self, places: IntArray, t: Any, x: Array) -> Solution:
        """Return the decisions (n) of different series, each at its own stage t and context (k)."""
        owner = f"{type(self.policy).__name__}.decide"

        def decided(state: S, some: Some) -> Decision:
            """Return the decisions of some, checked."""
            found = self.policy.decide(state, t[some], x[some])
            return checked_decision(owner, self.problem, found)

        nothing, size = np.full(len(places), np.nan), self.problem.dims.z
        whole = Solution(
            np.empty((len(places), size)), nothing.copy(), np.zeros(len(places), int), nothing
        )
        for some, decision in self.each(places, decided):
            if leaves(decision.memo):
                expected = "a policy that decides without a memo, as `Predictive` does"
                raise arguments.wrong("PanelAgent", "policy", expected, type(self.policy).__name__)
            for part, own in zip(whole, decision.solution, strict=True):
                part[some] = own
        return whole

    def learn(self, places: IntArray, t: Any, x: Array, taken: Solution, xi: Array) -> None:
        """Learn an outcome (n, m) of each of different series, of its decision at its stage t."""

        def lesson(state: S, some: Some) -> S:
            """Return the states of some after their outcomes."""
            decision = Decision(mapped(lambda part: part[some], taken))
            return self.policy.learn(state, t[some], x[some], decision, xi[some])

        for some, after in self.each(places, lesson):
            self._torn = True  # until all have learned
            self._scatter(places[some], after)
        self._torn = False
        self.learned[places] += 1

    def alone(self, place: int) -> S:
        """Return the state of one series, as its policy would have it by itself."""
        state = self._gathered(np.array([place]))
        found: S = _first(state)
        return found

    def arrays(self) -> Arrays:
        """Return all that `restore` needs to go on from here, bit for bit."""
        kept = {"seeds": self.seeds, "learned": self.learned}
        if self._tree is None:
            return kept
        own = mapped(lambda part: part[: len(self)], self._tree)
        return kept | flatten(own)

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over what `arrays` returned."""
        seeds, learned = (arrays.get(name, np.zeros(0)) for name in ("seeds", "learned"))
        if not seeds.shape == learned.shape or seeds.dtype.kind != "i" or learned.dtype.kind != "i":
            raise CheckpointError("Its series do not add up.")
        self.seeds, self.learned, self._tree = seeds, learned, None
        if learned.any():
            template = _rows(self.policy.init(np.zeros(1, np.int64)))
            self._tree = rebuild(template, arrays)
            if any(len(leaf) != len(self) for leaf in leaves(self._tree)):
                raise CheckpointError("It has other states than series.")

    def _alike(self, places: IntArray) -> Iterator[Some]:
        """Yield parts of a call that can be played together, in a fixed order."""
        columns = [self.learned[places] > 0]
        columns += [np.where(columns[0], one.size[places], 0) for one in _histories(self._tree)]
        if all((column == column[:1]).all() for column in columns):
            starts = range(0, len(places), _AT_ONCE)
            yield from (slice(start, start + _AT_ONCE) for start in starts)
            return
        order = np.lexsort(columns)
        ends = np.any([np.diff(column[order]) != 0 for column in columns], axis=0)
        for group in np.split(order, np.flatnonzero(ends) + 1):
            yield from (group[i : i + _AT_ONCE] for i in range(0, len(group), _AT_ONCE))

    def _gathered(self, places: IntArray) -> S:
        """Return the states of series that can be played together."""
        if not self.learned[places[0]]:
            return self.policy.init(self.seeds[places])
        first, many = int(places[0]), len(places)
        if (places == np.arange(first, first + many)).all():
            rows: Some = slice(first, first + many)
        else:
            rows = places
        found: S = _taken(self._tree, rows)
        return found

    def _scatter(self, places: IntArray, state: S) -> None:
        if self._tree is None:
            empty = mapped(lambda part: np.zeros((0, *part.shape[1:]), part.dtype), _rows(state))
            self._tree = _with_room(empty, len(self))
        self._tree = _put(self._tree, places, state)


def _histories(tree: Any) -> list[Histories]:
    if isinstance(tree, Histories):
        return [tree]
    return [one for part in tree for one in _histories(part)] if isinstance(tree, tuple) else []


def _rows(state: Any) -> Any:
    """Return the states of several series as rows."""
    if isinstance(state, History):
        rows = state.rows
        return Histories(rows, np.full(len(rows), int(state.size)), state.dropped)
    return _like(state, map(_rows, state)) if isinstance(state, tuple) else state


def _taken(tree: Any, rows: Some) -> Any:
    """Return the states of some rows, whose histories are equally long."""
    if isinstance(tree, Histories):
        size = int(tree.size[rows][0])
        own = np.array(tree.buffer[rows, :size])  # a history is added to in place
        return History(own, np.array(size), np.array(0), np.array(size), tree.dropped[rows])
    return _like(tree, (_taken(part, rows) for part in tree)) if _nested(tree) else tree[rows]


def _first(state: Any) -> Any:
    """Return the state of the first series."""
    if isinstance(state, History):
        return state._replace(buffer=state.buffer[0], dropped=state.dropped[0])
    return _like(state, map(_first, state)) if _nested(state) else np.array(state[0])


def _put(tree: Any, rows: IntArray, state: Any) -> Any:
    """Return the tree with the states of some series in their rows; arrays are changed in place."""
    if isinstance(tree, Histories):
        return _put_histories(tree, rows, state)
    if _nested(tree):
        return _like(tree, (_put(*pair) for pair in _pairs(tree, rows, state)))
    if tree.shape[1:] != state.shape[1:]:
        raise UnlikeError(f"A state of shape {state.shape[1:]} has no place in {tree.shape[1:]}.")
    tree[rows] = state
    return tree


def _pairs(tree: Any, rows: IntArray, state: Any) -> Iterator[tuple[Any, IntArray, Any]]:
    return ((old, rows, new) for old, new in zip(tree, state, strict=True))


def _put_histories(tree: Histories, rows: IntArray, history: History) -> Histories:
    many, room, width = tree.buffer.shape
    size = int(history.size)
    if size > room:
        buffer = np.zeros((many, max(16, 2 * size), width))
        buffer[:, :room] = tree.buffer
        tree = tree._replace(buffer=buffer)
    tree.buffer[rows, :size] = history.rows
    tree.size[rows], tree.dropped[rows] = size, history.dropped
    return tree


def _with_room(tree: Any, many: int) -> Any:
    """Return the tree with room for so many rows at least."""

    def widened(part: NDArray[Any]) -> NDArray[Any]:
        """Return an array with more rows, twice as many where it had some."""
        if len(part) >= many:
            return part
        wide = np.zeros((max(many, 2 * len(part)), *part.shape[1:]), part.dtype)
        wide[: len(part)] = part
        return wide

    return mapped(widened, tree)


def _nested(tree: Any) -> bool:
    return isinstance(tree, tuple)


def _like(tree: Any, parts: Any) -> Any:
    return type(tree)(*parts) if hasattr(tree, "_fields") else tuple(parts)
