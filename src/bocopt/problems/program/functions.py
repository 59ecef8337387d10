"""Functions of a declaration: arithmetic, objectives, the convex ones, numpy's for expressions."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bocopt.core import Sense
from bocopt.problems.program.expression import (
    FUNCTIONS,
    LINEAR,
    ConstraintRow,
    DeclarationError,
    Entries,
    Expression,
    Objective,
)

_REARRANGING = (
    *(np.reshape, np.ravel, np.transpose, np.swapaxes, np.moveaxis, np.expand_dims, np.squeeze),
    *(np.broadcast_to, np.repeat, np.tile, np.roll, np.flip, np.diagonal, np.take),
    *(np.delete, np.atleast_1d, np.atleast_2d),
)
_JOINING = (np.concatenate, np.stack, np.hstack, np.vstack, np.column_stack)


def _in_one_shape(*given: Expression) -> list[Expression]:
    """All in the shape that they have together."""
    shape = np.broadcast_shapes(*(expression.shape for expression in given))
    return [e.arranged(lambda array: np.broadcast_to(array, shape)) for e in given]


def _add(left: Expression, right: Expression) -> Expression:
    left, right = _in_one_shape(left, right)
    offset = left.recording.tape.ufunc("add", left.offset, right.offset)
    return Expression(left.recording, offset, left.entries + right.entries)


def _negative(of: Expression) -> Expression:
    tape = of.recording.tape
    entries = [part._replace(value=tape.ufunc("negative", part.value)) for part in of.entries]
    return Expression(of.recording, tape.ufunc("negative", of.offset), entries)


def _subtract(left: Expression, right: Expression) -> Expression:
    return _add(left, _negative(right))


def _scaled(of: Expression, by: Expression, how: str) -> Expression:
    """Multiplied or divided by what is known."""
    tape, factor = of.recording.tape, by.offset
    entries = [
        Entries(row, column, tape.ufunc(how, value, factor.take(row)))
        for row, column, value in of.entries
    ]
    return Expression(of.recording, tape.ufunc(how, of.offset, factor), entries)


def _multiply(left: Expression, right: Expression) -> Expression:
    left, right = _in_one_shape(left, right)
    if left.entries and right.entries:
        raise DeclarationError("the product of two decisions is not linear")
    return _scaled(left, right, "multiply") if left.entries else _scaled(right, left, "multiply")


def _divide(left: Expression, right: Expression) -> Expression:
    if right.entries:
        raise DeclarationError("a number divided by a decision is not linear")
    left, right = _in_one_shape(left, right)
    return _scaled(left, right, "divide")


def _matmul(left: Expression, right: Expression) -> Expression:
    """Return left @ right of vectors or matrices: rows with columns, summed in order."""
    if not 1 <= left.ndim <= 2 or not 1 <= right.ndim <= 2:
        raise DeclarationError(
            f"@ takes vectors and matrices, not arrays of shapes {left.shape} and {right.shape}"
        )
    if left.shape[-1] != right.shape[0]:
        raise DeclarationError(f"@ cannot take shapes {left.shape} and {right.shape}: other sizes")
    rows = left.reshape((-1, 1, left.shape[-1]))
    columns = right.reshape((right.shape[0], -1)).T
    return _multiply(rows, columns).sum(axis=-1).reshape(left.shape[:-1] + right.shape[1:])


def _maximum(left: Expression, right: Expression) -> Expression:
    left, right = _in_one_shape(left, right)
    if _is_zero(left):
        return left.recording.positive(right)
    if _is_zero(right):
        return left.recording.positive(left)
    return _add(right, left.recording.positive(_subtract(left, right)))


def _minimum(left: Expression, right: Expression) -> Expression:
    return _negative(_maximum(_negative(left), _negative(right)))


def _is_zero(expression: Expression) -> bool:
    constant = expression.offset.constant
    return not expression.entries and constant is not None and not constant.any()


def absolute_value(of: Expression) -> Expression:
    """Return the absolute value of an expression: the sum of two positive parts."""
    return _add(of.recording.positive(of), of.recording.positive(_negative(of)))


def _strict(*_: Expression) -> ConstraintRow:
    raise DeclarationError(
        "rows are <=, >= or ==, not <, > or !=; and the builtin min and max, which compare, are "
        "np.minimum and np.maximum here"
    )


LINEAR.update(
    {
        "add": _add,
        "subtract": _subtract,
        "negative": _negative,
        "positive": lambda of: of,
        "multiply": _multiply,
        "divide": _divide,
        "matmul": _matmul,
        "maximum": _maximum,
        "minimum": _minimum,
        "absolute": absolute_value,
        "fabs": absolute_value,
        "less_equal": lambda left, right: ConstraintRow(_subtract(left, right), equal=False),
        "greater_equal": lambda left, right: ConstraintRow(_subtract(right, left), equal=False),
        "equal": lambda left, right: ConstraintRow(_subtract(left, right), equal=True),
        "less": _strict,
        "greater": _strict,
        "not_equal": _strict,
    }
)


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
        """Return the values joined as `function` joins arrays."""
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
        """Return the value rearranged as `function` rearranges an array."""
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
    return _in_one_shape(*_all_alike(values))


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
