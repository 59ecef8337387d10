"""What arithmetic does to decisions: sums, products with what is known, comparisons."""

import numpy as np

from bocopt.problems.program.expression import (
    LINEAR,
    DeclarationError,
    Entries,
    Expression,
    Row,
)


def _spread(*given: Expression) -> list[Expression]:
    """All in the shape that they have together."""
    shape = np.broadcast_shapes(*(expression.shape for expression in given))
    return [e.arranged(lambda array: np.broadcast_to(array, shape)) for e in given]


def _add(left: Expression, right: Expression) -> Expression:
    left, right = _spread(left, right)
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
    left, right = _spread(left, right)
    if left.entries and right.entries:
        raise DeclarationError("the product of two decisions is not linear")
    return _scaled(left, right, "multiply") if left.entries else _scaled(right, left, "multiply")


def _divide(left: Expression, right: Expression) -> Expression:
    if right.entries:
        raise DeclarationError("a number divided by a decision is not linear")
    left, right = _spread(left, right)
    return _scaled(left, right, "divide")


def _matmul(left: Expression, right: Expression) -> Expression:
    """Of vectors and matrices: rows of the left with columns of the right, in order."""
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
    left, right = _spread(left, right)
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
    return _add(of.recording.positive(of), of.recording.positive(_negative(of)))


def _strict(*_: Expression) -> Row:
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
        "less_equal": lambda left, right: Row(_subtract(left, right), equal=False),
        "greater_equal": lambda left, right: Row(_subtract(right, left), equal=False),
        "equal": lambda left, right: Row(_subtract(left, right), equal=True),
        "less": _strict,
        "greater": _strict,
        "not_equal": _strict,
    }
)
