"""Declarations in cvxpy: their leaves as plain data, and one instance as symbols."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from math import prod
from typing import Any, NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.core import Array, Sense
from bocopt.problems.program.declare import called, flat
from bocopt.problems.program.expression import DeclarationError

_KNOWN = (  # attributes, in the order in which a value is made to fit them
    "integer",
    "boolean",
    "symmetric",
    "PSD",
    "NSD",
    "nonneg",
    "nonpos",
    "pos",
    "neg",
    "bounds",
)


@cache
def cvxpy() -> Any:
    """The module, which takes seconds to import and is an extra."""
    try:
        return import_module("cvxpy")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            'from_cvxpy needs cvxpy: pip install "bocopt[cvxpy]".', name=error.name
        ) from error


class Leaf(NamedTuple):
    """Shape and attributes of a `cvxpy.Variable` or `cvxpy.Parameter`."""

    shape: tuple[int, ...]
    attributes: Mapping[str, Any]

    @property
    def size(self) -> int:
        """The number of entries."""
        return prod(self.shape)

    @property
    def integer(self) -> bool:
        """True where all entries must be whole numbers."""
        return "integer" in self.attributes or "boolean" in self.attributes

    def variable(self) -> Any:
        """Return a new `cvxpy.Variable` of this shape, with these attributes."""
        return cvxpy().Variable(self.shape, **self.attributes)

    def bare(self) -> Any:
        """A variable of the same shape that may be anything."""
        return cvxpy().Variable(self.shape)

    def parameter(self) -> Any:
        """Return a new `cvxpy.Parameter` of this shape, with these attributes."""
        return cvxpy().Parameter(self.shape, **self.attributes)

    def fitted(self, value: Array) -> Array:
        """The value as the attributes want it; cvxpy itself fits one attribute at a time."""
        value = value.reshape(self.shape)
        for name in self.attributes:
            value = cvxpy().Variable(self.shape, **{name: self.attributes[name]}).project(value)
        fits: Array = np.asarray(value, np.float64).ravel() + 0.0  # no negative zeros
        return fits


def leaf(name: str, given: object, class_name: str) -> Leaf:
    """Return the leaf of a length, or of a `cvxpy.Parameter` or `cvxpy.Variable` (class_name)."""
    wanted = f"an integer in [1, inf) or a cvxpy.{class_name}"
    if isinstance(given, int | np.integer) and not isinstance(given, bool) and given >= 1:
        return Leaf((int(given),), {})
    if not isinstance(given, getattr(cvxpy(), class_name)):
        raise arguments.wrong("from_cvxpy", name, wanted, given)
    attributes = _attributes(given)
    if attributes is None or not given.size:
        expected = f"{wanted} of real numbers with attributes among {', '.join(_KNOWN)}"
        raise arguments.wrong("from_cvxpy", name, expected, given)
    return Leaf(tuple(given.shape), attributes)


def _attributes(given: Any) -> dict[str, Any] | None:
    """Return those that are set, always in one order; None where one is not known or no number."""
    found = {
        key: part
        for key, part in given.attributes.items()
        if part is not None and part is not False
    }
    fixed = all(isinstance(end, np.ndarray) for end in found.get("bounds", ()))
    if not fixed or found.keys() - set(_KNOWN):
        return None
    return {key: found[key] for key in _KNOWN if key in found}


class Declaration(NamedTuple):
    """A function of one instance, and what it is a function of."""

    function: Callable[..., Any]
    x: Leaf | None
    xi: Leaf
    variables: Mapping[str, Leaf]

    @property
    def size(self) -> int:
        """The length d of the decision z."""
        return sum(leaf.size for leaf in self.variables.values())

    def new_variables(self) -> list[Any]:
        """Return new variables of cvxpy, with the attributes that were given."""
        return [leaf.variable() for leaf in self.variables.values()]

    def split(self, z: Array) -> list[Array]:
        """(d) -> the variables' values in their shapes."""
        leaves = list(self.variables.values())
        ends = np.cumsum([leaf.size for leaf in leaves])
        parts = np.split(z, ends[:-1])
        return [part.reshape(leaf.shape) for part, leaf in zip(parts, leaves, strict=True)]

    def fitted(self, z: Array) -> Array:
        """(d) -> (d): z as the attributes of its variables want it."""
        parts = zip(self.variables.values(), self.split(z), strict=True)
        return np.concatenate([leaf.fitted(part) for leaf, part in parts])

    def instance(self, variables: list[Any] | None = None, x: Any = None) -> "Instance":
        """Run the function with symbols: new ones, but for those that are given."""
        variables = self.new_variables() if variables is None else variables
        if x is None and self.x is not None:
            x = self.x.parameter()
        xi = self.xi.parameter()
        symbols = {"x": x, "xi": xi, **dict(zip(self.variables, variables, strict=True))}
        given = {name: symbols[name] for name in inspect.signature(self.function).parameters}
        returned = list(flat(called(self.function, given, self.x is None)))
        return Instance(x, xi, variables, *_objective_and_constraints(returned))


def _objective_and_constraints(returned: Sequence[Any]) -> tuple[Any, list[Any]]:
    cp = cvxpy()
    objectives, constraints = parted(
        returned, lambda part: isinstance(part, cp.Minimize | cp.Maximize)
    )
    if len(objectives) != 1:
        raise DeclarationError(
            "its function must return one cvxpy.Minimize(...) or cvxpy.Maximize(...), "
            f"not {len(objectives)}"
        )
    for part in constraints:
        if not isinstance(part, cp.Constraint):
            raise DeclarationError(
                f"its function must return an objective and constraints, not {part!r}"
            )
    return objectives[0], constraints


def parted(items: Sequence[Any], test: Callable[[Any], bool]) -> tuple[list[Any], list[Any]]:
    """Return those that pass a test, and the others, each in their order."""
    return [item for item in items if test(item)], [item for item in items if not test(item)]


class Instance(NamedTuple):
    """One scenario in symbols."""

    x: Any  # a Parameter, or None
    xi: Any  # a Parameter
    variables: list[Any]
    objective: Any
    constraints: list[Any]

    @property
    def sense(self) -> Sense:
        """The sense of the objective."""
        least = isinstance(self.objective, cvxpy().Minimize)
        return Sense.MINIMISE if least else Sense.MAXIMISE

    @property
    def cost(self) -> Any:
        """The expression to minimise: the objective, with a minus where it is maximised."""
        expression = self.objective.args[0]
        return expression if self.sense is Sense.MINIMISE else -expression

    @property
    def later(self) -> list[Any]:
        """Variables that the function made itself: each scenario has its own."""
        own = {variable.id for variable in self.variables}
        return [v for v in self.problem().variables() if v.id not in own]

    @property
    def parameters(self) -> list[Any]:
        """The parameters: x, where there is one, and xi."""
        return [self.xi] if self.x is None else [self.x, self.xi]

    def problem(self) -> Any:
        """Return the `cvxpy.Problem` of the cost and the constraints."""
        return cvxpy().Problem(cvxpy().Minimize(self.cost), self.constraints)

    def certain(self, constraint: Any) -> bool:
        """Return whether a constraint is the same in all scenarios."""
        own = {variable.id for variable in self.variables}
        outcome = any(parameter.id == self.xi.id for parameter in constraint.parameters())
        return not outcome and all(v.id in own for v in constraint.variables())

    def decided(self, constraint: Any) -> bool:
        """Return whether a constraint has no variable that is decided once xi is known."""
        own = {variable.id for variable in self.variables}
        return all(variable.id in own for variable in constraint.variables())


def assign(leaf: Any, value: Array) -> None:
    """Give a symbol its value, whatever its attributes say."""
    leaf.save_value(np.array(value, np.float64).reshape(leaf.shape))


def plainly(error: Exception) -> str:
    """Return the message of cvxpy's error in one line."""
    return " ".join(str(error).split()).rstrip(".")
