"""Source files that a module needs, by what it imports: found, not listed.

Of a package that only gives on what its modules define, those count that define what is asked of
it, and not the others: who imports `bocopt.Ensemble` does not depend on `bocopt.compare`.
"""

import ast
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.util import resolve_name
from typing import NamedTuple

_EVERYTHING = "*"
_TEXTS = {"__all__", "__version__"}  # names of a package that are no code


def needed(asked: Iterable[str], files: Mapping[str, bytes]) -> set[str]:
    """Return the files, by path, of modules and of names in them, and of all that these import.

    >>> files = {
    ...     "shop/__init__.py": b"from shop.a import one; from shop.b import two",
    ...     "shop/a.py": b"",
    ...     "shop/b.py": b"",
    ... }
    >>> sorted(needed(["shop.one"], files)), len(needed(["shop"], files))
    (['shop/__init__.py', 'shop/a.py'], 3)
    """
    found: set[str] = set()
    seen: set[tuple[str, str]] = set()
    left = [pair for name in asked for pair in _pairs(name)]
    while left:
        module, name = left.pop()
        path = next((path for path in _paths(module) if path in files), None)
        if path is None or (module, name) in seen:
            continue
        seen.add((module, name))
        found.add(path)
        is_package = path.endswith("__init__.py")
        parent = module.rpartition(".")[0]
        imports = _imports(files[path], module if is_package else parent)
        names = imports.asked(name) if is_package else imports.everything
        left += [(parent, ""), *(pair for each in names for pair in _pairs(each))]
    return found


def imported(source: bytes, package: str) -> frozenset[str]:
    """Return what a module in a package imports, anywhere in it, as names with their modules.

    >>> sorted(imported(b"from . import a; import numpy as np; np.ones(3)", "shop"))
    ['numpy.', 'numpy.ones', 'shop.a']
    """
    return _imports(source, package).everything


def _pairs(name: str) -> list[tuple[str, str]]:
    """Return what a dotted name may mean: a whole module, or a name in one; none only loads it.

    >>> _pairs("bocopt.Ensemble"), _pairs("bocopt.*")[1:], _pairs("bocopt.")[1:]
    ([('bocopt.Ensemble', '*'), ('bocopt', 'Ensemble')], [('bocopt', '*')], [('bocopt', '')])
    """
    module, _, last = name.rpartition(".")
    return [(name, _EVERYTHING), (module, last)]


def _paths(module: str) -> tuple[str, str]:
    """
    >>> _paths("bocopt.beliefs")
    ('bocopt/beliefs.py', 'bocopt/beliefs/__init__.py')
    """
    path = module.replace(".", "/")
    return f"{path}.py", f"{path}/__init__.py"


class _Imports(NamedTuple):
    """The names that a file imports, with their modules."""

    everything: frozenset[str]
    given_on: Mapping[str, str] | None  # where its names come from; None if it has code of its own

    def asked(self, name: str) -> Iterable[str]:
        """Return what counts where a name is asked of a package; '' only loads it."""
        if self.given_on is None or name == _EVERYTHING:
            return self.everything
        return [self.given_on[name]] if name in self.given_on else []


@cache
def _imports(source: bytes, package: str) -> _Imports:
    tree = ast.parse(source)
    uses = _Uses(tree)
    everything = frozenset(n for node in uses.imports for n in _asked_by(node, package, uses))
    if not all(map(_is_no_code, tree.body)):
        return _Imports(everything, None)
    froms = (node for node in tree.body if isinstance(node, ast.ImportFrom))
    return _Imports(everything, {n: to for node in froms for n, to in _bound(node, package)})


class _Uses:
    """The imports of a tree, and how its names are used: by their attributes, or as they are."""

    def __init__(self, tree: ast.AST) -> None:
        self.imports: list[ast.Import | ast.ImportFrom] = []
        self.attributes: dict[str, set[str]] = {}
        self.whole: set[str] = set()
        left = [tree]
        while left:
            match left.pop():
                case ast.If(test=ast.Name(id="TYPE_CHECKING"), orelse=otherwise):
                    left += otherwise
                case ast.Import() | ast.ImportFrom() as found:
                    self.imports.append(found)
                case ast.Attribute(value=ast.Name(id=name), attr=attribute):
                    self.attributes.setdefault(name, set()).add(attribute)
                case ast.Name(id=name):
                    self.whole.add(name)
                case node:
                    left += ast.iter_child_nodes(node)


def _bound(node: ast.ImportFrom, package: str) -> list[tuple[str, str]]:
    """Return the names that `from ... import` binds, each with where it comes from."""
    origin = resolve_name("." * node.level + (node.module or ""), package)
    return [(alias.asname or alias.name, f"{origin}.{alias.name}") for alias in node.names]


def _asked_by(node: ast.Import | ast.ImportFrom, package: str, uses: _Uses) -> set[str]:
    """Return what an import asks for: names, and of modules also the attributes that are used."""
    if isinstance(node, ast.ImportFrom):
        bound = _bound(node, package)
        found = {origin for _, origin in bound}
    else:
        found = {f"{alias.name}." for alias in node.names}
        bound = [_bound_module(alias) for alias in node.names]
        found |= {module for here, module in bound if here in uses.whole}
    return found | {f"{to}.{name}" for here, to in bound for name in uses.attributes.get(here, ())}


def _bound_module(alias: ast.alias) -> tuple[str, str]:
    """Return the name that `import` binds, and the module that it stands for."""
    if alias.asname:
        return alias.asname, alias.name
    root = alias.name.partition(".")[0]
    return root, root


def _is_no_code(node: ast.AST) -> bool:
    """Return whether a statement of a package is its docstring, an import or its `__all__`."""
    match node:
        case ast.Expr(value=ast.Constant()) | ast.Import():
            return True
        case ast.ImportFrom(names=names):
            return all(alias.name != _EVERYTHING for alias in names)
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name in _TEXTS
    return False
