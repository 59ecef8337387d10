"""A panel of M5's size on two processes, from arrays to decisions and totals, part by part.

A part is a tenth of the series, all days; each of two processes draws half of it, and when both
have, plays it. So arrays in memory are those of a part. Parts that are known are not played again.
"""

import resource
from collections.abc import Iterator
from itertools import pairwise
from multiprocessing import get_context
from time import perf_counter, process_time
from typing import Any

import numpy as np
from panel_made import CONTEXTS, DAYS, SERIES, demand

from bocopt.core import Array
from bocopt.models import LightMixture
from bocopt.numeric.blas import one_thread
from bocopt.policies import Predictive
from bocopt.problems import Newsvendor
from bocopt.state import leaves

PROBLEM = Newsvendor(unit_cost=[1.0], price=5.0)
POLICY = Predictive(PROBLEM, LightMixture())
PROCESSES, PARTS = 2, 10
BLOCK = 256  # series in lock step
LONGEST = 8 * 60  # seconds, after which no part is begun


def measured(before: Any, small: bool) -> Iterator[dict[str, Any]]:
    """Yield what is known of all parts, after each part."""
    series, days, many = (60, 40, 2) if small else (SERIES, DAYS, PARTS)
    found = dict((before or {}).get("parts", {}))
    start = perf_counter()
    for part, (first, last) in enumerate(halves(0, series, many)):
        if str(part) not in found and perf_counter() - start < LONGEST:
            found[str(part)] = played_part(first, last, days)
            yield summed(found, series, days, many)
    yield summed(found, series, days, many)


def halves(first: int, last: int, many: int) -> list[tuple[int, int]]:
    """Return ranges of nearly equal length."""
    ends = np.linspace(first, last, many + 1).round().astype(int).tolist()
    return list(pairwise(ends))


def played_part(first: int, last: int, days: int) -> dict[str, float]:
    """Return what some of the series took, half of them by each process."""
    context = get_context("spawn")
    ready, results = context.Barrier(PROCESSES), context.SimpleQueue()
    started = [
        context.Process(target=_play, args=(*some, days, ready, results))
        for some in halves(first, last, PROCESSES)
    ]
    for process in started:
        process.start()
    for process in started:
        process.join()
        if process.exitcode != 0:
            raise RuntimeError(f"A process ended with {process.exitcode}.")
    found = [results.get() for _ in started]
    return {
        "series": last - first,
        "seconds": max(one["seconds"] for one in found),
        "seconds of CPU": sum(one["seconds of CPU"] for one in found),
        "gigabytes": sum(one["gigabytes"] for one in found),
        "cost": sum(one["cost"] for one in found),
        "bytes a series": max(one["bytes a series"] for one in found),
    }


def _play(first: int, last: int, days: int, ready: Any, results: Any) -> None:
    with one_thread():
        warm = demand(np.random.default_rng(0), 40, 4)
        from_arrays(*warm, 0)  # machine code is loaded
        x, y = demand(np.random.default_rng([2, first]), days, last - first)
        ready.wait()
        clock, start = perf_counter(), process_time()
        z, by_time, size = from_arrays(x, y, first)
        found = {"seconds": perf_counter() - clock, "seconds of CPU": process_time() - start}
    assert np.isfinite(z).all()
    found["gigabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    results.put({**found, "cost": float(by_time.sum()), "bytes a series": size})


def from_arrays(x: Array, y: Array, first: int) -> tuple[Array, Array, float]:
    """Return decisions (T, S), what all series paid at each time (T), and bytes of a state."""
    z, size = np.empty(y.shape), 0.0
    by_time = np.zeros(len(y))
    for begin in range(0, y.shape[1], BLOCK):
        some = slice(begin, begin + BLOCK)
        here, came = np.ascontiguousarray(x[:, some]), y[:, some, None]
        state = POLICY.init(first + begin + np.arange(here.shape[1]))
        for t in range(len(y)):
            decision = POLICY.decide(state, t, here[t])
            z[t, some] = decision.solution.z[:, 0]
            state = POLICY.learn(state, t, here[t], decision, came[t])
        by_time += PROBLEM.cost(here, z[:, some, None], came).sum(axis=1)
        size = max(size, sum(leaf.nbytes for leaf in leaves(state)) / here.shape[1])
    return z, by_time, size


def summed(found: dict[str, Any], series: int, days: int, many: int) -> dict[str, Any]:
    """Return the sums over parts, and these."""
    done = sum(one["series"] for one in found.values())
    cpu = sum(one["seconds of CPU"] for one in found.values())
    return {
        "series": series,
        "days": days,
        "contexts": CONTEXTS,
        "processes": PROCESSES,
        "parts played": f"{len(found)} of {many}",
        "series played": done,
        "seconds": sum(one["seconds"] for one in found.values()),
        "seconds of CPU": cpu,
        "series-stages a second of a core": done * days / cpu,
        "gigabytes, at most, of both processes": max(one["gigabytes"] for one in found.values()),
        "bytes a series": max(one["bytes a series"] for one in found.values()),
        "cost a series-stage": sum(one["cost"] for one in found.values()) / (done * days),
        "parts": found,
    }
