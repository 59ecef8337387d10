"""Compilation of a blueprint, and of the numbers of its tape, to the form that solvers take."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bocopt.core import Array, BoolArray
from bocopt.problems.program.blueprint import Blueprint, Plane
from bocopt.problems.program.form import Form, Rows, Sparse


class RowBlock(NamedTuple):
    """Rows of several planes: what is constant is in place, the rest is filled in."""

    matrix: Array  # (r, n)
    limit: Array  # (r)
    equal: BoolArray  # (r)
    values: tuple[tuple[int, Plane], ...]  # whose values move with x or xi, and their first row
    offsets: tuple[tuple[int, Plane], ...]  # whose offsets do

    full: bool  # one plane has all places, row by row, and its values move
    sparse: Sparse | None  # the matrix, where it is constant


class Template(NamedTuple):
    """Template of a form: the places of all its numbers, made once."""

    objective: RowBlock  # one row, its limit is minus the constant
    certain: RowBlock
    defining: RowBlock
    uncertain: RowBlock


def template_of(blueprint: Blueprint) -> Template:
    """Return the template for the forms of a blueprint."""
    certain: list[tuple[Plane, int]] = []
    defining: list[tuple[Plane, int]] = []
    uncertain: list[tuple[Plane, int]] = []
    for plane in blueprint.rows:
        (uncertain if plane.later else certain).append((plane, -1))
    for first, plane in blueprint.positives:
        (defining if plane.later else certain).append((plane, first))
    columns = blueprint.columns
    return Template(
        _block([(blueprint.objective, -1)], blueprint, columns),
        _block(certain, blueprint, blueprint.shared),
        _block(defining, blueprint, columns),
        _block(uncertain, blueprint, columns),
    )


def instantiate(blueprint: Blueprint, into: Template, values: Sequence[Array]) -> Form:
    """The form for values of the tape, which have one leading axis: of the scenarios."""
    cost = _filled(into.objective, values)
    return Form(
        lower=blueprint.lower,
        upper=blueprint.upper,
        integer=blueprint.integer,
        size=blueprint.size,
        shared=blueprint.shared,
        constant=0.0 - cost.limit[:, 0],
        cost=cost.matrix[:, 0],
        certain=_filled(into.certain, values),
        defining=_filled(into.defining, values),
        uncertain=_filled(into.uncertain, values),
    )


def _block(planes: list[tuple[Plane, int]], blueprint: Blueprint, columns: int) -> RowBlock:
    """Planes, each with the first column of what must be at least as large, or -1."""
    many = sum(plane.size for plane, _ in planes)
    matrix, limit, equal = np.zeros((many, columns)), np.zeros(many), np.zeros(many, bool)
    values, offsets, row = [], [], 0
    for plane, larger in planes:
        each = np.arange(plane.size)
        equal[row + each] = plane.equal
        if larger >= 0:
            matrix[row + each, larger + each] = -1.0
        value, offset = blueprint.steps[plane.value], blueprint.steps[plane.offset]
        if value.op == "constant":
            matrix[row + plane.row, plane.column] = value.array
        else:
            values.append((row, plane))
        if offset.op == "constant":
            limit[row + each] = 0.0 - offset.array
        else:
            offsets.append((row, plane))
        row += plane.size
    matrix.flags.writeable = limit.flags.writeable = False
    full = len(planes) == 1 and len(values) == 1 and planes[0][0].row.size == matrix.size
    sparse = None if values else Sparse.of(matrix)
    return RowBlock(matrix, limit, equal, tuple(values), tuple(offsets), full, sparse)


def _filled(block: RowBlock, values: Sequence[Array]) -> Rows:
    return Rows(_matrix(block, values), _limit(block, values), block.equal, block.sparse)


def _matrix(block: RowBlock, values: Sequence[Array]) -> Array:
    if not block.values:
        return block.matrix[None]
    if block.full:
        return values[block.values[0][1].value].reshape(-1, *block.matrix.shape)
    scenarios = max(len(values[plane.value]) for _, plane in block.values)
    matrix = np.repeat(block.matrix[None], scenarios, axis=0)
    for row, plane in block.values:
        matrix[:, row + plane.row, plane.column] = values[plane.value]
    return matrix


def _limit(block: RowBlock, values: Sequence[Array]) -> Array:
    if not block.offsets:
        return block.limit[None]
    if len(block.offsets) == 1 and block.offsets[0][1].size == len(block.limit):
        return 0.0 - values[block.offsets[0][1].offset]
    scenarios = max(len(values[plane.offset]) for _, plane in block.offsets)
    limit = np.repeat(block.limit[None], scenarios, axis=0)
    for row, plane in block.offsets:
        limit[:, row : row + plane.size] = 0.0 - values[plane.offset]
    return limit
