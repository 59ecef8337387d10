"""Progress of a study, kept in files so that the same command goes on from there."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from bocopt import checkpoint
from bocopt.core import Array, Policy, Problem
from bocopt.guarantees import Monitor
from bocopt.live import Agent
from bocopt.state import CheckpointError

_SHARE = 0.05  # of the time, at the most, goes into keeping by time


class PlayedSoFar(NamedTuple):
    """Progress of one policy on a series."""

    agent: Agent[Any]
    t: int  # the first stage that is not decided
    arrays: dict[str, Array]  # what is known of those before


@dataclass(frozen=True)
class Kept:
    """Kept progress of one policy, in a folder: two files, of agent and numbers, for each stage.

    The one with the numbers is written last: where it is, the other one is whole.
    """

    folder: Path
    digest: str  # of everything that the results depend on
    every: int  # stages
    seconds: float = math.inf  # and at the latest, where keeping itself does not take long
    end: bool = True  # whether the end is kept as well; not where something else keeps it

    def next(self, t: int) -> int:
        """Return the first stage after this one that is due."""
        return (t // self.every + 1) * self.every

    def pause(self, took: float) -> float:
        """Return the seconds until the next is kept, where the last one took so long."""
        return max(self.seconds, took / _SHARE)

    def keep(self, progress: PlayedSoFar) -> None:
        """Write the progress at its stage, and remove what was kept at others."""
        self.folder.mkdir(parents=True, exist_ok=True)
        agent, numbers = self._files(progress.t)
        progress.agent.save(agent)
        progress.agent.close()
        checkpoint.save(numbers, {"digest": self.digest}, progress.arrays)
        self.forget(but=progress.t)

    def forget(self, but: int | None = None) -> None:
        """Remove all that is kept, but for one stage."""
        for t in self._stages():
            if t != but:
                for path in reversed(self._files(t)):
                    path.unlink(missing_ok=True)

    def far(self) -> int:
        """Return up to which stage something is kept, by the names of files alone."""
        return max(self._stages(), default=0)

    def latest(
        self,
        policy: Policy[Any],
        problem: Problem,
        monitor: Callable[[], Monitor] | None = None,
    ) -> PlayedSoFar | None:
        """Return the latest progress that is kept, if it is of the same study; else None."""
        for t in sorted(self._stages(), reverse=True):
            agent, numbers = self._files(t)
            try:
                header, arrays = checkpoint.load(numbers)
                if header.get("digest") == self.digest:
                    found = Agent.load(
                        agent,
                        policy,
                        problem=problem,
                        monitor=monitor() if monitor else None,
                        hindsight=False,
                    )
                    return PlayedSoFar(found, t, dict(arrays))
            except (CheckpointError, OSError):  # of another version, or broken: played again
                continue
        return None

    def _stages(self) -> list[int]:
        found = (path.stem.removeprefix("numbers-") for path in self.folder.glob("numbers-*.bin"))
        return [int(t) for t in found if t.isdecimal()]

    def _files(self, t: int) -> tuple[Path, Path]:
        return self.folder / f"agent-{t}.bin", self.folder / f"numbers-{t}.bin"
