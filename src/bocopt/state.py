"""States as arrays with names, and arrays as bytes: no pickle, no archive, nothing but numbers.

A state is a nested NamedTuple of arrays. Its leaves are named by their path through the fields, so
that a field may move but never be mistaken for another, and a leaf that is read back must have the
kind of numbers and of axes that the state has in this version.
"""

import json
import math
import struct
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]
Shape = list[Any] | None  # of a nested tuple: a list of its parts, None for an array

_LENGTH = struct.Struct("<Q")
_KINDS = "biufU"  # truth values, numbers and texts: all that a state or a record holds


class CheckpointError(ValueError):
    """Error for what cannot be kept in a file, or for a file that is damaged or foreign."""


def flatten(state: Any, name: str = "state") -> Arrays:
    """The arrays of a nested NamedTuple, by their path.

    >>> from bocopt.core import Dims
    >>> list(flatten(Dims(1, 2, 3), "dims"))
    ['dims.x', 'dims.z', 'dims.xi']
    """
    if not isinstance(state, tuple):
        return {name: np.asarray(state)}
    parts = (
        flatten(part, f"{name}.{field}") for field, part in zip(_fields(state), state, strict=True)
    )
    return {path: leaf for part in parts for path, leaf in part.items()}


def rebuild(template: Any, arrays: Mapping[str, NDArray[Any]], name: str = "state") -> Any:
    """The same nesting as the template, with the arrays of these names.

    Each must have the dtype and the number of axes of the template's; how long an axis is may
    change as outcomes come in.
    """
    if isinstance(template, tuple):
        pairs = zip(_fields(template), template, strict=True)
        parts = [rebuild(part, arrays, f"{name}.{field}") for field, part in pairs]
        return type(template)(*parts) if hasattr(template, "_fields") else tuple(parts)
    if name not in arrays:
        raise CheckpointError(f"There is no array '{name}'.")
    found, wanted = arrays[name], np.asarray(template)
    if found.dtype != wanted.dtype or found.ndim != wanted.ndim:
        raise CheckpointError(
            f"The array '{name}' must be {wanted.dtype} with {wanted.ndim} axes. "
            f"Got {found.dtype} with {found.ndim} instead."
        )
    return found


def _fields(state: tuple[Any, ...]) -> Iterable[Any]:
    return getattr(state, "_fields", range(len(state)))


def shape_of(tree: Any) -> Shape:
    """Return the nesting of a tuple: a list of its parts, None for an array.

    >>> shape_of((np.zeros(2), (), (np.zeros(3),)))
    [None, [], [None]]
    """
    return [shape_of(part) for part in tree] if isinstance(tree, tuple) else None


def leaves(tree: Any) -> list[NDArray[Any]]:
    """The arrays of a nested tuple, in order."""
    if isinstance(tree, tuple):
        return [leaf for part in tree for leaf in leaves(part)]
    return [np.asarray(tree)]


def from_leaves(shape: Shape, arrays: Iterable[NDArray[Any]]) -> Any:
    """The nested tuple of this shape; what was a NamedTuple is a plain one.

    >>> from_leaves([None, [], [None]], [np.array(1), np.array(2)])
    (array(1), (), (array(2),))
    """
    rest = list(arrays)[::-1]

    def build(part: Shape) -> Any:
        """Return the nested tuple of this part, with the next arrays as leaves."""
        if part is None and rest:
            return rest.pop()
        if not isinstance(part, list):
            raise CheckpointError("A nested tuple has other arrays than its shape says.")
        return tuple(build(inner) for inner in part)

    tree = build(shape)
    if rest:
        raise CheckpointError("A nested tuple has more arrays than its shape says.")
    return tree


def mapped(function: Callable[..., Any], *trees: Any) -> Any:
    """The nested tuple of what the function makes of each array, or of each where there are many.

    >>> mapped(np.add, (np.array(1), (np.array(2),)), (np.array(10), (np.array(20),)))
    (np.int64(11), (np.int64(22),))
    """
    first = trees[0]
    if not isinstance(first, tuple):
        return function(*trees)
    parts = [mapped(function, *parts) for parts in zip(*trees, strict=True)]
    return type(first)(*parts) if hasattr(first, "_fields") else tuple(parts)


def read_only(tree: Any) -> Any:
    """The same nested tuple with views of its arrays that cannot be written to."""
    return mapped(_read_only, tree)


def _read_only(array: Any) -> NDArray[Any]:
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


def pack(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """A length, a JSON text with the header and what the arrays are, and their numbers."""
    listed = {name: np.asarray(array) for name, array in arrays.items()}
    about = [[name, a.dtype.str, list(a.shape)] for name, a in listed.items()]
    text = json.dumps({"header": header, "arrays": about}).encode()
    return _LENGTH.pack(len(text)) + text + b"".join(a.tobytes() for a in listed.values())


def unpack(data: bytes) -> tuple[dict[str, Any], Arrays]:
    """Return the header and arrays that were packed; no array is larger than the bytes."""
    try:
        (length,) = _LENGTH.unpack_from(data)
        start = _LENGTH.size + length
        about = json.loads(data[_LENGTH.size : start])
        header, arrays = about["header"], {}
        for name, dtype_name, shape in about["arrays"]:
            dtype = np.dtype(dtype_name)
            if dtype.kind not in _KINDS or any(axis < 0 for axis in shape):
                raise CheckpointError(
                    f"The array '{name}' has the type {dtype_name} and the shape {shape}."
                )
            size = dtype.itemsize * math.prod(shape)
            if start + size > len(data):
                raise CheckpointError(f"The array '{name}' is cut short.")
            flat = np.frombuffer(data, dtype, size // max(dtype.itemsize, 1), start)
            arrays[str(name)], start = flat.reshape(shape).copy(), start + size
    except (struct.error, TypeError, KeyError, ValueError, AttributeError, RecursionError) as error:
        if isinstance(error, CheckpointError):
            raise
        raise CheckpointError(f"The arrays cannot be read: {error!r}.") from error
    if not isinstance(header, dict) or start != len(data):
        raise CheckpointError("There is more than the arrays, or their header is not one.")
    return header, arrays
