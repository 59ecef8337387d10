"""States of many trials as one, and back: with the same bits.

A leaf of a state has the leading axes of its trials, or is common to all of them. Leaves of the
first kind are stacked along a new axis. Those of the second kind are few: what all trials with
arrays of one size have in common. So states can be stacked if their arrays are of the same sizes
and what is common is equal: their `key` says so. Histories count by their rows alone.

A `Ragged` NamedTuple may have room at the end of its arrays that it does not need. It
is stacked with as much room as the largest, zeros, and trimmed again when it is taken apart.
"""

from collections.abc import Callable, Hashable, Sequence
from contextvars import ContextVar, copy_context
from typing import Any, ParamSpec, TypeGuard, TypeVar

import numpy as np
from numpy.typing import NDArray

from bocopt.abilities import Ragged
from bocopt.core import BoolArray, IntArray
from bocopt.numeric.history import History
from bocopt.state import mapped

P = ParamSpec("P")
T = TypeVar("T")


class UnlikeError(ValueError):
    """Trials that cannot be played in one call."""


def alike(what: str, flags: BoolArray | Sequence[bool]) -> bool:
    """Return whether all flags are true or none is; raise an `UnlikeError` where they differ.

    >>> alike("with and without an outcome", np.array([True, False]))
    Traceback (most recent call last):
    bocopt.numeric.stacking.UnlikeError: Trials with and without an outcome are played apart.
    """
    found = np.asarray(flags)
    if not found.any():
        return False
    if not found.all():
        raise UnlikeError(f"Trials {what} are played apart.")
    return True


def together(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function with the states of several streams as one.

    Inside it, what goes wrong in one stream is an error for all of them: a part that would carry on
    without what failed does not, since the others would then be without it too.
    """

    def call() -> T:
        """Call the function with the streams marked as played together."""
        _TOGETHER.set(True)
        return function(*args, **kwargs)

    return copy_context().run(call)


def are_together() -> bool:
    """Return whether trials are streams that must have the same bits as alone, whatever happens."""
    return _TOGETHER.get()


_TOGETHER: ContextVar[bool] = ContextVar("together", default=False)


def axes_of(init: Callable[[IntArray], Any]) -> Any:
    """Return which leaves have leading axes: those with one more where seeds have one more.

    >>> axes_of(lambda seeds: (seeds, np.array(0)))
    (True, False)
    """
    one, many = init(np.array(0)), init(np.array([0]))
    return mapped(lambda alone, stacked: bool(np.ndim(stacked) > np.ndim(alone)), one, many)


def key(tree: Any, axes: Any) -> Hashable:
    """Return the key that trials must have in common for their states to be stacked.

    Here and below, `axes` may be True for all of a tree.
    """
    found: list[Hashable] = []
    _describe((tree,), (axes,), found.append)
    return tuple(found)


def _describe(parts: Any, axes: Any, add: Callable[[Hashable], None]) -> None:
    for part, axis in zip(parts, axes, strict=True):
        if not isinstance(part, tuple):
            leaf = np.asarray(part)
            add(leaf.shape if axis else (leaf.shape, leaf.tobytes()))
        elif isinstance(part, History):
            add((int(part.size), part.buffer.shape[-1]))
        elif is_ragged(part):
            add(str(type(part)))
        else:
            add(len(part))
            _describe(part, _each(part, axis), add)


def stacked(trees: Sequence[Any], axes: Any) -> Any:
    """One tree of many with the same key."""
    first = trees[0]
    if isinstance(first, History):
        return _joined(trees)
    if isinstance(first, tuple):
        columns = zip(zip(*trees, strict=True), _each(first, axes), strict=True)
        ragged = is_ragged(first)
        parts = [_padded(column) if ragged else stacked(column, axis) for column, axis in columns]
        return _like(first, parts)
    return np.array(trees) if axes else first


def unstack(tree: Any, axes: Any, many: int, *, read_only: bool = False) -> list[Any]:
    """The trees of so many trials, each with arrays of its own."""
    if isinstance(tree, History):
        return _parted(tree)
    if isinstance(tree, tuple):
        pairs = zip(tree, _each(tree, axes), strict=True)
        columns = [unstack(part, axis, many, read_only=read_only) for part, axis in pairs]
        trees = [_like(tree, parts) for parts in zip(*columns, strict=True)] or [tree] * many
        return [each.trimmed() for each in trees] if is_ragged(tree) else trees
    return _rows_of(tree, many, read_only) if axes else [tree] * many


def _rows_of(array: Any, many: int, read_only: bool) -> list[Any]:
    if len(array) != many:
        raise UnlikeError(f"An array of {many} trials has a leading axis of {len(array)}.")
    rows = [array[i, ...].copy() for i in range(many)]
    if read_only:
        for row in rows:
            row.flags.writeable = False
    return rows


def is_ragged(tree: object) -> TypeGuard[Ragged]:
    """Return whether the arrays of a tree may have room at the end that it does not need."""
    return hasattr(
        tree, "trimmed"
    )  # it is asked of every tuple in a state, so as quickly as can be


def _each(tree: tuple[Any, ...], axes: Any) -> Any:
    return (True,) * len(tree) if axes is True else axes


def some_of(tree: Any, axes: Any, which: BoolArray) -> Any:
    """Return the tree of these trials alone."""
    return mapped(lambda part, axis: part[which] if axis else part, tree, axes)


def with_some(tree: Any, axes: Any, which: BoolArray, new: Any) -> Any:
    """Return the tree with these trials replaced; what is common to all must stay as it was."""
    if isinstance(tree, tuple):
        trios = list(zip(tree, axes, new, strict=True))
        if is_ragged(tree):
            return _like(tree, [_replaced(old, which, part, room=True) for old, _, part in trios])
        return _like(tree, [with_some(old, axis, which, part) for old, axis, part in trios])
    if axes:
        return _replaced(tree, which, new, room=False)
    if not np.array_equal(tree, new):
        raise UnlikeError("Trials at different stages of a fit are played apart.")
    return tree


def _replaced(old: Any, which: BoolArray, new: Any, *, room: bool) -> NDArray[Any]:
    """Return an array with other rows for these trials; with `room`, as large as they need."""
    if not np.ndim(new):
        raise UnlikeError("Trials whose fits have a number in common are played apart.")
    lead, sizes, core = which.shape, old.shape[which.ndim :], new.shape[1:]
    if sizes != core and not room:
        raise UnlikeError("Trials whose fits have different sizes are played apart.")
    out = np.zeros((*lead, *np.maximum(sizes, core)), old.dtype)
    out[_corner(..., sizes)] = old
    rows = np.zeros((len(new), *out.shape[which.ndim :]), out.dtype)
    rows[_corner(..., core)] = new
    out[which] = rows
    return out


def _corner(lead: Any, sizes: tuple[int, ...]) -> tuple[Any, ...]:
    """The first so many along each axis."""
    return (lead, *map(slice, sizes))


def _like(tree: Any, parts: Sequence[Any]) -> Any:
    return type(tree)(*parts) if hasattr(tree, "_fields") else tuple(parts)


def _padded(leaves: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return arrays of different sizes as one, with zeros at the end."""
    shape = np.max([leaf.shape for leaf in leaves], axis=0)
    out = np.zeros((len(leaves), *shape), leaves[0].dtype)
    for i, leaf in enumerate(leaves):
        out[_corner(i, leaf.shape)] = leaf
    return out


def _joined(histories: Sequence[History]) -> History:
    """Return histories of equally many rows as one, in a buffer without spare room."""
    rows = np.array([history.rows for history in histories])
    return _full(rows, np.array([history.dropped for history in histories]))


def _parted(history: History) -> list[History]:
    pairs = zip(history.rows, history.dropped, strict=True)
    return [_full(rows.copy(), np.array(dropped)) for rows, dropped in pairs]


def _full(rows: NDArray[Any], dropped: IntArray) -> History:
    size = rows.shape[-2]
    return History(rows, np.array(size), np.array(0), np.array(size), dropped)
