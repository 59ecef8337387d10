"""Series that are played in lock step: all of a block at one time, then all of the next."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bocopt import checkpoint
from bocopt.app.panels.rows import PanelRows, Step, steps_of
from bocopt.core import Policy, Problem, Solution
from bocopt.live.held import Held
from bocopt.live.panel import PanelAgent
from bocopt.live.series_states import SeriesStates, plays_in_rows
from bocopt.state import Arrays, CheckpointError, leaves, mapped

_SHARE = 0.05  # of the time, at the most, goes into keeping


class SoFar(NamedTuple):
    """Progress of a policy on a block of series."""

    states: SeriesStates[Any]
    steps: int  # that are done
    taken: Solution  # (R) NaN where nothing is decided yet


@dataclass(frozen=True)
class KeptRows:
    """Files of the progress of one policy on a block; the latest that is whole counts."""

    folder: Path
    digest: str  # of everything that the results depend on
    seconds: float = 5.0  # between two that are kept, or more where keeping takes long
    every: float = math.inf  # steps, at the most

    def keep(self, so_far: SoFar) -> None:
        """Write the progress, and remove what was kept before."""
        self.folder.mkdir(parents=True, exist_ok=True)
        arrays = dict(zip(Solution._fields, so_far.taken, strict=True))
        states = {f"states.{name}": array for name, array in so_far.states.arrays().items()}
        checkpoint.save(self._file(so_far.steps), {"digest": self.digest}, arrays | states)
        self.forget(but=so_far.steps)

    def forget(self, but: int | None = None) -> None:
        """Remove all that is kept, but for so many steps."""
        for steps in self._found():
            if steps != but:
                self._file(steps).unlink(missing_ok=True)

    def latest(self, policy: Policy[Any], problem: Problem) -> SoFar | None:
        """Return the latest progress that is kept of the same study, if there is any."""
        for steps in sorted(self._found(), reverse=True):
            try:
                header, arrays = checkpoint.load(self._file(steps))
                if header.get("digest") == self.digest:
                    return _restored(policy, problem, steps, arrays)
            except (CheckpointError, OSError, KeyError):  # of another version: played again
                continue
        return None

    def _found(self) -> list[int]:
        names = (path.stem.removeprefix("steps-") for path in self.folder.glob("steps-*.bin"))
        return [int(name) for name in names if name.isdecimal()]

    def _file(self, steps: int) -> Path:
        return self.folder / f"steps-{steps}.bin"


def _restored(policy: Policy[Any], problem: Problem, steps: int, arrays: Arrays) -> SoFar:
    states = SeriesStates(policy, problem)
    prefix = "states."
    states.restore({n.removeprefix(prefix): a for n, a in arrays.items() if n.startswith(prefix)})
    return SoFar(states, steps, Solution(*(arrays[name] for name in Solution._fields)))


def can_play_in_rows(policy: Policy[Any], rows: PanelRows) -> bool:
    """Return whether a policy can be played in lock step: it decides once, for a trial."""
    if not plays_in_rows(policy):
        return False
    state = policy.init(np.zeros(1, np.int64))
    return not leaves(policy.decide(state, 0, rows.x[:1]).memo)


def play_rows(
    policy: Policy[Any],
    problem: Problem,
    rows: PanelRows,
    seeds: Callable[[str], int],
    kept: KeptRows | None = None,
    advance: Callable[[int], None] = lambda stages: None,
) -> SoFar:
    """Decide for all series of a block at each time, and learn outcomes when they come.

    With `kept`, what was played before is not played again.
    """
    at = (kept.latest(policy, problem) if kept else None) or _begun(policy, problem, rows, seeds)
    states, taken, deadline = at.states, at.taken, time.monotonic() + (kept.seconds if kept else 0)
    for number, step in enumerate(steps_of(rows)):
        if number >= at.steps:
            _played(states, taken, rows, step)
        if step.decides:
            advance(len(step.rows))
        done = number + 1
        due = kept and done > at.steps and (time.monotonic() > deadline or not done % kept.every)
        if kept and due:
            before = time.monotonic()
            kept.keep(SoFar(states, done, taken))
            now = time.monotonic()
            deadline = now + max(kept.seconds, (now - before) / _SHARE)
    return SoFar(states, -1, taken)


def _begun(
    policy: Policy[Any], problem: Problem, rows: PanelRows, seeds: Callable[[str], int]
) -> SoFar:
    states = SeriesStates(policy, problem)
    states.add(np.array([seeds(name) for name in rows.names], np.int64))
    many, nothing = len(rows.x), np.full(len(rows.x), np.nan)
    z = np.full((many, problem.dims.z), np.nan)
    taken = Solution(z, nothing.copy(), np.zeros(many, np.int64), nothing.copy())
    return SoFar(states, 0, taken)


def _played(states: SeriesStates[Any], taken: Solution, rows: PanelRows, step: Step) -> None:
    """Play one step; decisions are written to `taken`."""
    some = step.rows
    place, stage, x = rows.place[some], rows.stage[some], rows.x[some]
    if step.decides:
        found = states.decide(place, stage, x)
        for part, own in zip(taken, found, strict=True):
            part[some] = own
    else:
        decided: Solution = mapped(lambda part: part[some], taken)
        states.learn(place, stage, x, decided, rows.xi[some])


def agent_of(so_far: SoFar, rows: PanelRows, seed: int) -> PanelAgent[Any]:
    """Return the agent of a block that was played to its end."""
    last = rows.begins[1:] - 1
    latest = Held(
        place=np.arange(len(last)),
        number=rows.stage[last],
        x=rows.x[last],
        beside=np.zeros((len(last), 0)),
        solution=mapped(lambda part: part[last], so_far.taken),
        xi=np.where(rows.known[last, None], rows.xi[last], np.nan),
        open=np.zeros(len(last), bool),
    )
    return PanelAgent.of(so_far.states, rows.names, latest, seed=seed)
