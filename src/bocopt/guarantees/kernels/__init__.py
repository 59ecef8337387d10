"""Machine code of the guarantees: imported at first use, as numba takes a while to load."""

from importlib import import_module
from types import ModuleType


def __getattr__(name: str) -> ModuleType:
    # asked for once: an import leaves its name here
    if name in ("bets", "folds", "lately", "ranks"):
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
