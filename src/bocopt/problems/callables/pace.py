"""Timing of a user's functions: one warning before the time is spent, with advice.

What is decided never depends on the clock: a log is replayed on another machine, and must come to
the same decisions. So nothing is cut short here; the user says how many calls are enough.
"""

import warnings
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

from bocopt.problems.callables.pool import evaluations

_TIMED = {False: 32, True: 3}  # calls, of one instance or of many: the first one may compile
_LONG, _SHORT = 10.0, 3.0  # seconds for one program: a warning is due, and advice is good


class CallBudget(NamedTuple):
    """Numbers of scenarios, candidates and moves of one program."""

    scenarios: int
    candidates: int
    moves: int

    @property
    def calls(self) -> int:
        """The planned number of calls of `cost` for one program; see `evaluations`."""
        return evaluations(*self)


#: From rich to poor: what is advised is the first that is quick enough.
_LADDER = (
    *(CallBudget(n, 26, 100) for n in (512, 256, 128)),
    *(CallBudget(64, 26, 50), CallBudget(64, 13, 25), CallBudget(32, 13, 10), CallBudget(16, 8, 5)),
)


class Pace:
    """Times the first calls of a function, and warns once if the planned ones will take long."""

    def __init__(self, name: str) -> None:
        self._name, self._seconds, self._told = name, list[float](), False
        self.planned: CallBudget | None = None  # of the program that is being solved

    def of(self, function: Callable[..., Any], *values: Any, many: int | None = None) -> Any:
        """Return function(*values), timed for the warning; `many` instances, None for one alone."""
        if self._told or self.planned is None or many == 1:
            return function(*values)
        began = perf_counter()
        found = function(*values)
        self._seconds.append((perf_counter() - began) / (many or 1))
        if len(self._seconds) == _TIMED[many is not None]:
            self._told = True
            self._tell(median(self._seconds), self.planned)
        return found

    def _tell(self, each: float, planned: CallBudget) -> None:
        if each * planned.calls <= _LONG:
            return
        steps = [CallBudget(*map(min, step, planned)) for step in _LADDER]
        advised = next((step for step in steps if each * step.calls <= _SHORT), steps[-1])
        moves = f", moves={advised.moves}" if planned.moves else ""
        warnings.warn(
            f"One call of the user's {self._name} takes {_time(each)}: a program under "
            f"{planned.scenarios} scenarios takes up to {planned.calls} of them, about "
            f"{_time(each * planned.calls)}. With from_callables(..., "
            f"scenarios={advised.scenarios}, candidates={advised.candidates}{moves}) it is about "
            f"{_time(each * advised.calls)}; each arm of an Ensemble solves one. Or take all "
            "scenarios in one call, by vectorised=True.",
            stacklevel=2,
        )


def _time(seconds: float) -> str:
    """In words.

    >>> _time(0.0051), _time(58.7), _time(1100.0)
    ('5.1 ms', '59 s', '18 minutes')
    """
    if seconds < 1.0:
        return f"{1000 * seconds:.2g} ms"
    return f"{seconds:.0f} s" if seconds < 120.0 else f"{seconds / 60:.0f} minutes"
