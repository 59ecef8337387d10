"""Streams of (context, outcome): the paper's process, and replay of arrays and CSV files."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bocopt import arguments, noise
from bocopt.core import Array, IntArray, Stream

_PHI1 = np.array([[0.5, -0.9, 0.0], [1.1, -0.7, 0.0], [0.0, 0.0, 0.5]])
_PHI2 = np.array([[0.0, -0.5, 0.0], [-0.5, 0.0, 0.0], [0.0, 0.0, 0.0]])
_THETA1 = np.array([[0.4, 0.8, 0.0], [-1.1, -0.3, 0.0], [0.0, 0.0, 0.0]])
_THETA2 = np.array([[0.0, -0.8, 0.0], [-1.1, 0.0, 0.0], [0.0, 0.0, 0.0]])
_SIGMA_U = np.array([[1.0, 0.5, 0.0], [0.5, 1.2, 0.5], [0.0, 0.5, 0.8]])
_G = 2.5 * np.tile([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]], (4, 1))
_B = 7.5 * np.array(
    [[0, -1, -1], [-1, 0, -1], [-1, -1, 0], [0, -1, 1], [-1, 0, 1], [-1, 1, 0],
     [0, 1, -1], [1, 0, -1], [1, -1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]]
)  # fmt: skip


@dataclass(frozen=True)
class PaperStream:
    """The paper's ARMA(2,2) context x (3) and its heteroscedastic outcome xi (12).

        x_t  = u_t + Phi1 x_{t-1} + Phi2 x_{t-2} + Theta1 u_{t-1} + Theta2 u_{t-2}
        xi~  = G (x_t + delta_t / 4) + (B x_t) * eps_t
        xi   = max(-100, xi~) / 100 + offset

    with u ~ N(0, Sigma_U) and delta, eps standard normal. The print has offset 2, with which its
    own table is impossible (E1). It does not say how the process starts: here from zero, with
    `run_in` stages thrown away.

    >>> x, xi = next(PaperStream().stages(np.arange(5)))
    >>> x.shape, xi.shape
    ((5, 3), (5, 12))
    """

    offset: float = 1.0
    run_in: int = 100

    def __post_init__(self) -> None:
        arguments.number("PaperStream", "offset", self.offset, "(-inf, inf)")
        arguments.integer("PaperStream", "run_in", self.run_in, "[0, inf)")

    @property
    def dim_noise(self) -> int:
        return 3 + 12

    def stages(self, seeds: IntArray) -> Iterator[tuple[Array, Array]]:
        """Endless."""
        seeds = arguments.seeds_of("PaperStream.stages", seeds)
        x1 = x2 = u1 = u2 = np.zeros((*seeds.shape, 3))
        factor = np.linalg.cholesky(_SIGMA_U)
        t = 0
        while True:
            u = _times(factor, noise.normal(seeds, t, "stream.innovation", (3,)))
            x = (
                u
                + _times(_PHI1, x1)
                + _times(_PHI2, x2)
                + _times(_THETA1, u1)
                + _times(_THETA2, u2)
            )
            if t >= self.run_in:
                yield x, self.sample_given(x, noise.normal(seeds, t, "stream.outcome", (15,)))
            x1, x2, u1, u2 = x, x1, u, u1
            t += 1

    def sample_given(self, x: Array, u: Array) -> Array:
        """(3), (15) -> (12): the law of xi given x, with u = (delta, eps)."""
        x = arguments.array("PaperStream.sample_given", "x", x, (3,))
        u = arguments.array("PaperStream.sample_given", "u", u, (self.dim_noise,))
        raw = _times(_G, x + u[..., :3] / 4) + _times(_B, x) * u[..., 3:]
        return np.maximum(-100.0, raw) / 100 + self.offset


@dataclass(frozen=True, eq=False)
class Replay:
    """Recorded contexts (T, k) and outcomes (T, m), once for all trials or one series per trial.

    >>> replay = Replay(x=[[0.0], [1.0]], xi=[[5.0], [6.0]])
    >>> [float(xi[0]) for x, xi in replay.stages(np.array(0))]
    [5.0, 6.0]
    """

    x: ArrayLike
    xi: ArrayLike

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
            arguments.array("Replay", "x", self.x, (None, ...)).copy(),
            arguments.array("Replay", "xi", self.xi, (None, None)).copy(),
        )


@dataclass(frozen=True)
class ChangePoint:
    """One stream until a stage, another from there on: what forgetting is tested on."""

    before: Stream
    after: Stream
    at: int

    def __post_init__(self) -> None:
        arguments.kind("ChangePoint", "before", self.before, Stream)
        arguments.kind("ChangePoint", "after", self.after, Stream)
        arguments.integer("ChangePoint", "at", self.at, "[0, inf)")

    def stages(self, seeds: IntArray) -> Iterator[tuple[Array, Array]]:
        """Both run from the start; the second is shown from stage `at` on, and ends it."""
        earlier = self.before.stages(seeds)
        for t, later in enumerate(self.after.stages(seeds)):
            try:
                yield next(earlier) if t < self.at else later
            except StopIteration:
                raise ValueError(f"The stream before the change ended at stage {t}.") from None


def from_csv(
    path: str | PathLike[str], *, context: Sequence[str], outcome: Sequence[str]
) -> Replay:
    """Replay a CSV file, one stage per row: the named columns are x and xi, in this order.

    The first row names the columns; others than those named are not read.
    """
    if not isinstance(path, str | PathLike):  # a number would be taken for an open file
        raise arguments.wrong("from_csv", "path", "a path", path)
    context = _columns("context", context)
    outcome = _columns("outcome", outcome)
    if not outcome:
        raise arguments.wrong("from_csv", "outcome", "one or more column names", outcome)
    with open(path, newline="", encoding="utf-8-sig") as file:
        try:
            table = _table(path, csv.reader(file), [*context, *outcome])
        except (UnicodeDecodeError, csv.Error) as error:
            raise ValueError(f"{path} is not a CSV file in UTF-8: {error}.") from error
    return Replay(table[:, : len(context)], table[:, len(context) :])


def _columns(name: str, columns: Sequence[str]) -> list[str]:
    listed = list(columns) if isinstance(columns, Iterable) else [columns]
    words = not isinstance(columns, str) and all(isinstance(column, str) for column in listed)
    if not words or len(set(listed)) != len(listed):
        raise arguments.wrong("from_csv", name, "a list of different column names", columns)
    return listed


def _table(path: str | PathLike[str], reader: Any, wanted: list[str]) -> Array:
    header = next(reader, None)
    if not header:
        raise ValueError(f"{path} must name its columns in the first line.")
    for column in wanted:
        if header.count(column) != 1:
            raise ValueError(
                f"{path} has {header.count(column) or 'no'} columns '{column}'. "
                f"It has: {', '.join(header)}."
            )
    places = [header.index(column) for column in wanted]
    rows = [
        [_cell(path, reader.line_num, header, line, place) for place in places]
        for line in reader
        if line
    ]
    if not rows:
        raise ValueError(f"{path} has no stages: there is nothing below its first line.")
    return np.array(rows)


def _cell(
    path: str | PathLike[str], line: int, header: list[str], cells: list[str], place: int
) -> float:
    if len(cells) != len(header):
        raise ValueError(f"{path}, line {line}: {len(header)} cells expected, {len(cells)} found.")
    try:
        number = np.nan if "_" in cells[place] else float(cells[place])
    except ValueError:
        number = np.nan
    if not np.isfinite(number):
        raise ValueError(
            f"{path}, line {line}, column '{header[place]}': a finite number expected, "
            f"{cells[place]!r} found."
        )
    return number


def _times(matrix: Array, x: Array) -> Array:
    """The product with each x alone: the same bits whatever the leading axes are."""
    product: Array = np.matmul(matrix, x[..., None])[..., 0]
    return product
