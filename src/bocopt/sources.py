"""The code that a result depends on: found, not listed, so that nothing can be forgotten."""

import ast
import hashlib
import os
import pickle
import platform
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec, resolve_name
from pathlib import Path
from pickletools import genops
from typing import Any

_LIBRARY, _SHOWS = "bocopt", "bocopt/app/"  # what only shows, or serves, changes no result


def modules_of(thing: Any) -> frozenset[str]:
    """The modules of all classes and functions that a (nested) object is made of.

    >>> from bocopt.core import Dims
    >>> sorted(modules_of([Dims(1, 2, 3), digest_of]))
    ['bocopt.core', 'bocopt.sources']
    """
    # Protocol 2 is the last that names each class by one opcode, "module name".
    named = (arg for op, arg, _ in genops(pickle.dumps(thing, protocol=2)) if op.name == "GLOBAL")
    return frozenset(str(arg).partition(" ")[0] for arg in named)


@cache
def software(modules: frozenset[str]) -> str:
    """A digest of the code that these modules depend on, and of what it runs on."""
    ours = {module.partition(".")[0] for module in modules if module.startswith(_LIBRARY)}
    files = package(*sorted({_LIBRARY, *ours}))
    return digest_of({name: files[name] for name in needed(modules, files)}, versions())


@cache
def versions() -> Mapping[str, str]:
    """Return the versions of Python and of the libraries that the code runs on."""
    found = {name: version(name) for name in ("numpy", "numba", "scipy", "highspy")}
    return {"python": platform.python_version(), **found}


def package(*names: str) -> dict[str, bytes]:
    """The source files of packages, by path."""
    found = {}
    for root in map(_root, names):
        for path in root.rglob("*.py"):
            found[path.relative_to(root.parent).as_posix()] = path.read_bytes()
    return found


def stamps(*names: str) -> frozenset[tuple[str, int, int]]:
    """Return path, time and size of source files: others, once one of them was written to."""
    found: list[tuple[str, int, int]] = []
    folders = [str(_root(name)) for name in names]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir():
                    folders.append(entry.path)
                elif entry.name.endswith(".py"):
                    about = entry.stat()
                    found.append((entry.path, about.st_mtime_ns, about.st_size))
    return frozenset(found)


def _root(name: str) -> Path:
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


def needed(modules: Iterable[str], files: Mapping[str, bytes]) -> set[str]:
    """All of the library, and what it and the modules import of the rest.

    Which policies a study runs, and with which settings, stands in its tasks.
    """
    library = (n for n in files if n.startswith(f"{_LIBRARY}/") and not n.startswith(_SHOWS))
    found: set[str] = set()
    left = [*modules, *map(_module, library)]
    while left:
        module = left.pop()
        name = next((name for name in _paths(module) if name in files), None)
        if name is None or name in found:
            continue
        found.add(name)
        parent = module.rpartition(".")[0]
        package = module if name.endswith("__init__.py") else parent
        left += [parent, *_imported(files[name], package)]
    return found


def _module(path: str) -> str:
    """
    >>> _module("bocopt/beliefs/gibbs.py"), _module("bocopt/__init__.py")
    ('bocopt.beliefs.gibbs', 'bocopt')
    """
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _paths(module: str) -> tuple[str, str]:
    """
    >>> _paths("bocopt.beliefs")
    ('bocopt/beliefs.py', 'bocopt/beliefs/__init__.py')
    """
    path = module.replace(".", "/")
    return f"{path}.py", f"{path}/__init__.py"


@cache
def _imported(source: bytes, package: str) -> frozenset[str]:
    """Return what a module in a package imports, anywhere in it; of names, some are modules."""
    found: set[str] = set()
    left: list[ast.AST] = [ast.parse(source)]
    while left:
        match left.pop():
            case ast.If(test=ast.Name(id="TYPE_CHECKING"), orelse=otherwise):
                left += otherwise
            case ast.Import(names=names):
                found |= {alias.name for alias in names}
            case ast.ImportFrom(module=module, names=names, level=level):
                origin = resolve_name("." * level + (module or ""), package)
                found |= {origin, *(f"{origin}.{alias.name}" for alias in names)}
            case node:
                left += ast.iter_child_nodes(node)
    return frozenset(found)
