"""Machine code is compiled once per host, however many workers start there at once."""

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bocopt_studies.work.order import Doable


def warm_up(work: "Doable", kind: str) -> None:
    """Do a little of the work if no process that shares our machine code has, one at a time.

    The others wait, and find the machine code when it is their turn.
    """
    from bocopt.numeric.compiled import alone, folder
    from bocopt_studies.work.origin import processor

    name = hashlib.sha256(f"{kind} {processor()}".encode()).hexdigest()[:32]
    marker = folder() / f"warm-{name}"
    if marker.exists():
        return
    with alone("warm"):
        if not marker.exists():
            work.short().run()
            marker.touch()
