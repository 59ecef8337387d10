"""Faults of a file, all of them in one error."""

from collections.abc import Sequence
from typing import NamedTuple

MOST_FAULTS = 20  # that a message shows


class Fault(NamedTuple):
    """Fault in a file, with its place and a hint."""

    place: int  # its line or row; 0 for what is wrong with the whole file
    said: str  # where, what was expected, what was found
    hint: str = ""  # what to do: told once of all faults that share it


class FaultsError(ValueError):
    """Error of all faults in a file, in the order of its lines; the message shows the first ones.

    >>> print(FaultsError(Fault(3, "Line 3.", " Do this."), Fault(2, "Line 2.", " Do this.")))
    Line 2. Do this.
    Line 3.
    """

    def __init__(self, *faults: Fault | str, more: int = 0) -> None:
        each = [Fault(0, fault) if isinstance(fault, str) else fault for fault in faults]
        self.faults = tuple(sorted(each, key=lambda fault: fault.place)[:MOST_FAULTS])
        self.more = more + len(each) - len(self.faults)
        super().__init__(_message(self.faults, self.more))


def _message(faults: Sequence[Fault], more: int) -> str:
    first = {fault.hint: fault for fault in reversed(faults)}
    lines = [f"{one.said}{one.hint if first[one.hint] is one else ''}" for one in faults]
    return "\n".join([*lines, *([f"And {more:,} more."] if more else [])])
