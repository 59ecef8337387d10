"""Blueprints of declarations, as frozen data: columns, planes and the tape of their numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bocopt.core import Array, BoolArray, IntArray, Sense
from bocopt.problems.program.expression import (
    ConstraintRow,
    DeclarationError,
    Entries,
    Expression,
    Objective,
    Recording,
)
from bocopt.problems.program.tape import Depends, ParamExpr, TapeStep
from bocopt.problems.program.variables import Variable


class Plane(NamedTuple):
    """Affine functions of the columns: offset_i + sum of value_e * column_e over its entries."""

    size: int
    row: IntArray  # (e) entries in the order of rows, then columns; no pair twice
    column: IntArray  # (e)
    value: int  # the step of the tape that has the values, (e)
    offset: int  # and the offsets, (size)
    equal: bool  # as rows: == 0 instead of <= 0
    later: bool  # whether it differs between scenarios, or reads columns that do


class Positives(NamedTuple):
    """Columns t >= 0 with t >= plane, from this one on."""

    first: int
    plane: Plane


@dataclass(frozen=True, eq=False)
class Blueprint:
    """A program, before x and xi are known.

    Columns are ordered: z, auxiliaries of z alone, recourse, auxiliaries of each scenario.
    """

    names: tuple[str, ...]
    variables: tuple[Variable, ...]  # those of z first
    size: int  # d, the length of z
    lower: Array  # (n) of all columns, auxiliaries included
    upper: Array  # (n)
    integer: BoolArray  # (n)
    shared: int  # z and its auxiliaries
    sense: Sense
    objective: Plane  # a cost, whatever the sense
    rows: tuple[Plane, ...]
    positives: tuple[Positives, ...]  # in the order in which they can be computed
    steps: tuple[TapeStep, ...]

    @property
    def columns(self) -> int:
        """n, with auxiliaries."""
        return len(self.lower)

    @cached_property
    def recourse(self) -> bool:
        """True where some variable is decided once xi is known."""
        return any(variable.later for variable in self.variables)

    def name_of(self, column: int) -> str:
        """Return the name of a column, as the declaration calls it."""
        first = 0
        for name, variable in zip(self.names, self.variables, strict=True):
            first = max(first, self.shared) if variable.later else first
            if first <= column < first + variable.size:
                place = np.unravel_index(column - first, variable.shape)
                return f"{name!r} at {[int(i) for i in place]}" if variable.shape else repr(name)
            first += variable.size
        return "a positive part: of what its expression is made of"

    def auxiliary(self) -> BoolArray:
        """Return a mask (n) of the columns that stand for a `pos`."""
        found = np.zeros(self.columns, bool)
        for first, plane in self.positives:
            found[first : first + plane.size] = True
        return found


def surely_held(blueprint: Blueprint) -> bool:
    """Return whether a recourse without a bound can make up for whatever each row lacks.

    By structure alone: a row that holds for another reason is taken as one that may fail.
    """
    later = [plane for plane in blueprint.rows if plane.later]
    return all(_made_up_for(blueprint, plane, i) for plane in later for i in range(plane.size))


def _made_up_for(blueprint: Blueprint, plane: Plane, row: int) -> bool:
    """Return whether the left side of a row can get arbitrarily small, and large where ==."""
    own = np.flatnonzero((plane.row == row) & (plane.column >= blueprint.shared))
    step, columns = blueprint.steps[plane.value], plane.column[own]
    if step.op != "constant" and len(own):
        return True  # the signs are known only at a context and an outcome
    up, down = np.isposinf(blueprint.upper[columns]), np.isneginf(blueprint.lower[columns])
    rises = step.array[own] > 0 if len(own) else np.zeros(0, bool)
    falling, rising = np.where(rises, down, up), np.where(rises, up, down)
    return bool(falling.any() and (rising.any() or not plane.equal))


def build_blueprint(
    recording: Recording,
    variables: dict[str, Variable],
    objective: Objective,
    rows: Sequence[ConstraintRow],
) -> Blueprint:
    """The blueprint of what was recorded; `variables` have those of z first."""
    number, shared, later = _ordered(recording, variables)
    cost = objective.expression
    if objective.sense is Sense.MAXIMISE:
        cost = -cost
    planes, steps = _planes(
        recording,
        [
            (cost, False),
            *((row.expression, row.equal) for row in rows),
            *((positive.of, False) for positive in recording.positives),
        ],
        number,
        later,
    )
    own = tuple(variables.values())
    lower, upper, integer = _ends(own, number)
    return Blueprint(
        names=tuple(variables),
        variables=own,
        size=sum(variable.size for variable in own if not variable.later),
        lower=lower,
        upper=upper,
        integer=integer,
        shared=shared,
        sense=objective.sense,
        objective=planes[0],
        rows=tuple(planes[1 : 1 + len(rows)]),
        positives=tuple(
            Positives(int(number[p.first]), plane)
            for p, plane in zip(recording.positives, planes[1 + len(rows) :], strict=True)
        ),
        steps=steps,
    )


def _planes(
    recording: Recording,
    affine: Sequence[tuple[Expression, bool]],
    number: IntArray,
    later: BoolArray,
) -> tuple[list[Plane], tuple[TapeStep, ...]]:
    """Return the planes of expressions, each with whether it is == 0, and the steps they need."""
    parts = [_merged(expression, number) for expression, _ in affine]
    wanted = [known for entries, offset in parts for known in (entries.value, offset)]
    steps, numbered = recording.tape.needed(wanted)
    planes = [
        Plane(
            size=offset.shape[0],
            row=entries.row,
            column=entries.column,
            value=numbered[entries.value.at],
            offset=numbered[offset.at],
            equal=equal,
            later=Depends.OUTCOME in (entries.value.step.depends, offset.step.depends)
            or bool(later[entries.column].any()),
        )
        for (entries, offset), (_, equal) in zip(parts, affine, strict=True)
    ]
    return planes, steps


def _ordered(
    recording: Recording, variables: dict[str, Variable]
) -> tuple[IntArray, int, BoolArray]:
    """The final number of each recorded column, how many are shared, and which of all are not."""
    later = np.zeros(recording.columns, bool)
    first = 0
    for variable in variables.values():
        later[first : first + variable.size] = variable.later
        first += variable.size
    for positive in recording.positives:
        known = [positive.of.offset, *(part.value for part in positive.of.entries)]
        reads = any(later[part.column].any() for part in positive.of.entries)
        outcome = any(value.step.depends is Depends.OUTCOME for value in known)
        later[positive.first : positive.first + positive.of.size] = outcome or reads
    order = later.argsort(kind="stable")
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    return number, int((~later).sum()), later[order]


def _ends(variables: Sequence[Variable], number: IntArray) -> tuple[Array, Array, BoolArray]:
    """Return the lower and upper ends (n) of all columns, and which are integer."""
    lower = _placed([variable.lower for variable in variables], number, 0.0)
    upper = _placed([variable.upper for variable in variables], number, np.inf)
    integer = _placed([np.full(v.shape, v.integer) for v in variables], number, 0.0)
    return lower, upper, integer > 0


def _placed(parts: Sequence[ArrayLike], number: IntArray, auxiliary: float) -> Array:
    """Return values (n) of the variables in the final order, and one number for the rest."""
    given = np.concatenate([np.ravel(part) for part in parts])
    placed = np.full(len(number), auxiliary)
    placed[number[: len(given)]] = given
    return placed


def _merged(expression: Expression, number: IntArray) -> tuple[Entries, ParamExpr]:
    """All entries in the order of rows and columns, those of one place added up; the offset."""
    flat, tape = expression.ravel(), expression.recording.tape
    parts = flat.entries
    row = np.concatenate([np.zeros(0, np.int64), *(part.row for part in parts)])
    column = number[np.concatenate([np.zeros(0, np.int64), *(part.column for part in parts)])]
    value = tape.join([part.value for part in parts])
    place, which, many = np.unique(
        row * len(number) + column, return_inverse=True, return_counts=True
    )
    order = which.argsort(kind="stable")
    if len(place) == len(row):
        value = value.take(order)
    else:  # a table of what is added up at each place, filled up with a zero
        table = np.full((len(place), many.max()), len(row))
        within = np.arange(len(row)) - np.repeat(np.cumsum(many) - many, many)
        table[which[order], within] = order
        value = tape.join([value, tape.constant(np.zeros(1))]).take(table).total()
    for known in (value, flat.offset):
        if known.constant is not None and not np.isfinite(known.constant).all():
            raise DeclarationError("a coefficient is not finite, such as a NaN")
    return Entries(place // len(number), place % len(number), value), flat.offset
