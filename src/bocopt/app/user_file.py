"""A user's Python file, as it stands now."""

import sys
import traceback
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType


def imported(name: str, path: Path) -> ModuleType:
    """Run it under a name; whatever goes wrong is a ValueError that tells its line.

    Python would take bytecode for a file that was changed within a second of being compiled, if it
    is as long as before: so the file itself is read each time.
    """
    loader = SourceFileLoader(name, str(path))
    spec = spec_from_loader(name, loader)
    assert spec is not None
    module = module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look there for the types of their fields
    try:
        exec(loader.source_to_code(path.read_bytes(), str(path)), module.__dict__)
    except Exception as error:
        del sys.modules[name]
        raise ValueError(_told(path, error)) from error
    return module


def _told(path: Path, error: Exception) -> str:
    if isinstance(error, SyntaxError):
        return f"{path}, line {error.lineno}: {error.msg}."
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
    line = f", line {frames[-1].lineno}" if frames else ""
    return f"{path}{line}: {type(error).__name__}: {error}"
