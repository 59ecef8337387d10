"""Exact ends of what is piecewise linear in xi, over a box.

For a fixed z, an objective that is affine in xi but for positive parts is

    f(xi) = f_0 + sum_j f_j xi_j + sum_i w_i (max(g_i(xi), 0) - max(h_i(xi), 0)),

with h = 0 for one decision, and h those of the other for the difference of two. Where each g_i and
h_i reads one component of xi, f is a sum of functions of one component, whose ends are found at the
ends of the box or where a positive part begins. A pair that reads several is bounded by itself:
max(g, 0) - max(h, 0) lies between 0 and g - h.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bocopt.core import Array, BoolArray, IntArray
from bocopt.problems.program.blueprint import Blueprint
from bocopt.problems.program.tape import Depends, TapeStep

Ends = tuple[Array, Array]
_EPSILON = float(np.finfo(np.float64).eps)


class Slopes(NamedTuple):
    """Affine functions of t in [-1, 1]^m."""

    base: Array  # (...) at zero
    slope: Array  # (..., m)


class HingeSum(NamedTuple):
    """w (max(g, 0) - max(h, 0)), one a row."""

    weight: Array  # (n)
    left: Slopes  # (n) g
    right: Slopes  # (n) h


def is_affine(blueprint: Blueprint) -> bool:
    """Return whether the objective and the positive parts in it are affine in xi."""
    affine = list[bool]()
    for step in blueprint.steps:
        affine.append(_stays_affine(step, blueprint.steps, affine))
    inner = [positives.plane for positives in blueprint.positives]
    nested = any((plane.column >= blueprint.size).any() for plane in inner)
    read = [step for plane in (blueprint.objective, *inner) for step in (plane.value, plane.offset)]
    return not nested and all(affine[step] for step in read)


def _stays_affine(step: TapeStep, steps: Sequence[TapeStep], affine: Sequence[bool]) -> bool:
    random = [steps[i].depends is Depends.OUTCOME for i in step.inputs]
    if not any(random):
        return True
    if not all(affine[i] for i in step.inputs):
        return False
    if step.op != "ufunc" or step.name in ("add", "subtract", "negative", "positive"):
        return True
    if step.name == "multiply":
        return sum(random) == 1
    return (step.name == "divide" and not random[1]) or (step.name == "where" and not random[0])


def points(low: Array, high: Array) -> Array:
    """(m), (m) -> (m + 1, m): the centre of a box, and one step along each axis."""
    m, radius = low.shape[-1], (high - low)[..., None, :] / 2
    found: Array = low[..., None, :] + radius + radius * np.eye(m + 1, m, -1)
    return found


def slopes(values: Array) -> Slopes:
    """(..., m + 1) -> (...): an affine function of the box, from its values at the points."""
    values = np.ascontiguousarray(values)
    return Slopes(values[..., 0], values[..., 1:] - values[..., :1])


def extremes(line: Slopes, hinges: HingeSum) -> Ends:
    """() -> (): the least and the largest value for t in [-1, 1]^m."""
    if not hinges.weight.shape[-1]:
        return _ends(line)
    one, other = _reads_one(hinges.left), _reads_one(hinges.right)
    low, high = _bounded(line, hinges, one & other)
    mixed = (one != other).any(axis=-1)
    if not mixed.any():
        return low, high
    # a pair of which one part reads several: by itself, that part may be known better
    split = _split(hinges)
    least, largest = _bounded(line, split, np.concatenate([one, other], axis=-1))
    return (
        np.where(mixed, np.maximum(low, least), low),
        np.where(mixed, np.minimum(high, largest), high),
    )


def rounding(size: Array, hinges: HingeSum) -> Array:
    """Return by how much () sums of numbers of this size may differ from those in another order."""
    for part in (hinges.left, hinges.right):
        inside = np.abs(part.base) + np.abs(part.slope).sum(axis=-1)
        size = size + (np.abs(hinges.weight) * inside).sum(axis=-1)
    return _EPSILON * (8 + sum(hinges.left.slope.shape[-2:])) * size


def _split(hinges: HingeSum) -> HingeSum:
    """Each part of a pair with nothing."""
    pairs = zip(hinges.left, hinges.right, strict=True)
    base, slope = (np.concatenate(parts, axis=hinges.weight.ndim - 1) for parts in pairs)
    weight = np.concatenate([hinges.weight, -hinges.weight], axis=-1)
    return HingeSum(weight, Slopes(base, slope), Slopes(np.zeros_like(base), np.zeros_like(slope)))


def _bounded(line: Slopes, hinges: HingeSum, alone: BoolArray) -> Ends:
    """Return the ends of the sum: hinges that are `alone` exactly, the others by themselves."""
    least, largest = _ends_by_component(line, hinges, alone)
    if not alone.all():
        ends = [np.where(alone, 0.0, hinges.weight * end) for end in _together(hinges)]
        least = least + np.minimum(*ends).sum(axis=-1)
        largest = largest + np.maximum(*ends).sum(axis=-1)
    return line.base + least, line.base + largest


def _reads_one(of: Slopes) -> BoolArray:
    one: BoolArray = (of.slope != 0).sum(axis=-1) <= 1
    return one


def _ends_by_component(line: Slopes, hinges: HingeSum, alone: BoolArray) -> Ends:
    """The sum of the ends of each component, of the line and of hinges that read one."""
    weight = np.where(alone, hinges.weight, 0.0)
    own, others = _along(hinges.left), _along(hinges.right)
    at, component = _turns(line, (own, others))
    height = np.take_along_axis(line.slope, component, axis=-1) * at
    rises = [
        np.where(
            along.component[..., None, :] == component[..., None],
            np.maximum(along.base[..., None, :] + along.slope[..., None, :] * at[..., None], 0.0),
            0.0,
        )
        for along in (own, others)
    ]
    height = height + (weight[..., None, :] * (rises[0] - rises[1])).sum(axis=-1)
    mine = component[..., None, :] == np.arange(line.slope.shape[-1])[:, None]
    least = np.where(mine, height[..., None, :], np.inf).min(axis=-1)
    largest = np.where(mine, height[..., None, :], -np.inf).max(axis=-1)
    return least.sum(axis=-1), largest.sum(axis=-1)


class _Along(NamedTuple):
    """Affine functions of one component each."""

    base: Array  # (n)
    slope: Array  # (n)
    component: IntArray  # (n)


def _along(of: Slopes) -> _Along:
    component = np.abs(of.slope).argmax(axis=-1)
    slope = np.take_along_axis(of.slope, component[..., None], axis=-1)[..., 0]
    return _Along(of.base, slope, component)


def _turns(line: Slopes, parts: Sequence[_Along]) -> tuple[Array, IntArray]:
    """Return places (c), and components (c), where a function of one component can have an end."""
    m, lead = line.slope.shape[-1], line.slope.shape[:-1]
    ends = np.broadcast_to(np.repeat([-1.0, 1.0], m), (*lead, 2 * m))
    axes = np.broadcast_to(np.tile(np.arange(m), 2), ends.shape)
    zeros = [
        np.divide(-part.base, part.slope, out=np.zeros_like(part.base), where=part.slope != 0)
        for part in parts
    ]
    at = np.concatenate([ends, *(np.clip(zero, -1.0, 1.0) for zero in zeros)], axis=-1)
    return at, np.concatenate([axes, *(part.component for part in parts)], axis=-1)


def _together(hinges: HingeSum) -> Ends:
    """(n), (n): the ends of max(g, 0) - max(h, 0), by their own and by those of g - h."""
    left, right = hinges.left, hinges.right
    low, high, low_right, high_right = (
        np.maximum(end, 0.0) for end in (*_ends(left), *_ends(right))
    )
    fall, rise = _ends(Slopes(left.base - right.base, left.slope - right.slope))
    least = np.maximum(np.minimum(fall, 0.0), low - high_right)
    return least, np.minimum(np.maximum(rise, 0.0), high - low_right)


def _ends(of: Slopes) -> Ends:
    reach = np.abs(of.slope).sum(axis=-1)
    return of.base - reach, of.base + reach
