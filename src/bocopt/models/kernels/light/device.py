"""Decisions and a light learner's lessons for many streams, on a graphics processor.

One thread goes through the stages of one stream, and calls the functions that a processor calls:
those of the learner, and what a problem has `on_device`.

The simulator shows that the same is computed, and nothing of how the device compiles it. What was
last measured on hardware (one H200: `benchmarks/results/panel_gpu.json`) had a newsvendor's order
and cost written into `play`. Whoever has a device runs `tests/live/test_gpu.py` there, and
`benchmarks/panel_gpu.py`, before relying on speed.
"""

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from bocopt.core import Array, DeviceProblem
from bocopt.models.kernels.light import layout
from bocopt.models.kernels.light.columns import LANES, SIMULATED, column, cuda
from bocopt.models.kernels.light.forecast import foreseen
from bocopt.models.kernels.light.layout import SEEN, Room, places
from bocopt.models.kernels.light.learning import learned
from bocopt.models.kernels.light.quantile import quantile
from bocopt.numeric.compiled import inlined

REGISTERS = 168  # a thread: three times 128 threads share a multiprocessor
#: The largest number to learn from, of 64 and of 32 bits; and the least variance of 32 bits.
LARGEST, LARGEST_NARROW, SMALLEST_NARROW = 1e150, 1e15, 1e-30
_jit: Callable[..., Callable[[Callable[..., None]], Any]] = cuda.jit


@inlined
def too_large(x: Array, y: float, largest: float) -> bool:
    """Return whether a context (k) or the outcome is; NaN, which is missing, is not."""
    for number in x:
        if abs(number) > largest:
            return True
    return abs(y) > largest


@cache
def stages(k: int, narrow: bool, problem: DeviceProblem) -> Any:
    """Return the kernel for contexts of length k; `narrow` where numbers are of 32 bits.

    The problem's terms are arguments of the kernel: problems of one kind may differ in them.
    """
    decision_of, paid = problem.decision, problem.paid
    # Shapes in a kernel are constants, each by a name of its own: those of a processor's room.
    phi, flat, shift, stretch, work, found, seen, gain, share, own, heads, at, ends, walk, given = (
        each.shape for each in layout.room_for(k, np.empty(1))
    )
    many, laws, dtype = layout.MANY, layout.LAWS + 2, np.float64
    largest = LARGEST_NARROW if narrow else LARGEST
    noise = places(k)[1] + many * ((k + 1) + (k + 1) * (k + 2) // 2)

    def play(
        memory: Any,
        x: Any,
        y: Any,
        place: Any,
        begun: int,
        turn: float,
        level: float,
        terms: tuple[float, ...],
        first: float,
        z: Any,
        cost: Any,
        totals: Any,
        wrong: Any,
    ) -> None:
        """Stages (T) of streams (S), of which each thread plays one; `begun` were played before.

        Memory (blocks, n, LANES), x (T, S, k), y (T, S) with NaN where there is no outcome, and
        (S) places, which `turn` each stage: decisions z (T, S), what they cost, 0 without an
        outcome, and its sum over stages, which is added to the totals (S). `wrong` (S): the number
        of stages up to the first with numbers that nothing can be learned from.
        """
        stream = cuda.grid(1)
        if stream < y.shape[1]:
            array = cuda.local.array
            room = Room(
                array(phi, dtype),
                array(flat, dtype),
                array(shift, dtype),
                array(stretch, dtype),
                array(work, dtype),
                array(found, dtype),
                array(seen, dtype),
                array(gain, dtype),
                array(share, dtype),
                array(own, dtype),
                array(heads, dtype),
                array(at, dtype),
                array(ends, dtype),
                array(walk, dtype),
                array(given, dtype),
            )
            room.given[0] = math.nan  # no law is
            scores, context = array(laws, dtype), array(k, dtype)
            mine, total = column(memory, stream // LANES, stream % LANES), totals[stream]
            for stage in range(y.shape[0]):
                outcome = y[stage, stream]
                for each in range(k):
                    context[each] = x[stage, stream, each]
                came = outcome == outcome
                if wrong[stream] == 0 and too_large(context, outcome, largest):
                    wrong[stream] = begun + stage + 1
                gate = foreseen(mine, context, room)
                decision = first
                if mine[SEEN] > 0.0:
                    decision = decision_of(quantile(mine, gate[0], level, room), terms)
                z[stage, stream], cost[stage, stream] = decision, 0.0
                if came:
                    spent = paid(decision, outcome, terms)
                    cost[stage, stream] = spent
                    total += spent
                    within = (place[stream] + (begun + stage) * turn) % 1.0
                    learned(mine, context, outcome, within, gate, room, scores)
                    if narrow:
                        for law in range(many):
                            mine[noise + law] = max(mine[noise + law], SMALLEST_NARROW)
            totals[stream] = total

    return _compiled(play)


@cache
def beginning() -> Any:
    """Return the kernel that writes one stream's numbers (n) to memory, for each."""

    def begin(memory: Any, numbers: Any) -> None:
        stream = cuda.grid(1)
        if stream < memory.shape[0] * LANES:
            mine = column(memory, stream // LANES, stream % LANES)
            for place in range(len(numbers)):
                mine[place] = numbers[place]

    return _compiled(begin)


@cache
def sums() -> Any:
    """Return the kernel for sums (T) of costs (T, S) over streams, in their order."""

    def summed(cost: Any, totals: Any) -> None:
        stage = cuda.grid(1)
        if stage < cost.shape[0]:
            total = 0.0
            for stream in range(cost.shape[1]):
                total += cost[stage, stream]
            totals[stage] = total

    return _compiled(summed)


def _compiled(function: Callable[..., None]) -> Any:
    """Return a function as a kernel of the device, or of its simulator."""
    return _jit()(function) if SIMULATED else _jit(max_registers=REGISTERS)(function)
