"""Which files of the library run when something is done."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import bocopt
import bocopt_studies

_ROOTS = [Path(str(each.__file__)).parent.parent for each in (bocopt, bocopt_studies)]


def executed(act: Callable[[], Any]) -> set[str]:
    """The files, by path in their distribution, of all functions that run in a second time.

    In the first one modules are imported, of which others may be in want.
    """
    act()
    names: set[str] = set()

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            names.add(frame.f_code.co_filename)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(before)
    inside = [(Path(name), root) for name in names for root in _ROOTS]
    packages = (bocopt.__name__, bocopt_studies.__name__)
    found = [file.relative_to(root) for file, root in inside if file.is_relative_to(root)]
    return {file.as_posix() for file in found if file.parts[0] in packages}
