"""No public name hides a module: `import bocopt.loop as loop` is the module that it says."""

import importlib
import pkgutil
from types import ModuleType

import bocopt


def test_a_module_is_what_stands_under_its_name() -> None:
    hidden = []
    for found in pkgutil.walk_packages(bocopt.__path__, "bocopt."):
        package, _, name = found.name.rpartition(".")
        standing = getattr(importlib.import_module(package), name, None)
        if standing is not None and not isinstance(standing, ModuleType):
            hidden.append(found.name)
    assert hidden == []
