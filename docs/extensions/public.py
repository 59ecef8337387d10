"""The API reference: `.. public:: module` with names shows a table of them, then each in full.

Docstrings of this library are plain text in which backticks mean code. They are made into
reStructuredText here, where a name in backticks that is public becomes a link.
"""

import importlib
import inspect
from functools import cache
from typing import Any, ClassVar, get_overloads

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.inspect import signature, stringify_signature
from sphinx.util.typing import OptionSpec

from extensions.docstrings import fields, plain_to_rst, short_types

MODULES = (
    "bocopt.core",
    "bocopt.bounds",
    "bocopt.abilities",
    "bocopt.wrappers",
    "bocopt.loop",
    "bocopt.trace",
    "bocopt.compared",
    "bocopt.comparing",
    "bocopt.streams",
    "bocopt.problems",
    "bocopt.problems.program",
    "bocopt.policies",
    "bocopt.models",
    "bocopt.predictors",
    "bocopt.priors",
    "bocopt.losses",
    "bocopt.beliefs",
    "bocopt.guarantees",
    "bocopt.live",
    "bocopt.client",
    "bocopt.app",
    "bocopt.interop",
    "bocopt.checks",
)


def names_of(module: str) -> list[str]:
    """The public names of a module: its `__all__`, or else all classes and functions of its own."""
    found = importlib.import_module(module)
    if hasattr(found, "__all__"):
        return list(found.__all__)
    own = ((name, getattr(value, "__module__", "")) for name, value in vars(found).items())
    return [name for name, home in own if home == module and not name.startswith("_")]


@cache
def homes() -> dict[str, str]:
    """Where each public name is shown, by its last part; the first module that has it wins."""
    found: dict[str, str] = {}
    for module in MODULES:
        for name in names_of(module):
            found.setdefault(name, f"{module}.{name}")
    return found


class Public(SphinxDirective):
    """One group of public names; with `:undocumented:`, members without a docstring as well."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar[OptionSpec] = {"undocumented": lambda argument: True}

    def run(self) -> list[nodes.Node]:
        module = self.arguments[0]
        names = [name for line in self.content for name in line.split()]
        lines = [f".. currentmodule:: {module}", "", ".. autosummary::", "   :nosignatures:", ""]
        lines += [*(f"   {name}" for name in names), ""]
        for name in names:
            value = getattr(importlib.import_module(module), name)
            lines += [f".. {_directive(value)}:: {name}{_of_all_overloads(value)}"]
            if inspect.isclass(value):
                lines += ["   :members:"]
                lines += ["   :undoc-members:"] if "undocumented" in self.options else []
            lines += [""]
        return self.parse_text_to_nodes("\n".join(lines))


def _directive(value: Any) -> str:
    if inspect.isclass(value):
        return "autoexception" if issubclass(value, Exception) else "autoclass"
    return "autofunction" if callable(value) else "autodata"


def _of_all_overloads(value: Any) -> str:
    """The signature that stands for all, where a function has several."""
    if not inspect.isfunction(value) or not get_overloads(value):
        return ""
    found = stringify_signature(signature(value), unqualified_typehints=True)
    return short_types(found) or ""


def process_docstring(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    links = homes()
    lines[:] = plain_to_rst(lines, links)
    if what in ("class", "exception"):
        lines += fields(obj, links)


def process_signature(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, arguments: str, result: str
) -> tuple[str | None, str | None]:
    return short_types(arguments), short_types(result)


def name_arrays(app: Sphinx, domain: str, objtype: str, content: addnodes.desc_content) -> None:
    """Properties, whose types no event shows before they are parsed."""
    for part in content.parent.findall(addnodes.desc_annotation):
        for kind, name in _ARRAYS.items():
            if part.astext() == f": ndarray[tuple[Any, ...], dtype[{kind}]]":
                part[:] = [nodes.Text(f": {name}")]


_ARRAYS = {"float64": "Array", "bool": "BoolArray", "int64": "IntArray"}


def skip_member(
    app: Sphinx, what: str, name: str, obj: Any, skip: bool, options: Any
) -> bool | None:
    """Fields are listed with their class."""
    return True if (obj.__doc__ or "").startswith("Alias for field number") else None


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("public", Public)
    app.connect("autodoc-process-docstring", process_docstring)
    app.connect("autodoc-process-signature", process_signature)
    app.connect("object-description-transform", name_arrays)
    app.connect("autodoc-skip-member", skip_member)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
