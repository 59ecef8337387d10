"""Numbers that are known once x and xi are: functions of both, recorded as a tape of steps.

A declaration runs once, with symbols; what it does to x and xi is written down, and the tape is
played for any number of scenarios at once: every array then has the leading axes of x and xi. What
depends on neither is computed while recording. Sums are taken in order, so that a scenario gives
the same bits alone as among others.
"""

from collections.abc import Mapping, Sequence
from enum import IntEnum
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bocopt.core import Array, IntArray

Shape = tuple[int, ...]


class Depends(IntEnum):
    """Kind of input that a number is a function of; of several, the largest counts."""

    NOTHING = 0
    CONTEXT = 1
    OUTCOME = 2


class TapeStep(NamedTuple):
    """One line of a tape: how its array, of this shape, comes from those of earlier steps."""

    op: str  # input, constant, ufunc, take, cut, total or join
    shape: Shape
    depends: Depends
    inputs: tuple[int, ...] = ()
    name: str = ""  # of an input or a ufunc
    array: Any = None  # a constant, or the places that `take` takes, or the first that `cut` does


class ParamExpr:
    """One step of a tape that is being recorded."""

    def __init__(self, tape: "Tape", at: int) -> None:
        self.tape, self.at = tape, at

    @property
    def step(self) -> TapeStep:
        """The step of the tape that it stands for."""
        return self.tape.steps[self.at]

    @property
    def shape(self) -> Shape:
        """The shape of its array, without leading axes."""
        return self.step.shape

    @property
    def constant(self) -> Array | None:
        """Its numbers, where they depend on nothing."""
        array: Array | None = self.step.array if self.step.op == "constant" else None
        return array

    def take(self, positions: IntArray) -> "ParamExpr":
        """Entries of the flat array, in the shape of the positions."""
        if self.constant is not None:
            return self.tape.constant(self.constant.ravel()[positions])
        if self.step.op == "take":  # of what was taken: take it at once
            origin = ParamExpr(self.tape, self.step.inputs[0])
            return origin.take(self.step.array.ravel()[positions])
        everything = np.arange(prod(self.shape)).reshape(self.shape)
        if positions.shape == self.shape and (positions == everything).all():
            return self
        return self.tape.record("take", positions.shape, [self], array=positions)

    def total(self) -> "ParamExpr":
        """The sum over the last axis, in order."""
        if self.constant is not None:
            return self.tape.constant(_total(self.constant))
        return self.tape.record("total", self.shape[:-1], [self])


class Tape:
    """Tape of steps that is being recorded."""

    def __init__(self) -> None:
        self.steps: list[TapeStep] = []

    def input(self, name: str, size: int, depends: Depends) -> ParamExpr:
        """Record an input vector of this name and size."""
        return self._append(TapeStep("input", (size,), depends, name=name))

    def constant(self, values: ArrayLike) -> ParamExpr:
        """Record an array of numbers that depend on neither x nor xi."""
        array = np.array(values, dtype=np.float64)
        array.flags.writeable = False
        return self._append(TapeStep("constant", array.shape, Depends.NOTHING, array=array))

    def ufunc(self, name: str, *inputs: ParamExpr) -> ParamExpr:
        """An elementwise function of numpy, by its name."""
        constants = [given.constant for given in inputs]
        if all(array is not None for array in constants):
            return self.constant(getattr(np, name)(*constants))
        shape = np.broadcast_shapes(*(given.shape for given in inputs))
        return self._simpler(name, shape, inputs) or self.record("ufunc", shape, inputs, name=name)

    def _simpler(self, name: str, shape: Shape, inputs: Sequence[ParamExpr]) -> ParamExpr | None:
        """Return a result without a step, or None: 0 times or over it, 1 times it, 0 added."""
        if name in ("multiply", "divide"):
            zeros = [_is(given, 0.0) for given in inputs]
            if zeros[0] or (zeros[1] and name == "multiply"):
                return self.constant(np.zeros(shape))
        neutral = {"add": 0.0, "multiply": 1.0}.get(name)
        for given, other in (inputs, inputs[::-1]) if neutral is not None else ():
            if _is(given, neutral) and other.shape == shape:
                return other
        return None

    def join(self, parts: Sequence[ParamExpr]) -> ParamExpr:
        """Flat arrays, one after the other."""
        constants = [part.constant for part in parts]
        known = [array for array in constants if array is not None]
        if len(known) == len(parts):
            return self.constant(np.concatenate(known) if known else np.zeros(0))
        if len(parts) == 1:
            return parts[0]
        return self.record("join", (sum(part.shape[0] for part in parts),), parts)

    def record(
        self,
        op: str,
        shape: Shape,
        inputs: Sequence[ParamExpr],
        name: str = "",
        array: IntArray | None = None,
    ) -> ParamExpr:
        """Record a step of this kind, and return its array as a `ParamExpr`."""
        depends = max(given.step.depends for given in inputs)
        return self._append(TapeStep(op, shape, depends, tuple(g.at for g in inputs), name, array))

    def _append(self, step: TapeStep) -> ParamExpr:
        self.steps.append(step)
        return ParamExpr(self, len(self.steps) - 1)

    def needed(self, wanted: Sequence[ParamExpr]) -> tuple[tuple[TapeStep, ...], dict[int, int]]:
        """The steps that these are made of, and the new number of each."""
        reached, left = set[int](), [known.at for known in wanted]
        while left:
            at = left.pop()
            if at not in reached:
                reached.add(at)
                left.extend(self.steps[at].inputs)
        number = {at: i for i, at in enumerate(sorted(reached))}
        renumbered = (
            step._replace(inputs=tuple(number[i] for i in step.inputs))
            for step in (_cut(self.steps[at]) for at in sorted(reached))
        )
        return tuple(renumbered), number


def _cut(step: TapeStep) -> TapeStep:
    """Return the step; a `take` of consecutive elements becomes a `cut`, which needs no copy."""
    if step.op != "take" or not step.array.size:
        return step
    first = int(step.array.flat[0])
    follow = (step.array.ravel() == first + np.arange(step.array.size)).all()
    return step._replace(op="cut", array=first) if follow else step


def play(steps: Sequence[TapeStep], inputs: Mapping[str, Array], axes: int) -> list[Array]:
    """The arrays of all steps, for inputs that have so many leading axes."""
    values: list[Array] = []
    for step in steps:
        given = [values[i] for i in step.inputs]
        values.append(played(step, given, inputs, axes))
    return values


def played(step: TapeStep, given: Sequence[Array], inputs: Mapping[str, Array], axes: int) -> Array:
    """The array of one step, from those that it is made of."""
    value: Array
    if step.op == "constant":
        value = step.array.reshape((1,) * axes + step.shape)
    elif step.op == "input":
        value = inputs[step.name]
    elif step.op == "ufunc":
        rank = axes + len(step.shape)
        value = getattr(np, step.name)(*(padded(array, rank, axes) for array in given))
    elif step.op == "take":
        value = given[0].reshape(*given[0].shape[:axes], -1)[..., step.array]
    elif step.op == "cut":
        lead = given[0].shape[:axes]
        flat = given[0].reshape(*lead, -1)[..., step.array : step.array + prod(step.shape)]
        value = flat.reshape(lead + step.shape)
    elif step.op == "total":
        value = _total(given[0])
    else:
        lead = np.broadcast_shapes(*(array.shape[:axes] for array in given))
        parts = [np.broadcast_to(array, (*lead, array.shape[-1])) for array in given]
        value = np.concatenate(parts, axis=-1)
    return value


def _is(given: ParamExpr, number: float | None) -> bool:
    return given.constant is not None and bool((given.constant == number).all())


def padded(array: Array, rank: int, axes: int) -> Array:
    """Insert axes of length 1 between the leading ones and the array's own, up to this rank."""
    if array.ndim == rank:
        return array
    return array.reshape(array.shape[:axes] + (1,) * (rank - array.ndim) + array.shape[axes:])


def _total(array: Array) -> Array:
    if array.shape[-1] == 0:
        return np.zeros(array.shape[:-1])
    total: Array = np.cumsum(array, axis=-1)[..., -1]
    return total
