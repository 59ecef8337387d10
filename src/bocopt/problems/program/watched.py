"""A long run of HiGHS that ends when it is told to.

HiGHS looks at its time limit only now and then: it overran one of 5 s by 2.4 s. So it runs in a
thread of its own, and reports its best point and bound by callbacks. Whoever waits stays in Python:
the deadline is kept by the clock, and Ctrl-C works. A run that does not stop in time is left to
end by itself and its object is not used again.
"""

import time
from threading import Event, Thread
from typing import Any

import highspy
import numpy as np

from bocopt.core import Array

_GRACE = 0.015  # seconds that a run is given to stop by itself
_STEP = 0.1  # seconds between two looks at the clock and at signals
_KINDS = highspy._core.cb.HighsCallbackType


class Watched:
    """One run: what it has found so far, and whether it has ended."""

    def __init__(self, highs: Any) -> None:
        self.point: Array | None = None
        self.value = np.inf
        self.bound = -np.inf
        self.status: Any = None
        self._stop, self._ended = Event(), Event()
        self._highs = highs
        highs.setCallback(self._called, None)
        for kind in (
            _KINDS.kCallbackMipImprovingSolution,
            _KINDS.kCallbackMipInterrupt,
            _KINDS.kCallbackSimplexInterrupt,
            _KINDS.kCallbackIpmInterrupt,
        ):
            highs.startCallback(kind)

    def run(self, deadline: float | None) -> bool:
        """Run until the end or the deadline: -> whether it ended."""
        Thread(target=self._run, name="highs").start()
        try:
            while not self._ended.wait(_left(deadline)):
                if deadline is not None and time.perf_counter() >= deadline:
                    self._stop.set()
                    return self._ended.wait(_GRACE)
        except BaseException:
            self._stop.set()
            raise
        return True

    def _run(self) -> None:
        try:
            self.status = self._highs.run()
        finally:
            del self._highs  # it holds our callback: together they would never be freed
            self._ended.set()

    def _called(self, kind: Any, _message: str, out: Any, into: Any, _data: object) -> None:
        self.bound = max(self.bound, float(out.mip_dual_bound))
        if int(kind) == int(_KINDS.kCallbackMipImprovingSolution):
            self.point = np.array(out.mip_solution, float)
            self.value = float(out.objective_function_value)
        elif self._stop.is_set():
            into.user_interrupt = True


def _left(deadline: float | None) -> float:
    return _STEP if deadline is None else min(_STEP, max(0.0, deadline - time.perf_counter()))
