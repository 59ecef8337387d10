"""Functions of a declaration: objectives, the convex ones, and numpy's own for expressions."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bocopt.core import Sense
from bocopt.problems.program.expression import (
    FUNCTIONS,
    DeclarationError,
    Expression,
    Objective,
)
from bocopt.problems.program.linear import absolute_value

_REARRANGING = (
    *(np.reshape, np.ravel, np.transpose, np.swapaxes, np.moveaxis, np.expand_dims, np.squeeze),
    *(np.broadcast_to, np.repeat, np.tile, np.roll, np.flip, np.diagonal, np.take),
    *(np.delete, np.atleast_1d, np.atleast_2d),
)
_JOINING = (np.concatenate, np.stack, np.hstack, np.vstack, np.column_stack)


def minimise(cost: Any) -> Objective:
    """The objective of a declaration: one number, as small as can be."""
    return _objective("minimise", cost, Sense.MINIMISE)


def maximise(reward: Any) -> Objective:
    """The objective of a declaration: one number, as large as can be."""
    return _objective("maximise", reward, Sense.MAXIMISE)


def pos(value: Any) -> Any:
    """The positive part, max(value, 0), of numbers or of an expression.

    It is convex: a program may have it in what is minimised, or on the smaller side of a row.

    >>> pos(np.array([-1.0, 2.0]))
    array([0., 2.])
    """
    if isinstance(value, Expression):
        return value.recording.positive(value)
    return np.maximum(value, 0.0)


def absolute(value: Any) -> Any:
    """The absolute value, of numbers or of an expression; convex as `pos`.

    >>> absolute(np.array([-1.0, 2.0]))
    array([1., 2.])
    """
    return absolute_value(value) if isinstance(value, Expression) else np.abs(value)


def _objective(name: str, value: Any, sense: Sense) -> Objective:
    if not isinstance(value, Expression):
        raise DeclarationError(f"{name} takes an expression of the decisions, not {value!r}")
    if value.size != 1:
        raise DeclarationError(
            f"{name} takes one number, not an array of shape {value.shape}: did you mean its sum?"
        )
    return Objective(value.ravel(), sense)


def _all_alike(values: Sequence[Any]) -> list[Expression]:
    some = next(value for value in values if isinstance(value, Expression))
    return [some.alike(value) for value in values]


def _together(function: Callable[..., Any]) -> Callable[..., Expression]:
    """np.concatenate and its kind: done to the numbers of the entries, then to these."""

    def put(values: Sequence[Any], *given: Any, **options: Any) -> Expression:
        parts = _all_alike(values)
        numbers, entries, first = [], [], 0
        for part in parts:
            numbers.append(np.arange(first, first + part.size).reshape(part.shape))
            entries += [own._replace(row=own.row + first) for own in part.entries]
            first += part.size
        offset = parts[0].recording.tape.join([part.ravel().offset for part in parts])
        joined = Expression(parts[0].recording, offset, entries)
        return joined.arranged(lambda _: function(numbers, *given, **options))

    return put


def _arranged(function: Callable[..., Any]) -> Callable[..., Expression]:
    """np.reshape and its kind: entries change places."""

    def put(value: Expression, *given: Any, **options: Any) -> Expression:
        return value.arranged(lambda array: function(array, *given, **options))

    return put


def _where(condition: Any, yes: Any, no: Any) -> Expression:
    condition, yes, no = _broadcast(condition, yes, no)
    if condition.entries:
        raise DeclarationError("np.where cannot depend on a decision")
    tape = condition.recording.tape
    chosen, zero = condition.offset, tape.constant(0.0)
    entries = [
        own._replace(value=tape.ufunc("where", chosen.take(own.row), own.value, zero))
        for own in yes.entries
    ] + [
        own._replace(value=tape.ufunc("where", chosen.take(own.row), zero, own.value))
        for own in no.entries
    ]
    offset = tape.ufunc("where", chosen, yes.offset, no.offset)
    return Expression(condition.recording, offset, entries)


def _broadcast(*values: Any) -> list[Expression]:
    parts = _all_alike(values)
    shape = np.broadcast_shapes(*(part.shape for part in parts))
    return [part.arranged(lambda array: np.broadcast_to(array, shape)) for part in parts]


def _dot(left: Any, right: Any) -> Any:
    return left @ right


def _running_sum(value: Expression) -> Any:
    return np.tri(value.size) @ value.ravel()


FUNCTIONS.update(
    {function: _arranged(function) for function in _REARRANGING}
    | {function: _together(function) for function in _JOINING}
    | {
        np.sum: lambda value, axis=None: value.sum(axis),
        np.mean: lambda value, axis=None: value.mean(axis),
        np.dot: _dot,
        np.inner: _dot,
        np.where: _where,
        np.broadcast_arrays: _broadcast,
        np.diff: lambda value: value[1:] - value[:-1],
        np.cumsum: _running_sum,
        np.shape: lambda value: value.shape,
        np.size: lambda value: value.size,
        np.ndim: lambda value: value.ndim,
    }
)
