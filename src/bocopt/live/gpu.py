"""A whole panel of series on a graphics processor: from arrays to decisions and totals."""

from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.abilities import KnowsAtOnce, RunsOnDevice
from bocopt.core import Array, DeviceProblem, IntArray
from bocopt.extras import needed
from bocopt.models import LightMixture
from bocopt.models.light import TURN, first_places
from bocopt.policies import Predictive
from bocopt.policies.baselines import before_any_outcome
from bocopt.wrappers import find, says

_OWNER = "play_on_gpu"
THREADS = 128  # of a block
_PIECE = 2**30  # bytes of contexts that are on the device at a time


class PlayedPanel(NamedTuple):
    """Decisions for each series at each time, and their costs."""

    z: Array  # (T, S)
    by_time: Array  # (T) costs of the series with an outcome
    by_series: Array  # (S)


def play_on_gpu(
    policy: Predictive,
    x: Array,
    y: Array,
    seeds: IntArray | None = None,
    precision: str = "float64",
) -> PlayedPanel:
    """Play a light mixture on series: contexts x (T, S, k), outcomes y (T, S).

    The problem is one whose decision follows from a quantile of its one outcome: it says so by
    `on_device`, as a `Newsvendor` of one product does that has no capacity.

    Each series is decided at each time from its own past; nothing is learned where an outcome is
    NaN, and nothing is counted. Decisions are those of a processor but for rounding. With
    `precision="float32"` what is known of a series takes half the memory; sums are still formed in
    64 bits. Seeds (S) are 0, 1, ... unless given. Needs a CUDA device and `bocopt[gpu]`.
    """
    problem = device_problem(policy)
    x, y = arguments.real(_OWNER, "x", x), arguments.real(_OWNER, "y", y)
    if x.ndim != 3 or x.size == 0:
        raise arguments.wrong(
            _OWNER, "x", "of shape (times, series, contexts), with one of each at least", x.shape
        )
    if y.shape != x.shape[:2]:
        raise arguments.wrong(_OWNER, "y", f"of shape {x.shape[:2]}, as x says", y.shape)
    if precision not in ("float64", "float32"):
        raise arguments.wrong(_OWNER, "precision", "'float64' or 'float32'", precision)
    seeds = arguments.seeds_of(_OWNER, np.arange(y.shape[1]) if seeds is None else seeds)
    if seeds.shape != y.shape[1:]:
        raise arguments.wrong(_OWNER, "seeds", f"of shape {y.shape[1:]}, one a series", seeds.shape)
    first = before_any_outcome(policy.problem, policy.initial_decision, (), np.zeros(x.shape[-1]))
    return _play(problem, float(first.solution.z[0]), x, y, seeds, precision == "float32")


def device_problem(policy: Predictive) -> DeviceProblem:
    """Return the problem of a policy as the device plays it; refuse what it cannot play."""
    arguments.kind(_OWNER, "policy", policy, Predictive)
    arguments.kind(_OWNER, "policy.model", policy.model, LightMixture)
    if says(policy.model, KnowsAtOnce):
        raise arguments.wrong(_OWNER, "policy.model", "without a law that is given", policy.model)
    found = find(policy.problem, RunsOnDevice)
    if found is None:
        expected = "one with `on_device`, as a Newsvendor has it of one product, without a capacity"
        raise arguments.wrong(_OWNER, "policy.problem", expected, policy.problem)
    problem: DeviceProblem = found.part.on_device
    return problem


def device_library() -> Any:
    """Return numba.cuda, if there is a device or its simulator."""
    cuda = import_module("numba.cuda")
    if not import_module("numba").config.ENABLE_CUDASIM:
        needed("numba_cuda", _OWNER, '"bocopt[gpu]"')
        if not cuda.is_available():
            raise RuntimeError(f"{_OWNER} needs a CUDA device, and none was found.")
    return cuda


class SeriesOnDevice(NamedTuple):
    """The states of the series (S) and their costs so far: arrays of the device."""

    memory: Any  # (blocks, n, LANES), with S <= blocks LANES
    place: Any  # (S)
    totals: Any  # (S)
    wrong: Any  # (S) the number of stages up to one that nothing can be learned from


def begun(seeds: IntArray, k: int, narrow: bool) -> SeriesOnDevice:
    """Return what is known before any outcome, for contexts of length k."""
    cuda = device_library()
    from bocopt.models.kernels.light import device, layout
    from bocopt.models.kernels.light.columns import LANES

    blocks, fresh = -(-len(seeds) // LANES), np.empty(layout.size_of(k))
    layout.begin(fresh, k)
    memory = cuda.device_array((blocks, len(fresh), LANES), np.float32 if narrow else np.float64)
    device.beginning()[-(-blocks * LANES // THREADS), THREADS](memory, cuda.to_device(fresh))
    zeros = np.zeros(len(seeds)), np.zeros(len(seeds), np.int64)
    return SeriesOnDevice(memory, *map(cuda.to_device, (first_places(seeds, 1)[:, 0], *zeros)))


def advanced(
    on: SeriesOnDevice, problem: DeviceProblem, first: float, start: int, x: Any, y: Any
) -> tuple[Any, Any]:
    """Play stages from `start` on in place: x (T, S, k), y (T, S) -> decisions, costs (T, S)."""
    cuda = device_library()
    from bocopt.models.kernels.light import device

    z, cost = cuda.device_array(y.shape), cuda.device_array(y.shape)
    # By its functions alone: kernels are kept, and terms are no part of one.
    kind = problem._replace(level=0.0, terms=())
    play = device.stages(x.shape[2], on.memory.dtype == np.float32, kind)
    known = on.memory, x, y, on.place, start, TURN
    grid = -(-y.shape[1] // THREADS), THREADS
    play[grid](*known, problem.level, problem.terms, first, z, cost, on.totals, on.wrong)
    return z, cost


def _play(
    problem: DeviceProblem, first: float, x: Array, y: Array, seeds: IntArray, narrow: bool
) -> PlayedPanel:
    """Go through the panel in pieces of times; what is known of the series stays on the device."""
    cuda, on = device_library(), begun(seeds, x.shape[2], narrow)
    from bocopt.models.kernels.light import device

    dtype = on.memory.dtype
    z, by_time = np.empty(y.shape), np.empty(len(y))
    times = max(1, _PIECE // max(1, x[0].size * dtype.itemsize))
    for start in range(0, len(y), times):
        part = slice(start, start + times)
        shown, seen = (cuda.to_device(np.ascontiguousarray(a[part], dtype)) for a in (x, y))
        decided, cost = advanced(on, problem, first, start, shown, seen)
        summed = cuda.device_array(len(seen))
        device.sums()[-(-len(seen) // THREADS), THREADS](cost, summed)
        decided.copy_to_host(z[part])
        summed.copy_to_host(by_time[part])
    _refuse(on.wrong.copy_to_host(), x, y, narrow)
    return PlayedPanel(z, by_time, on.totals.copy_to_host())


def _refuse(wrong: IntArray, x: Array, y: Array, narrow: bool) -> None:
    """Raise an error that names the first number from which nothing can be learned."""
    if wrong.any():
        series = int(np.flatnonzero(wrong)[0])
        time = int(wrong[series]) - 1
        expected = f"at most {1e15 if narrow else 1e150} in size, where an outcome may be NaN"
        got = f"x {x[time, series]} and y {y[time, series]} at time {time} of series {series}"
        raise arguments.wrong(_OWNER, "panel", expected, got)
