"""What a user's Python file calls by name: "shop:problem" is `problem` in shop.py."""

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from bocopt.app.user_file import imported

_REFERENCE = re.compile(r"([A-Za-z_][\w.]*):([A-Za-z_]\w*)")


@dataclass(frozen=True)
class Modules:
    """The Python files of a folder, each imported once."""

    folder: Path
    _found: dict[str, ModuleType] = field(default_factory=dict)

    def named(self, reference: str) -> Any:
        """The object; a ValueError says what is wrong, with the line of the file."""
        parts = _REFERENCE.fullmatch(reference)
        if parts is None:
            expected = "must be like 'shop:problem', for shop.py"
            raise ValueError(f"{expected}. Got {reference!r} instead.")
        name, attribute = parts[1], parts[2]
        path = self.folder.resolve().joinpath(*name.split(".")).with_suffix(".py")
        if name not in self._found:
            self._found[name] = _imported(f"bocopt_streams.{name}", path)
        if not hasattr(self._found[name], attribute):
            raise ValueError(f"{path} has no '{attribute}'.")
        return getattr(self._found[name], attribute)


def _imported(name: str, path: Path) -> ModuleType:
    """Under a name that is no other module's; files beside it can be imported by it."""
    if not path.is_file():
        raise ValueError(f"{path} is not there.")
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    return imported(name, path)
