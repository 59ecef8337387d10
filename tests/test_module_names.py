"""What modules are called, and whom they know."""

import importlib
import pkgutil
from pathlib import Path
from types import ModuleType

import bocopt


def test_a_module_is_what_stands_under_its_name() -> None:
    """`import bocopt.loop as loop` is the module that it says."""
    hidden = []
    for found in pkgutil.walk_packages(bocopt.__path__, "bocopt."):
        package, _, name = found.name.rpartition(".")
        standing = getattr(importlib.import_module(package), name, None)
        if standing is not None and not isinstance(standing, ModuleType):
            hidden.append(found.name)
    assert hidden == []


def test_the_library_does_not_need_its_studies() -> None:
    """Not by a string either, which no import shows: another distribution may be absent."""
    [root] = bocopt.__path__
    files = [path for path in Path(root).rglob("*") if path.suffix in {".py", ".html", ".js"}]
    assert len(files) > 300
    assert [path for path in files if "bocopt_studies" in path.read_text(encoding="utf-8")] == []
