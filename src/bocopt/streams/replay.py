"""Replay of what was recorded."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bocopt import arguments
from bocopt.columns import Columns, columns_of
from bocopt.core import Array, IntArray


@dataclass(frozen=True, eq=False)
class Replay:
    """Recorded contexts (T, k) and outcomes (T, m), once for all trials or one series per trial.

    Each is an array, a data frame of T rows, a dictionary of columns, or a series of T numbers. The
    names of columns go into the stages and the trace. With `gaps`, contexts may have NaN in them,
    for policies that take it.

    >>> replay = Replay(x=[[0.0], [1.0]], xi={"demand": [5.0, 6.0]})
    >>> [float(xi[0]) for x, xi in replay.stages(np.array(0))]
    [5.0, 6.0]
    >>> replay
    <Replay: 2 stages, x (1), xi (1): demand>
    """

    x: Any  # (T, k)
    xi: Any  # (T, m)
    gaps: bool = False

    def __post_init__(self) -> None:
        stages = [series.shape[-2] for series in self._arrays]  # copied and checked here, once
        if stages[0] != stages[1]:
            raise arguments.wrong("Replay", "xi", f"{stages[0]} stages long, as x is", stages[1])

    def __repr__(self) -> str:
        """How long, and of what."""
        names = self.x_names, self.xi_names
        shown = ", ".join(
            f"{name} ({series.shape[-1]}){': ' * bool(own)}{', '.join(own)}"
            for name, series, own in zip(("x", "xi"), self._arrays, names, strict=True)
        )
        shape = self._arrays[0].shape if self._arrays[0].ndim > 2 else self._arrays[1].shape
        trials = f" x {math.prod(shape[:-2])} trials" * (len(shape) > 2)
        return f"<Replay: {shape[-2]} stages{trials}, {shown}>"

    @property
    def x_names(self) -> tuple[str, ...]:
        """(k) what the numbers of a context are called; none where nobody said."""
        return self._columns[0].names

    @property
    def xi_names(self) -> tuple[str, ...]:
        """(m) the same of an outcome."""
        return self._columns[1].names

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
    def _columns(self) -> tuple[Columns, Columns]:
        return (
            columns_of("Replay", "x", self.x, wanted="rows"),
            columns_of("Replay", "xi", self.xi, wanted="rows"),
        )

    @cached_property
    def _arrays(self) -> tuple[Array, Array]:
        x, xi = (columns.values for columns in self._columns)
        return (
            arguments.array("Replay", "x", x, (None, ...), gaps=self.gaps).copy(),
            arguments.array("Replay", "xi", xi, (None, None)).copy(),
        )
