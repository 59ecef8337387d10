"""Play a policy on a series, as an agent would have lived it."""

import math
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from bocopt.app.features.series import Series
from bocopt.app.findings import Played
from bocopt.app.playing.in_hindsight import SeriesData
from bocopt.app.playing.kept import Kept, PlayedSoFar
from bocopt.core import Array, Bounds, IntArray, Policy, Problem, Status, judge
from bocopt.guarantees import Monitor
from bocopt.live import Agent, SalesWarning
from bocopt.loop import Stage
from bocopt.problems.ranges import within

_SHOWN = ("probability", "arm_weights", "weights")  # of what a policy learned: for the report
_NUMBERS = ("cost", "feasible")
_LARGEST = 10**9  # decisions that may wait: a table knows how many there are


def arrivals(series: Series) -> Iterator[IntArray]:
    """Yield for each stage the stages whose outcome comes just before its decision; last, the rest.

    Outcomes that never came are not among them.
    """
    stages = np.flatnonzero(series.came)
    order = stages[np.argsort(series.arrives[stages], kind="stable")]
    at = series.arrives[order]
    for t in range(len(series.x) + 1):
        low, high = np.searchsorted(at, [t, t + 1])
        yield order[low : high if t < len(series.x) else len(order)]


def play(
    policy: Policy[Any],
    problem: Problem,
    series: Series,
    *,
    least: Array | None = None,
    seed: int = 0,
    monitor: Callable[[], Monitor] | None = None,
    unit: str = "",
    kept: Kept | None = None,
    advance: Callable[[int], None] = lambda stages: None,
) -> tuple[Played, Agent[Any]]:
    """Decide at every stage, and learn each outcome when it comes.

    Outcomes that come after the last decision are learned at the end. With `kept`, what was played
    before is not played again. `least` (T) are the costs in hindsight, which are the same for all
    who are played on the series: see `least_costs`; None where nobody asks for them. `monitor`
    makes what the agent is watched by, where that is not the default; it speaks of costs in `unit`.
    """
    stopped = kept.latest(policy, problem, monitor) if kept else None
    at = stopped or begun(policy, problem, seed, monitor)
    advance(at.t)
    end, deadline = len(series.x), _deadline(kept, 0.0)
    while at.t < end:
        until = min(end, kept.next(at.t)) if kept else end
        at = stretch(series, at, until, advance, deadline)
        if kept and (kept.end or at.t < end):
            before = time.monotonic()
            kept.keep(at)
            deadline = _deadline(kept, time.monotonic() - before)
    *_, rest = arrivals(series)
    record = _Record(end, at.arrays)
    record.outcomes(at.agent, series, rest)
    return record.played(least, tuple(at.agent.monitor.words(unit))), at.agent


def _deadline(kept: Kept | None, took: float) -> float:
    """Return when to keep what is played by then, if keeping took so many seconds the last time."""
    return time.monotonic() + kept.pause(took) if kept else math.inf


def begun(
    policy: Policy[Any],
    problem: Problem,
    seed: int,
    monitor: Callable[[], Monitor] | None = None,
) -> PlayedSoFar:
    """Return the progress before the first stage, with a new agent."""
    agent = Agent(
        policy,
        problem=problem,
        seed=seed,
        max_open=_LARGEST,
        monitor=monitor() if monitor else None,
        hindsight=False,
    )
    return PlayedSoFar(agent, t=0, arrays={})


def stretch(
    series: Series,
    at: PlayedSoFar,
    until: int,
    advance: Callable[[int], None] = lambda stages: None,
    deadline: float = math.inf,
) -> PlayedSoFar:
    """Decide at the stages from where it stands to another, which is not decided.

    After a time, by the monotonic clock, it stops at the next stage.
    """
    agent, first, arrays = at
    record = _Record(len(series.x), arrays)
    comes = series.came
    for t, came in islice(enumerate(arrivals(series)), first, until):
        record.outcomes(agent, series, came)
        record.decision(t, agent.decide(series.x[t]))
        if not comes[t]:
            agent.forget(t)
        advance(1)
        if time.monotonic() >= deadline:
            return PlayedSoFar(agent, t + 1, record.arrays)
    return PlayedSoFar(agent, until, record.arrays)


def paid(problem: Problem, series: SeriesData, z: Array, least: Array) -> Played:
    """Return the results of decisions (T, d) taken; NaN where a decision or outcome is missing."""
    known = np.isfinite(z).all(axis=-1) & np.isfinite(series.xi).all(axis=-1)
    x, xi, taken = series.x[known], series.xi[known], z[known]
    numbers = {name: np.full(len(z), np.nan) for name in _NUMBERS}
    if known.any():
        cost, violation = judge(problem, x, taken, xi)
        numbers["cost"][known], numbers["feasible"][known] = cost, violation <= 0
    status, best = np.full(len(z), int(Status.GIVEN)), np.where(known, least, np.nan)
    return Played(z=z, **numbers, hindsight=best, status=status, info={}, said=())


def shown_in_part(problem: Problem, series: Series, played: Played) -> Played:
    """Return the same with what outcomes that were seen in part show of feasibility."""
    feasible, decided = played.feasible.copy(), np.isfinite(played.z).all(axis=-1)
    for stage in np.flatnonzero(series.in_part & decided).tolist():
        seen = series.seen_at(stage)
        assert isinstance(seen, Bounds)
        fits, misses = within(problem, seen).verdicts(series.x[stage], played.z[stage])
        feasible[stage] = np.nan if fits == misses else float(fits)  # neither: none is possible
    return played._replace(feasible=feasible)


class _Record:
    """Record of what is known of the stages so far, in arrays of the whole length."""

    def __init__(self, stages: int, arrays: dict[str, Array]) -> None:
        self.stages, self.arrays = stages, arrays

    def _put(self, name: str, stage: int, value: Any) -> None:
        value = np.asarray(value, float)
        if name not in self.arrays:
            self.arrays[name] = np.full((self.stages, *value.shape), np.nan)
        self.arrays[name][stage] = value

    def decision(self, stage: int, ticket: Any) -> None:
        """Write the decision and the status of a stage."""
        self._put("z", stage, ticket.z)
        self._put("status", stage, int(ticket.status))

    def outcomes(self, agent: Agent[Any], series: Series, came: IntArray) -> None:
        """Learn and note outcomes, in the order in which they came.

        A policy that cannot learn from a part of one goes without it.
        """
        in_part = series.in_part
        for stage in came.tolist():
            if in_part[stage] and not agent.takes_bounds:
                agent.forget(stage)
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SalesWarning)  # these are no sales of this agent
                seen = agent.observe(stage, series.seen_at(stage))
            if seen is not None:
                self._outcome(stage, seen)

    def _outcome(self, stage: int, seen: Stage) -> None:
        self._put("cost", stage, seen.cost)
        self._put("feasible", stage, np.nan if seen.undecided else seen.feasible)
        for name in _SHOWN:
            if name in seen.info:
                self._put(f"info.{name}", stage, seen.info[name])

    def played(self, least: Array | None, said: tuple[str, ...]) -> Played:
        """Return the results of all stages; `least` (T) are the costs in hindsight, or NaN."""
        nothing = np.full(self.stages, np.nan)
        numbers = {name: self.arrays.get(name, nothing) for name in _NUMBERS}
        return Played(
            z=self.arrays["z"],
            **numbers,
            hindsight=nothing if least is None else least,
            status=self.arrays["status"].astype(np.int64),
            info={n[5:]: a for n, a in self.arrays.items() if n.startswith("info.")},
            said=said,
        )
