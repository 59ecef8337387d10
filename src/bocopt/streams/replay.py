"""Replay of what was recorded."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from bocopt import arguments
from bocopt.core import Array, IntArray


@dataclass(frozen=True, eq=False)
class Replay:
    """Recorded contexts (T, k) and outcomes (T, m), once for all trials or one series per trial.

    With `gaps`, contexts may have NaN in them, for policies that take it.

    >>> replay = Replay(x=[[0.0], [1.0]], xi=[[5.0], [6.0]])
    >>> [float(xi[0]) for x, xi in replay.stages(np.array(0))]
    [5.0, 6.0]
    """

    x: ArrayLike
    xi: ArrayLike
    gaps: bool = False

    def __post_init__(self) -> None:
        stages = [series.shape[-2] for series in self._arrays]  # copied and checked here, once
        if stages[0] != stages[1]:
            raise arguments.wrong("Replay", "xi", f"{stages[0]} stages long, as x is", stages[1])

    def stages(self, seeds: IntArray) -> Iterator[tuple[Array, Array]]:
        """As many as were recorded."""
        seeds = arguments.seeds_of("Replay.stages", seeds)
        for name, series in zip(("x", "xi"), self._arrays, strict=True):
            if series.ndim > 2 and series.shape[:-2] != seeds.shape:
                expected = f"one series, or one for each of the {seeds.shape} seeds"
                raise arguments.wrong("Replay", name, expected, series.shape)
        x, xi = (
            np.broadcast_to(series, (*seeds.shape, *series.shape[-2:])) for series in self._arrays
        )
        for t in range(x.shape[-2]):
            yield x[..., t, :], xi[..., t, :]

    @cached_property
    def _arrays(self) -> tuple[Array, Array]:
        return (
            arguments.array("Replay", "x", self.x, (None, ...), gaps=self.gaps).copy(),
            arguments.array("Replay", "xi", self.xi, (None, None)).copy(),
        )
