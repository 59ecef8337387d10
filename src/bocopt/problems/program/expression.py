"""The algebra: what a declaration may do with x, xi and its decisions, in the notation of numpy.

An `Expression` is an array of affine functions of the columns,

    offset_i + sum over entries e in row i of value_e * column_e,

whose offsets and values are known once x and xi are. Which entries there are never depends on the
numbers, so an expression is built once; see `known`. x and xi are expressions without entries.
"""

from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from bocopt.core import IntArray, Sense
from bocopt.problems.program.tape import ParamExpr, Shape, Tape


class DeclarationError(ValueError):
    """A program that cannot be declared so."""


class Entries(NamedTuple):
    """Coefficients: `value` of a column in a row of the flat array."""

    row: IntArray  # (e)
    column: IntArray  # (e)
    value: ParamExpr  # (e)


class Positive(NamedTuple):
    """Columns t with t >= expression and t >= 0: what `pos` stands for."""

    first: int  # the number of its first column
    of: "Expression"  # flat


class Recording:
    """Record of what a declaration has said so far."""

    def __init__(self, columns: int) -> None:
        self.tape = Tape()
        self.columns = columns
        self.positives: list[Positive] = []

    def known(self, value: ParamExpr) -> "Expression":
        """Return a value that is known before the decision as an expression."""
        return Expression(self, value, ())

    def decision(self, first: int, shape: Shape) -> "Expression":
        """Columns, each an expression of its own."""
        size = prod(shape)
        ones = self.tape.constant(np.ones(size))
        own = Entries(np.arange(size), np.arange(first, first + size), ones)
        return Expression(self, self.tape.constant(np.zeros(shape)), (own,))

    def positive(self, of: "Expression") -> "Expression":
        """Return the positive part of an expression: new columns, unless it has no decision."""
        if not of.entries:
            zero = self.tape.constant(0.0)
            return self.known(self.tape.ufunc("maximum", of.offset, zero))
        self.positives.append(Positive(self.columns, of.reshape(-1)))
        self.columns += of.size
        return self.decision(self.columns - of.size, of.shape)


class ConstraintRow(NamedTuple):
    """expression <= 0, or == 0; a declaration returns its rows."""

    expression: "Expression"
    equal: bool

    def __bool__(self) -> bool:
        raise DeclarationError(
            "a comparison with a decision is neither true nor false while the program is declared. "
            "Write a chained comparison as two rows, use pos or np.maximum instead of the builtin "
            "min and max, and no `if`, `and`, `or` or `not`"
        )


class Objective(NamedTuple):
    """Objective of a declaration: an expression to be minimised or maximised."""

    expression: "Expression"
    sense: Sense


class Expression(NDArrayOperatorsMixin):
    """An array of affine functions of the decisions: +, -, *, /, @, indices, sums, comparisons."""

    def __init__(self, recording: Recording, offset: ParamExpr, entries: Sequence[Entries]) -> None:
        self.recording, self.offset = recording, offset
        some = tuple(part for part in entries if len(part.row))
        kept = tuple(part for part in map(_without_zeros, some) if len(part.row))
        self.entries = kept or some[:1]  # a decision that counts nothing is still one

    @property
    def shape(self) -> Shape:
        """The shape of the array."""
        return self.offset.shape

    @property
    def size(self) -> int:
        """The number of elements of the array."""
        return prod(self.shape)

    @property
    def ndim(self) -> int:
        """The number of axes of the array."""
        return len(self.shape)

    def arranged(self, arrange: Callable[[IntArray], Any]) -> "Expression":
        """The entries that a function of an array would bring, where it would bring them."""
        positions = np.asarray(arrange(np.arange(self.size).reshape(self.shape)))
        followed = []
        for row, column, value in self.entries:
            new_row, entry = _followed(row, positions.ravel())
            followed.append(Entries(new_row, column[entry], value.take(entry)))
        return Expression(self.recording, self.offset.take(positions), followed)

    def reshape(self, *shape: Any) -> "Expression":
        """Return the same elements in another shape, as numpy does."""
        return self.arranged(lambda array: array.reshape(*shape))

    def ravel(self) -> "Expression":
        """Return the same elements as a flat array."""
        return self.reshape(-1)

    def transpose(self) -> "Expression":
        """Return the expression with its axes in reverse order."""
        return self.arranged(np.transpose)

    T = property(transpose)

    def sum(self, axis: int | tuple[int, ...] | None = None) -> "Expression":
        """In order, over one axis, several or all."""
        given = range(self.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
        axes = [int(np.arange(self.ndim)[a]) for a in given]
        kept = [size for i, size in enumerate(self.shape) if i not in axes]
        many = prod(self.shape[a] for a in axes)
        last = self.arranged(
            lambda array: np.moveaxis(array, axes, range(-len(axes), 0)).reshape(*kept, many)
        )
        summed = [part._replace(row=part.row // many) for part in last.entries]
        return Expression(self.recording, last.offset.total(), summed)

    def mean(self, axis: int | tuple[int, ...] | None = None) -> "Expression":
        """Return the mean over one axis, several or all."""
        total = self.sum(axis)
        mean: Expression = total / (self.size / total.size)
        return mean

    def dot(self, other: Any) -> "Expression":
        """Return the matrix product `self @ other`."""
        product: Expression = self @ other
        return product

    def __getitem__(self, key: Any) -> "Expression":
        return self.arranged(lambda array: array[key])

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a single number has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator["Expression"]:
        return (self[i] for i in range(len(self)))

    def __bool__(self) -> bool:
        raise DeclarationError(
            "x, xi and decisions have no value while the program is declared, so nothing can be "
            "tested: use np.where for what depends on x or xi"
        )

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise DeclarationError("use np.stack or np.concatenate to put expressions together")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options:
            raise DeclarationError(f"np.{ufunc.__name__} is only supported in its plain form")
        given, name = [self.alike(value) for value in inputs], ufunc.__name__
        if not any(e.entries for e in given) and ufunc.signature is None:
            return self.recording.known(self.recording.tape.ufunc(name, *(e.offset for e in given)))
        if name not in LINEAR:
            raise DeclarationError(f"np.{name} of a decision is not linear")
        return LINEAR[name](*given)

    def __array_function__(
        self, function: Any, _: Any, given: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        if function not in FUNCTIONS:
            raise DeclarationError(f"np.{function.__name__} is not supported in a declaration")
        return FUNCTIONS[function](*given, **options)

    def alike(self, value: Any) -> "Expression":
        """Numbers as an expression of the same recording."""
        if isinstance(value, Expression):
            return value
        array = np.asarray(value)
        if array.dtype.kind not in "biuf":
            hint = ": is x= declared?" if value is None else ""
            raise DeclarationError(f"numbers or decisions were expected, not {value!r}{hint}")
        return self.recording.known(self.recording.tape.constant(array))


#: Elementwise functions of numpy, by name, and what they do to decisions; see `linear`.
LINEAR: dict[str, Callable[..., Any]] = {}
#: Other functions of numpy, and what they do here; see `functions`.
FUNCTIONS: dict[Any, Callable[..., Any]] = {}


def _without_zeros(entries: Entries) -> Entries:
    """Return the entries without those whose value is the constant zero."""
    constant = entries.value.constant
    if constant is None or constant.all():
        return entries
    kept = constant.nonzero()[0]
    return Entries(entries.row[kept], entries.column[kept], entries.value.take(kept))


def _followed(row: IntArray, positions: IntArray) -> tuple[IntArray, IntArray]:
    """Return the new row and the old index of each entry when rows are taken at `positions`."""
    order = row.argsort(kind="stable")
    first = np.searchsorted(row[order], positions, "left")
    many = np.searchsorted(row[order], positions, "right") - first
    within = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
    return np.repeat(np.arange(len(positions)), many), order[np.repeat(first, many) + within]
