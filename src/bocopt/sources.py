"""The code that a result depends on: found, not listed, so that nothing can be forgotten."""

import hashlib
import io
import os
import pickle
import platform
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from importlib.machinery import ModuleSpec
from importlib.metadata import entry_points, version
from importlib.util import find_spec
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from bocopt.fingerprint import LIBRARIES, is_installed, used_by
from bocopt.imports import imported, needed

_LIBRARY, _SHOWS = "bocopt", "bocopt/app/"  # what only shows, or serves, changes no result
#: The library, and distributions that bring commands of it.
OURS = frozenset(
    {
        _LIBRARY,
        *(each.module.partition(".")[0] for each in entry_points(group="bocopt.commands")),
    }
)
_NOBODYS = "?"  # the module of what cannot be looked into
_CACHED: Any = type(cache(lambda: None))


def modules_of(thing: Any) -> frozenset[str]:
    """Return the modules of all classes and functions that a (nested) object is made of.

    Python's own are left out. A function counts with what it uses from outside.

    >>> from bocopt.core import Dims
    >>> sorted(modules_of([Dims(1, 2, 3), digest_of]))
    ['bocopt.core', 'bocopt.sources']
    """
    finder = _Finder(thing)
    while finder.left:
        try:
            finder.dump(finder.left.pop())
        except Exception:  # whatever is raised by a class that cannot be packed
            finder.found.add(_NOBODYS)
    return frozenset(name for name in finder.found if _root(name) not in sys.stdlib_module_names)


class _Finder(pickle.Pickler):
    """Notes modules instead of packing functions and classes; `left` is to be looked into."""

    def __init__(self, thing: Any) -> None:
        super().__init__(io.BytesIO(), protocol=4)
        self.found: set[str] = set()
        self.left: list[Any] = [thing]
        self._functions: set[FunctionType] = set()

    def persistent_id(self, thing: Any) -> Any:
        """Return whether a thing is done with; None where it is packed, and so looked into."""
        if isinstance(thing, ModuleType):
            self.found.add(thing.__name__)
        elif isinstance(thing, type):
            self.found |= {each.__module__ for each in thing.__mro__}
        elif isinstance(thing, BuiltinFunctionType | np.ufunc):
            self.found.add(getattr(thing, "__module__", None) or np.__name__)
        elif isinstance(thing, FunctionType):
            self._note(thing)
        elif isinstance(thing, _CACHED):
            self._note(thing.__wrapped__)
        elif isinstance(thing, Mapping):
            self.left.append([type(thing), *thing.items()])
        else:
            return None
        return True

    def _note(self, function: FunctionType) -> None:
        self.found.add(function.__module__)
        if function not in self._functions and not is_installed(function):
            self._functions.add(function)
            defaults = function.__defaults__, function.__kwdefaults__
            self.left += [defaults, *used_by(function).values()]


def code_of(modules: Iterable[str]) -> str:
    """Return a digest of the code that modules depend on: of `software`, and of files of yours.

    Yours are read each time, and what they import of the library counts as well.
    """
    asked, yours = followed(modules)
    return digest_of(yours, {"library": software(asked)})


def followed(modules: Iterable[str]) -> tuple[frozenset[str], Mapping[str, bytes]]:
    """Return what is asked of the library by modules, and the content of those that are yours.

    Yours, neither of the library nor installed, are left out of the first, and their imports count.
    """
    yours: dict[str, bytes] = {}
    asked, left = set[str](), [*modules]
    while left:
        name = left.pop()
        module = next((n for n in (name, name.rpartition(".")[0]) if _file_of(n)), None)
        if module is None:
            asked |= {name} if not _is_installed(_root(name)) else set()
        elif module not in yours:
            file = _file_of(module)
            assert file is not None
            yours[module] = file.read_bytes()
            parent = module.rpartition(".")[0]
            within = module if file.stem == "__init__" else parent
            left += [*([parent] if parent in sys.modules else []), *imported(yours[module], within)]
    return frozenset(asked), yours


def _root(module: str) -> str:
    return module.partition(".")[0]


def _file_of(module: str) -> Path | None:
    """Return the file of a module of yours: neither ours nor installed, nor the main script."""
    root = _root(module)
    if root in (*OURS, "", "__main__") or _is_installed(root):
        return None
    spec = spec_of(module)
    file = Path(spec.origin or "") if spec else Path()
    return file if file.suffix == ".py" and file.is_file() else None


def _is_installed(root: str) -> bool:
    """Return whether Python finds a package among its own or the installed ones."""
    spec = None if root in OURS else spec_of(root)
    if spec is None:
        return False
    places = [spec.origin or "", *(spec.submodule_search_locations or ())]
    return root in sys.stdlib_module_names or any(
        place.startswith(LIBRARIES) or {"site-packages", "dist-packages"} & {*Path(place).parts}
        for place in places
    )


def spec_of(module: str) -> ModuleSpec | None:
    """Return where a module comes from, loaded or not; None where nobody finds it."""
    if module in sys.modules:
        return getattr(sys.modules[module], "__spec__", None)
    with suppress(ImportError, ValueError):
        return find_spec(module)
    return None


@cache
def software(modules: frozenset[str]) -> str:
    """Return a digest of the code that these modules depend on, and of what it runs on.

    All of the library counts where one of them is neither ours nor installed.
    """
    files = package(*sorted({_LIBRARY, *(map(_root, modules))} & OURS))
    asked = set(modules)
    if not all(_root(name) in OURS or _is_installed(_root(name)) for name in modules):
        asked |= {_module(path) for path in files if _is_library(path)}
    return digest_of({name: files[name] for name in needed(asked, files)}, versions())


@cache
def versions() -> Mapping[str, str]:
    """Return the versions of Python and of the libraries that the code runs on."""
    found = {name: version(name) for name in ("numpy", "numba", "scipy", "highspy")}
    return {"python": platform.python_version(), **found}


def package(*names: str) -> dict[str, bytes]:
    """The source files of packages, by path."""
    found = {}
    for root in map(_folder, names):
        for path in root.rglob("*.py"):
            found[path.relative_to(root.parent).as_posix()] = path.read_bytes()
    return found


def stamps(*names: str) -> frozenset[tuple[str, int, int]]:
    """Return path, time and size of source files: others, once one of them was written to."""
    found: list[tuple[str, int, int]] = []
    folders = [str(_folder(name)) for name in names]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir():
                    folders.append(entry.path)
                elif entry.name.endswith(".py"):
                    about = entry.stat()
                    found.append((entry.path, about.st_mtime_ns, about.st_size))
    return frozenset(found)


def _folder(name: str) -> Path:
    """The folder of a package."""
    spec = find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def digest_of(files: Mapping[str, bytes], versions: Mapping[str, str]) -> str:
    """Return a digest of files by path, of versions, and of the machine's architecture."""
    code = hashlib.sha256(f"{platform.machine()} {sorted(versions.items())}".encode())
    for name in sorted(files):
        code.update(name.encode() + b"\0" + files[name] + b"\0")
    return code.hexdigest()


def _is_library(path: str) -> bool:
    return path.startswith(f"{_LIBRARY}/") and not path.startswith(_SHOWS)


def _module(path: str) -> str:
    """
    >>> _module("bocopt/beliefs/gibbs.py"), _module("bocopt/__init__.py")
    ('bocopt.beliefs.gibbs', 'bocopt')
    """
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
