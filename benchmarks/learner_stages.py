"""Stages of the default ensemble on one live stream, timed one by one: what `learner.py` runs.

python benchmarks/learner_stages.py STREAM FIRST LAST EVERY SECONDS      prints JSON

STREAM is "paper", or contexts x outcomes of a newsvendor, such as "40x8". Stages FIRST to LAST are
summed up in blocks of EVERY. After SECONDS it stops: what is told is then of the latest quarter of
the stages, or of those from FIRST on if these are more. It asks for nothing that earlier versions
do not have, so that they can be measured with it, too.
"""

import json
import sys
from collections.abc import Iterator
from itertools import islice
from time import perf_counter, process_time
from typing import Any

import numpy as np
from memory import resident_mb

from bocopt import Ensemble
from bocopt.core import Array, Dims, Problem, Sense, Solution, Status
from bocopt.paper import PaperStream
from bocopt.problems import Expectation
from bocopt_studies.paper.settings import Settings, problem_of

_LOADED = 5  # stages that load what is loaded at first use: they are not timed
_MATTER = 3  # contexts that tell something of outcomes


class Newsvendor:
    """Order at 1 what sells at 3. Early versions have none, and what is timed is the learner."""

    sense, risk = Sense.MINIMISE, Expectation()

    def __init__(self, products: int) -> None:
        self.dims = Dims(x=None, z=products, xi=products)

    def solve(self, scenarios: Array, w: Array, x: Array) -> Solution:
        """The least of the largest third of each demand: all scenarios are equally likely."""
        place = scenarios.shape[-2] * 2 // 3
        z = np.partition(scenarios, place, axis=-2)[..., place, :]
        value = self.cost(x, z[..., None, :], scenarios).mean(axis=-1)
        status = np.full(value.shape, Status.OPTIMAL, np.int64)
        return Solution(z, value, status, np.zeros(value.shape))

    def cost(self, x: Array, z: Array, xi: Array) -> Array:
        cost: Array = (z - 3 * np.minimum(z, xi)).sum(axis=-1)
        return cost

    def violation(self, x: Array, z: Array, xi: Array) -> Array:
        violation: Array = -np.minimum(z, np.zeros_like(xi)).min(axis=-1)
        return violation


def newsvendor_stages(contexts: int, outcomes: int) -> Iterator[tuple[Array, Array]]:
    rng = np.random.default_rng(0)
    matter = min(_MATTER, contexts)
    slopes = rng.normal(size=(matter, outcomes))
    while True:
        x = rng.normal(size=contexts)
        noise = rng.normal(size=outcomes) * (1 + np.abs(x[:1]))
        yield x, np.abs(20 + 2 * x[:matter] @ slopes + noise)


def world(stream: str) -> tuple[Problem, Iterator[tuple[Array, Array]]]:
    if stream == "paper":
        return problem_of(Settings()), PaperStream().stages(np.array(0))
    contexts, outcomes = (int(part) for part in stream.split("x"))
    return Newsvendor(outcomes), newsvendor_stages(contexts, outcomes)


def megabytes(state: Any) -> float:
    """Of all arrays in a nested tuple."""
    if isinstance(state, tuple):
        return sum(megabytes(part) for part in state)
    return np.asarray(state).nbytes / 1e6


def now() -> Array:
    return np.array([process_time(), perf_counter()])


def measure(stream: str, first: int, last: int, every: int, seconds: int) -> dict[str, Any]:
    problem, stages = world(stream)
    policy = Ensemble(problem)
    state = policy.init(np.array(0))
    times: list[list[Array]] = []
    blocks, at_first, deadline = [], 0.0, perf_counter() + seconds
    for t, (x, xi) in enumerate(islice(stages, last)):
        start = now()
        decision = policy.decide(state, t, x)
        middle = now()
        state = policy.learn(state, t, x, decision, xi)
        times.append([middle - start, now() - middle])
        if t + 1 == _LOADED:
            at_first = resident_mb()
        late = perf_counter() > deadline and t > 2 * _LOADED
        if late or (t >= max(first, _LOADED) and (t + 1 - first) % every == 0):
            since = max(min(first, 3 * (t + 1) // 4) if late else t + 1 - every, _LOADED)
            blocks.append(
                {
                    "from": since,
                    "to": t + 1,
                    **summary(1e3 * np.array(times[since:])),
                    "state_mb": megabytes(state),
                    "growth_mb": resident_mb() - at_first,
                }
            )
        if late:
            break
    return {"stream": stream, "blocks": blocks}


def summary(times: Array) -> dict[str, float]:
    """(n, decide and learn, CPU and clock) milliseconds -> what is told of them."""
    (decide_cpu, decide), (learn_cpu, learn) = times.mean(axis=0)
    return {
        "decide_cpu_ms": decide_cpu,
        "learn_cpu_ms": learn_cpu,
        "decide_clock_ms": decide,
        "learn_clock_ms": learn,
        "p99_clock_ms": float(np.percentile(times.sum(axis=1)[:, 1], 99)),
    }


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], *(int(number) for number in sys.argv[2:]))))
