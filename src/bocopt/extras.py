"""Libraries that are not needed by anything else: imported when they are asked for."""

from functools import cache
from importlib import import_module
from typing import Any


@cache
def needed(module: str, owner: str, install: str) -> Any:
    """A module, or an error that says who needs it and how to get it.

    >>> needed("no_such_module", "from_sklearn", "scikit-learn")
    Traceback (most recent call last):
    ModuleNotFoundError: from_sklearn needs no_such_module: pip install scikit-learn.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{owner} needs {module}: pip install {install}.", name=error.name
        ) from error
