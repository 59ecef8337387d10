"""States of the featurisers of many series as a few arrays, and back."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bocopt.app.features.memory import FeaturiserState
from bocopt.state import Arrays, CheckpointError, flatten, rebuild

_SHAPE = ".shape"


def packed(states: Sequence[FeaturiserState]) -> Arrays:
    """Return the states of n series as arrays: all numbers of a field end to end, and their shapes.

    >>> from bocopt.app.features.featuriser import Featuriser
    >>> from bocopt.app.features.spec import Spec
    >>> state = Featuriser(Spec("demand", lags=[1])).begin()
    >>> unpacked(state, packed([state, state]), 2)[1].t
    array(0)
    """
    flat = [flatten(state) for state in states]
    found: Arrays = {}
    for name in flat[0] if flat else ():
        parts = [one[name] for one in flat]
        found[name] = np.concatenate([part.reshape(-1) for part in parts])
        found[name + _SHAPE] = np.array([part.shape for part in parts]).reshape(len(parts), -1)
    return found


def unpacked(
    template: FeaturiserState, arrays: Mapping[str, NDArray[Any]], many: int
) -> list[FeaturiserState]:
    """Return the states of n series; `template` is one, of any size."""
    each: list[Arrays] = [{} for _ in range(many)]
    for name in flatten(template):
        if name not in arrays or len(arrays.get(name + _SHAPE, ())) != many:
            raise CheckpointError(f"There is no array '{name}' for {many} series.")
        shapes = [tuple(shape) for shape in arrays[name + _SHAPE].tolist()]
        ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
        parts = np.split(arrays[name], ends[:-1]) if many else []
        for one, part, shape in zip(each, parts, shapes, strict=True):
            one[name] = part.reshape(shape)
    return [rebuild(template, one) for one in each]
