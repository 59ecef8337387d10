"""A digest of a configuration: the same in every process, another where anything differs."""

import hashlib
import json
import sysconfig
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from dis import get_instructions
from enum import Enum
from functools import partial
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from bocopt.state import CheckpointError

#: The metadata of a dataclass field that no result depends on.
CHANGES_NO_RESULT = {"changes": "no result"}
#: The folders of Python's own and of installed libraries.
LIBRARIES = tuple(sysconfig.get_paths()[name] for name in ("stdlib", "purelib", "platlib"))
_DEEPEST, _SHORT = 3, 16
_LOOKS_UP = ("LOAD_GLOBAL", "LOAD_NAME")


def fingerprint(configuration: Any) -> str:
    """A digest of everything that a (nested) configuration object says.

    A function counts with its code, its defaults and what it uses from outside; a class with its
    name alone.

    >>> from bocopt.priors import Gaussian
    >>> fingerprint(Gaussian.isotropic(2)) == fingerprint(Gaussian(mean=(0, 0), sd=(1, 1)))
    True
    """
    described = _described(configuration, "the configuration", ())
    return hashlib.sha256(json.dumps(described).encode()).hexdigest()


def fingerprints(configuration: Mapping[str, Any]) -> dict[str, str]:
    """A short digest of each part by its path, in dataclasses down to the third field.

    >>> from bocopt.priors import Gaussian
    >>> found = fingerprints({"prior": Gaussian(mean=(0, 0), sd=(1, 1))})
    >>> [*found]
    ['prior', 'prior.mean', 'prior.sd']
    """
    found = {}
    left = list(configuration.items())[::-1]
    while left:
        path, thing = left.pop()
        deep = is_dataclass(thing) and not isinstance(thing, type) and path.count(".") < _DEEPEST
        found[path] = fingerprint(_name(type(thing)) if deep else thing)[:_SHORT]
        if deep:
            parts = [f.name for f in fields(thing) if f.metadata != CHANGES_NO_RESULT]
            left += [(f"{path}.{name}", getattr(thing, name)) for name in reversed(parts)]
    return found


def differing(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """The paths of `fingerprints` that differ; of a part of another class nothing below it.

    >>> differing({"a": "1", "a.b": "2", "a.c": "3"}, {"a": "1", "a.b": "2", "a.c": "4"})
    ['a.c']
    >>> differing({"a": "1", "a.b": "2"}, {"a": "9"})
    ['a']
    """
    found = list[str]()
    for path in dict.fromkeys([*before, *now]):
        if before.get(path) != now.get(path) and not any(path.startswith(f"{f}.") for f in found):
            found.append(path)
    return found


def _described(thing: Any, where: str, inside: tuple[int, ...]) -> Any:
    """Return it as JSON; `inside` are functions and objects around it, so that none is twice."""
    if isinstance(thing, Enum):
        return [_name(type(thing)), thing.name]
    if thing is None or isinstance(thing, bool | int | float | str):
        return thing
    if isinstance(thing, np.ndarray | np.generic):
        if thing.dtype.hasobject:
            raise _refused(thing, where)
        return [str(thing.dtype), list(np.shape(thing)), thing.tobytes().hex()]
    if isinstance(thing, bytes | complex | Path):
        return repr(thing)
    if isinstance(thing, type | BuiltinFunctionType | np.ufunc | ModuleType):
        return _name(thing)
    if id(thing) in inside:
        return f"recursion {len(inside) - inside.index(id(thing))}"
    return _described_parts(thing, where, (*inside, id(thing)))


def _described_parts(thing: Any, where: str, inside: tuple[int, ...]) -> Any:
    def part(value: Any, name: object) -> Any:
        """Return the description of a part, which has this name in errors."""
        return _described(value, f"{where}, {name}", inside)

    if isinstance(thing, tuple | list):
        return [part(value, i) for i, value in enumerate(thing)]
    if isinstance(thing, set | frozenset):
        return ["set", sorted(json.dumps(part(value, "an element")) for value in thing)]
    if isinstance(thing, Mapping):
        return [[str(key), part(value, key)] for key, value in thing.items()]
    if isinstance(thing, partial):
        return [
            "partial",
            part(thing.func, "func"),
            _described([thing.args, thing.keywords], where, inside),
        ]
    if isinstance(thing, MethodType):
        return ["method", thing.__func__.__qualname__, part(thing.__self__, "its object")]
    if isinstance(thing, FunctionType):
        return _function(thing, where, inside)
    names = _attributes(thing, where)
    return [_name(type(thing)), [[name, part(getattr(thing, name), name)] for name in names]]


def _attributes(thing: Any, where: str) -> list[str]:
    if is_dataclass(thing):
        return [f.name for f in fields(thing) if f.metadata != CHANGES_NO_RESULT]
    if hasattr(thing, "__dict__"):
        return sorted(vars(thing))
    raise _refused(thing, where)


def _function(function: FunctionType, where: str, inside: tuple[int, ...]) -> Any:
    """Its name, its code, and the values that it takes from elsewhere.

    A function of an installed library counts with its name: it changes with the version only.
    """
    name = _name(function)
    if is_installed(function):
        return name
    defaults = [function.__defaults__, function.__kwdefaults__]
    values = [
        [n, _described(value, f"{n!r}, which {where} uses", inside)]
        for n, value in sorted(used_by(function).items())
    ]
    code = _code(function.__code__)
    return ["function", name, code, _described(defaults, where, inside), values]


def used_by(function: FunctionType) -> dict[str, Any]:
    """Return the values by name that a function takes from around it and from its module.

    >>> used_by(fingerprint).keys() & {"json", "hashlib"} == {"json", "hashlib"}
    True
    """
    code = function.__code__
    cells = zip(code.co_freevars, function.__closure__ or (), strict=True)
    used: dict[str, Any] = {n: cell.cell_contents for n, cell in cells}
    return used | {n: function.__globals__[n] for n in _names(code) if n in function.__globals__}


def is_installed(function: FunctionType) -> bool:
    """Return whether a function is of the library, or of one that is installed."""
    ours = (function.__module__ or "").partition(".")[0] == "bocopt"
    return ours or function.__code__.co_filename.startswith(LIBRARIES)


def _names(code: CodeType) -> set[str]:
    """All that a function looks up among the names of its module, functions inside it included."""
    inner = [_names(constant) for constant in code.co_consts if isinstance(constant, CodeType)]
    looked_up = (step for step in get_instructions(code) if step.opname in _LOOKS_UP)
    return {str(step.argval) for step in looked_up}.union(*inner)


def _code(code: CodeType) -> Any:
    """Return the instructions, constants and names of a function, not where it stands."""
    constants = [_code(c) if isinstance(c, CodeType) else repr(c) for c in code.co_consts]
    return [code.co_code.hex(), constants, list(code.co_names), code.co_argcount]


def _name(thing: Any) -> str:
    module = getattr(thing, "__module__", None) or ""
    return f"{module}.{getattr(thing, '__qualname__', None) or thing.__name__}"


def _refused(thing: object, where: str) -> CheckpointError:
    return CheckpointError(
        f"A {type(thing).__name__} cannot be part of a configuration ({where}): nothing tells it "
        "from another. Give it as a dataclass of plain values, or make it inside the function."
    )
