"""Laws beside those of `bocopt.checks`: of functions of arrays, and of what has states."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bocopt.core import Array
from bocopt.numeric.history import History
from bocopt.state import flatten, rebuild


def visible(state: Any) -> list[Array]:
    """The arrays of a state: of a history its rows, not the spare room that states share."""
    if isinstance(state, History):
        return [state.rows]
    if isinstance(state, tuple | list):
        return [leaf for part in state for leaf in visible(part)]
    return [np.asarray(state)]


def same(left: Any, right: Any) -> bool:
    """Bit for bit, in all that is visible; NaN equals NaN."""
    return all(
        one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
        for one, other in zip(visible(left), visible(right), strict=True)
    )


def from_parts(template: Any, arrays: dict[str, Array], name: str = "state") -> Any:
    """The nested tuple of these arrays, named as `flatten` does, of whatever shapes."""
    if not isinstance(template, tuple):
        return arrays[name]
    fields: Any = getattr(template, "_fields", range(len(template)))
    parts = [
        from_parts(part, arrays, f"{name}.{field}")
        for field, part in zip(fields, template, strict=True)
    ]
    return type(template)(*parts) if hasattr(template, "_fields") else tuple(parts)


def copied(state: Any) -> list[Array]:
    return [leaf.copy() for leaf in visible(state)]


def assert_pure_and_free_of_leading_axes(function: Callable[..., Any], *batch: Array) -> None:
    """Each argument has one leading axis; what is alone gets the same bits as in the batch."""
    before = copied(batch)
    together = function(*batch)
    assert same(function(*batch), together)
    assert same(batch, before)
    for i in range(len(batch[0])):
        alone = visible(function(*(array[i] for array in batch)))
        assert same(alone, [leaf[i] for leaf in visible(together)])


Trial = int | slice
ALL = slice(None)  # trials at once


class Fold(NamedTuple):
    """What goes from state to state."""

    begin: Callable[[Trial], Any]  # -> state
    step: Callable[[Any, int, Trial], Any]  # state, stage -> state
    show: Callable[[Any, int, Trial], Any]  # likewise -> arrays with the leading axis of the trials
    trials: int
    stages: int


def assert_trials_are_apart(fold: Fold) -> None:
    """A trial alone shows the same bits as inside a batch."""
    together = _shown(fold, ALL)
    for i in range(fold.trials):
        for alone, batch in zip(_shown(fold, i), together, strict=True):
            assert same(alone, [leaf[i] for leaf in batch])


def _shown(fold: Fold, trial: Trial) -> list[list[Array]]:
    state, shown = fold.begin(trial), []
    for t in range(fold.stages):
        state = fold.step(state, t, trial)
        shown.append(copied(fold.show(state, t, trial)))
    return shown


def assert_steps_are_pure(fold: Fold) -> None:
    """A step leaves its state as it was, also after later ones, and is the same when repeated."""
    state = fold.begin(ALL)
    for t in range(fold.stages):
        before = copied(state)
        after = fold.step(state, t, ALL)
        kept = copied(after)
        fold.show(after, t, ALL)
        fold.step(state, (t + 1) % fold.stages, ALL)  # a branch
        assert same(after, kept)
        assert same(fold.step(state, t, ALL), kept)
        assert same(state, before)
        state = after


def assert_goes_on_from_its_arrays(fold: Fold) -> None:
    """A state that is rebuilt from its arrays goes on with the same bits."""
    state = restored = template = fold.begin(ALL)
    for t in range(fold.stages):
        arrays = {name: leaf.copy() for name, leaf in flatten(restored).items()}
        state, restored = fold.step(state, t, ALL), fold.step(rebuild(template, arrays), t, ALL)
        assert same(state, restored)
        assert same(fold.show(state, t, ALL), fold.show(restored, t, ALL))
