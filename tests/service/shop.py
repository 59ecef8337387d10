"""A small shop to test the service with."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bocopt import Ensemble, SampleAverage
from bocopt.app.case_file import StreamLimits
from bocopt.app.service.commands import Correct, Decide, Forget, Observe, RefusedError, Reply
from bocopt.app.service.engine import Engine
from bocopt.app.service.refolding import right_of
from bocopt.app.service.registry import Registry
from bocopt.app.service.shard import Shard
from bocopt.app.service.stores import OutcomeTotals, Snapshot, Store, StoreError
from bocopt.app.service.stream_cache import StreamCache
from bocopt.app.service.stream_state import StreamState, initial
from bocopt.app.service.stream_template import StreamTemplate, template_of
from bocopt.live.events import snapshot_bytes
from bocopt.problems import Knapsack

problem = Knapsack(value=[12, 9], capacity=[8], salvage=[1], upper=8)
policy = SampleAverage(problem, initial_decision=[1, 1])
better = SampleAverage(problem, initial_decision=[2, 2], latest=20)
latest = SampleAverage(problem, initial_decision=[2, 2], latest=1)
learner = Ensemble(problem)


def shop(**options: Any) -> StreamTemplate:
    return template_of("shop", problem, options.pop("policy", policy), **options)


def small(**limits: Any) -> StreamTemplate:
    return shop(limits=StreamLimits(**limits))


def engine(store: Store, *kinds: StreamTemplate, **options: Any) -> Engine:
    """One that is ready, and whose `step` is called by the test."""
    known = {kind.name: kind for kind in kinds or (shop(),)}
    registry = Registry(store, known, options.pop("numeric", "machine"))
    registry.open(0.0)
    shard = Shard(store, StreamCache(store, known, options.pop("held", 1000)))
    shard.open()
    return Engine(store, registry, [shard], **options)


def cache(engine: Engine) -> StreamCache:
    """What is held in this process."""
    [decider] = engine.deciders
    assert isinstance(decider, Shard)
    return decider.cache


def one(engine: Engine, command: Any) -> Reply:
    """Its answer; a RefusedError is raised."""
    [answer] = engine.step([command])
    if isinstance(answer, Exception):
        raise answer
    return answer


def status(engine: Engine, command: Any) -> int:
    try:
        return one(engine, command).status
    except RefusedError as error:
        return error.status


def folded(store: Store, kind: StreamTemplate, stream: str = "shop") -> StreamState:
    """From the log alone."""
    declared = next(each for each in store.streams() if each.id == stream)
    rows = store.tail(stream)
    return initial(kind, declared).caught_up(rows, right_of(kind, rows))


def bits(held: StreamState) -> bytes:
    return snapshot_bytes(held.template.fold, held.live)


def assert_is_its_log(engine: Engine, store: Store, stream: str = "shop") -> None:
    held = cache(engine).state(stream)
    again = folded(store, held.template, stream)
    assert bits(held) == bits(again)
    assert (held.seq, held.since, held.totals) == (again.seq, again.since, again.totals)
    assert held.snapshot().state == again.snapshot().state
    assert (store.last_stage(stream) or held.totals) == held.totals
    told = [each._replace(told="") for each in store.stages(stream)]  # by who decided then
    assert told == [each._replace(told="") for each in sums(store, held)]


def sums(store: Store, held: StreamState) -> list[OutcomeTotals]:
    """Of each outcome, from the log alone."""
    rows, first = store.tail(held.stream), initial(held.template, held.declared)
    found = first.folded(rows, right_of(held.template, rows))
    return [totals for _, totals in found if totals is not None]


def random_command(rng: np.random.Generator, n: int, stream: str = "shop") -> Any:
    """Decisions, outcomes that come late, twice, in part or wrong, and some that are given up."""
    pick = rng.integers(12)
    if pick < 5:
        return Decide(stream, [round(float(rng.normal()), 2)], f"key-{rng.integers(2 * n)}")
    number = int(rng.integers(n))
    if pick == 9:
        return Forget(stream, number)
    xi: list[Any] = [1.0 + 0.1 * (number % 7), 1.0 + 0.01 * rng.integers(2)]
    if number % 3 == 0:
        xi[1] = (None, {"at_least": 0.9}, {"at_least": 0.8, "at_most": 1.3})[rng.integers(3)]
    return Observe(stream, number, xi) if pick < 9 else Correct(stream, number, xi)


@dataclass
class Counting:
    """A store that counts, and fails where it is told to: before the commit, or after it."""

    store: Store
    appends: int = 0
    failing: dict[int, str] = field(default_factory=dict)

    def append(
        self,
        rows: Any,
        snapshots: list[Snapshot] | Any = (),
        stages: list[OutcomeTotals] | Any = (),
    ) -> None:
        when = self.failing.get(self.appends)
        self.appends += 1
        if when == "before":
            raise StoreError("no room", full=True)
        self.store.append(rows, snapshots, stages)
        if when == "after":
            raise StoreError("the connection was lost while committing")

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)


def status_code(answer: Reply | Exception) -> int:
    assert isinstance(answer, Reply | RefusedError)
    return answer.status


def play(ours: Engine, stages: int, seed: int = 0) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(stages):
        number = one(ours, Decide("shop", [float(rng.normal())])).body["id"]
        one(ours, Observe("shop", number, rng.uniform(0.5, 1.5, 2).tolist()))
