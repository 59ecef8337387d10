"""Nodes with workers that log before they answer: a simulation by events.

    request -> front of its node -> lane of its stream -> batch -> commit -> answer

A lane is a worker. It takes what waits, does it, and waits until it is committed; so commits have
many events where much waits. A node commits one batch at a time, as its one connection does. The
database has cores, which all of its nodes share. Where a node dies, what was not committed is asked
for again once it is back, and nothing is in memory then.
"""

import heapq
from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from bocopt.core import Array, IntArray
from scale.traffic import Traffic, arrivals, asked_for


class Line(NamedTuple):
    """Seconds for a batch: some for itself, and some for each of its events."""

    batch: float
    event: float

    def __call__(self, events: int) -> float:
        return self.batch + self.event * events


NOTHING = Line(0.0, 0.0)


@dataclass(frozen=True, kw_only=True)
class Design:
    """What there is, and what each part takes."""

    name: str
    nodes: int = 1
    workers: int = 4  # of a node, each with a core of its own
    held: int = 1000  # streams in memory, of a node
    at_once: int = 64  # that are committed together
    front: float = 0.0  # seconds of a request in the front, which does one at a time
    parts: tuple[float, ...]  # seconds of a request in its worker: one of these, all alike often
    restore: float = 0.0  # seconds more where its stream is not in memory
    leave: float = 0.0  # seconds more of a commit, for each stream that leaves memory
    commit: Line = NOTHING  # seconds that a node's connection is busy
    one_connection: bool = True  # of a node; otherwise commits do not wait for each other
    database: Line = NOTHING  # of which on a core of the database
    databases: int = 1
    cores: int = 2  # of each database
    delay: float = 0.0  # seconds more until it is known that a batch is kept

    @property
    def lanes(self) -> int:
        return self.nodes * self.workers


class Death(NamedTuple):
    """A node that is away for a while."""

    node: int
    at: float
    seconds: float


class Result(NamedTuple):
    """What became of the requests."""

    arrived: Array  # (n) seconds
    latency: Array  # (n) seconds
    node: IntArray  # (n)
    busy: dict[str, float]  # the share of time that the busiest one of its kind is busy
    missed: float  # the share of requests whose stream was not in memory
    batch: float  # events of a commit, on average

    def quantile(self, q: float) -> float:
        return float(np.quantile(self.latency, q))

    @property
    def slow(self) -> float:
        """The share of requests that took more than a second."""
        return float((self.latency > 1.0).mean())

    @property
    def saturates(self) -> str:
        """What is busiest."""
        return max(self.busy, key=lambda part: self.busy[part])


@dataclass
class _Lane:
    node: int
    asked: list[int]  # requests, in order
    ready: list[float]  # when each has passed the front
    memory: dict[int, None]  # streams, the least recently used first
    room: int
    next: int = 0
    end: int = 0  # of the batch that is under way
    leaving: int = 0  # streams, with that batch
    worked: float = 0.0


@dataclass
class _Node:
    life: int = 0  # what belongs to another one is void
    committing: bool = False
    waiting: deque[int] = field(default_factory=deque)  # lanes
    worked: float = 0.0


def simulate(
    design: Design, traffic: Traffic, deaths: tuple[Death, ...] = (), seed: int = 0
) -> Result:
    """All requests of the traffic, until the last is answered."""
    rng = np.random.default_rng(seed)
    arrived = arrivals(traffic, rng)
    rank = asked_for(traffic, len(arrived), rng)
    place = rng.integers(design.lanes, size=traffic.streams)  # as a digest of the name would say
    lane_of = place[rank]
    node_of = lane_of // design.workers
    front, ready = _through_fronts(design, arrived, node_of, deaths)
    seconds = rng.choice(np.array(design.parts), len(arrived))
    lanes = [
        _lane(design, lane, np.flatnonzero(lane_of == lane), ready, place)
        for lane in range(design.lanes)
    ]
    run = _Run(design, lanes, seconds.tolist(), rank.tolist())
    run.until_all_is_answered(deaths)
    end = max(run.now, traffic.seconds)
    busy = {
        "front": front / end,
        "worker": max(lane.worked for lane in lanes) / end,
        "connection": max(node.worked for node in run.nodes) / end,
        "database": max(run.database) / end / design.cores,
    }
    answered = np.array(run.answered)
    batch = len(arrived) / max(1, run.commits)
    missed = run.missed / max(1, len(arrived))
    return Result(arrived, answered - arrived, node_of, busy, missed, batch)


def _through_fronts(
    design: Design, arrived: Array, node_of: IntArray, deaths: tuple[Death, ...]
) -> tuple[float, Array]:
    """How long the busiest front worked, and when each request has passed: one after the other."""
    ready, most = arrived.copy(), 0.0
    for death in deaths:  # who found nobody asks again when the node is back
        back = death.at + death.seconds
        away = (node_of == death.node) & (ready >= death.at) & (ready < back)
        ready[away] = back
    for node in range(design.nodes):
        mine = np.flatnonzero(node_of == node)
        before = design.front * np.arange(len(mine))
        ready[mine] = np.maximum.accumulate(ready[mine] - before) + before + design.front
        most = max(most, design.front * len(mine))
    return most, ready


def _lane(design: Design, lane: int, asked: IntArray, ready: Array, place: IntArray) -> _Lane:
    """It begins with the streams in memory that are asked for most."""
    room = max(1, design.held // design.workers)
    known = np.flatnonzero(place == lane)[:room]
    memory: dict[int, None] = dict.fromkeys(known[::-1].tolist())
    return _Lane(lane // design.workers, asked.tolist(), ready[asked].tolist(), memory, room)


class _Run:
    """Events in order of time: (when, what, lane or node, life of the node)."""

    def __init__(
        self, design: Design, lanes: list[_Lane], seconds: list[float], rank: list[int]
    ) -> None:
        self._design, self._lanes, self._seconds, self._rank = design, lanes, seconds, rank
        self._events: list[tuple[float, int, int, int]] = []
        self._free = [[0.0] * design.cores for _ in range(design.databases)]
        self.nodes = [_Node() for _ in range(design.nodes)]
        self.answered = [0.0] * len(seconds)
        self.database = [0.0] * design.databases
        self.now, self.missed, self.commits = 0.0, 0, 0

    def until_all_is_answered(self, deaths: tuple[Death, ...]) -> None:
        for death in deaths:
            heapq.heappush(self._events, (death.at, _DIES, death.node, 0))
        away = {(death.node, death.at): death.seconds for death in deaths}
        for lane in range(len(self._lanes)):
            self._wake(lane, 0.0)
        while self._events:
            self.now, what, who, life = heapq.heappop(self._events)
            if what == _DIES:
                self._dies(who, away[who, self.now])
            elif life == self.nodes[self._lanes[who].node].life:
                (self._begins, self._proposed, self._commits, self._committed)[what](who)

    def _push(self, when: float, what: int, lane: int) -> None:
        life = self.nodes[self._lanes[lane].node].life
        heapq.heappush(self._events, (when, what, lane, life))

    def _wake(self, at: int, when: float) -> None:
        """Its next batch, as soon as there is something to do."""
        lane = self._lanes[at]
        if lane.next < len(lane.asked):
            self._push(max(when, lane.ready[lane.next]), _BEGINS, at)

    def _begins(self, at: int) -> None:
        lane, design = self._lanes[at], self._design
        most = min(lane.next + design.at_once, len(lane.asked))
        lane.end, lane.leaving, took = lane.next, 0, 0.0
        while lane.end < most and lane.ready[lane.end] <= self.now:
            took += self._done(lane, lane.asked[lane.end])
            lane.end += 1
        lane.worked += took
        self._push(self.now + took, _PROPOSED, at)

    def _done(self, lane: _Lane, request: int) -> float:
        stream, took = self._rank[request], self._seconds[request]
        if stream in lane.memory:
            del lane.memory[stream]
        else:
            self.missed += 1
            took += self._design.restore
            if len(lane.memory) >= lane.room:
                lane.leaving += 1
                del lane.memory[next(iter(lane.memory))]
        lane.memory[stream] = None
        return took

    def _proposed(self, at: int) -> None:
        node = self.nodes[self._lanes[at].node]
        if node.committing and self._design.one_connection:
            node.waiting.append(at)
        else:
            node.committing = True
            self._commits(at)

    def _commits(self, at: int) -> None:
        lane, design = self._lanes[at], self._design
        events = lane.end - lane.next
        database = lane.node % design.databases
        on_core = design.database(events)
        whole = design.commit(events) + design.leave * lane.leaving
        begins = max(self.now, self._free[database][0])
        heapq.heapreplace(self._free[database], begins + on_core)
        self.database[database] += on_core
        finish = begins + max(on_core, whole)
        self.nodes[lane.node].worked += finish - self.now
        self.commits += 1
        self._push(finish, _COMMITTED, at)

    def _committed(self, at: int) -> None:
        lane, node = self._lanes[at], self.nodes[self._lanes[at].node]
        node.committing = bool(node.waiting)
        if node.waiting:
            self._push(self.now, _COMMITS, node.waiting.popleft())
        known = self.now + self._design.delay
        for request in lane.asked[lane.next : lane.end]:
            self.answered[request] = known
        lane.next = lane.end
        self._wake(at, known)

    def _dies(self, number: int, seconds: float) -> None:
        node = self.nodes[number]
        self.nodes[number] = _Node(node.life + 1, worked=node.worked)
        for at, lane in enumerate(self._lanes):
            if lane.node == number:
                lane.memory.clear()
                self._wake(at, self.now + seconds)


_BEGINS, _PROPOSED, _COMMITS, _COMMITTED, _DIES = range(5)
