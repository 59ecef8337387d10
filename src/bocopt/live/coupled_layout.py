"""Where the parts of each series stand in a decision that couples series, and what is common."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from bocopt.abilities import NamesDecisions
from bocopt.core import Array, IntArray, Problem
from bocopt.wrappers import find


class Layout(NamedTuple):
    """Places in z (d) of what is decided for each of n series, and for all of them."""

    each: IntArray  # (n, a)
    common: IntArray  # (c)
    each_names: tuple[str, ...]  # (a)
    common_names: tuple[str, ...]  # (c)

    def parts(self, z: Array) -> tuple[Array, Array]:
        """Return the parts (n, a) of each series and the common ones (c) of a decision (d)."""
        return z[..., self.each], z[..., self.common]

    def whole(self, each: Array, common: Array) -> Array:
        """Return the decision (d) of which these are the parts."""
        z = np.empty((*each.shape[:-2], self.each.size + self.common.size))
        z[..., self.each], z[..., self.common] = each, common
        return z


def layout_of(problem: Problem, names: Sequence[str], common: Collection[str]) -> Layout:
    """Return the layout of a problem for these series (n).

    Arrays of the decision whose first axis has n places are parts of the series, but for those that
    are named as common; where a problem names nothing, all of z is, a block for each series.

    >>> from bocopt import binary, minimise, program, real
    >>> @program(xi=2, load=real(2), trucks=binary())
    ... def truck(xi, load, trucks):
    ...     return minimise(9 * trucks - xi @ load), load.sum() <= 5 * trucks
    >>> found = layout_of(truck, ["north", "south"], ())
    >>> found.each.tolist(), found.each_names, found.common_names
    ([[0], [1]], ('load',), ('trucks',))
    """
    many, size, said = len(names), problem.dims.z, find(problem, NamesDecisions)
    if said is None:
        if size % many or not size:
            raise ValueError(
                f"A decision without names must have as many numbers for each of {many} series. "
                f"Got {size} in all: name the common ones, as `program` does."
            )
        each = np.arange(size).reshape(many, -1)
        return Layout(each, np.zeros(0, np.int64), _labels("z", each.shape[1:]), ())
    parts: dict[str, Array] = said.part.named(np.arange(size, dtype=float))
    unknown = [name for name in common if name not in parts]
    if unknown:
        raise ValueError(f"There is no common part {unknown[0]!r}. It has: {', '.join(parts)}.")
    own = {n: p for n, p in parts.items() if p.shape[:1] == (many,) and n not in common}
    rest = {n: p for n, p in parts.items() if n not in own}
    if not own:
        shapes = ", ".join(f"{name} {part.shape}" for name, part in parts.items())
        raise ValueError(
            f"A decision must have an array with a place for each of {many} series. Got {shapes}."
        )
    return Layout(
        np.concatenate([part.reshape(many, -1) for part in own.values()], axis=1).astype(np.int64),
        np.concatenate([np.zeros(0), *(part.ravel() for part in rest.values())]).astype(np.int64),
        tuple(label for name, part in own.items() for label in _labels(name, part.shape[1:])),
        tuple(label for name, part in rest.items() for label in _labels(name, part.shape)),
    )


def _labels(name: str, shape: tuple[int, ...]) -> tuple[str, ...]:
    """Return the names of the numbers of a part, as those of a decision are.

    >>> _labels("load", (2,)), _labels("trucks", ())
    (('load[0]', 'load[1]'), ('trucks',))
    """
    if int(np.prod(shape)) == 1:
        return (name,)
    return tuple(f"{name}[{','.join(map(str, place))}]" for place in np.ndindex(shape))
