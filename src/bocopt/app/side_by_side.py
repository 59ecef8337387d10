"""The policies of a case, each played in a process of its own: the same bytes as one by one."""

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from functools import partial
from pathlib import Path

from bocopt.app.case import Case
from bocopt.app.opening import open_case
from bocopt.app.playing.in_hindsight import least_costs
from bocopt.app.playing.play import play
from bocopt.processes import processes

_LOOK = 0.5  # seconds between two looks at how far they are


def play_side_by_side(
    case: Case,
    jobs: int,
    *,
    fresh: bool = False,
    keep_every: int = 200,
    keep_seconds: float = 5.0,
    advance: Callable[[int], None] = lambda stages: None,
) -> None:
    """Play what has not been played, and keep it; `backtest` then finds nothing left to play.

    A worker reads the files of the case again, so it is told apart from another one.
    """
    kept = {name: case.kept(name, keep_every, keep_seconds) for name in case.everyone}
    costs = case.kept_costs
    if fresh:
        costs.forget()
        for one in kept.values():
            one.forget()
    if case.source is None:
        raise ValueError("Only a case that was read from a file can be played in other processes.")
    path, far = case.source.part.file.path, dict.fromkeys(kept, 0)
    with processes(min(jobs, len(kept))) as executor:
        waiting: set[Future[None]] = {
            executor.submit(_play, path, case.name, name, one.digest, keep_every, keep_seconds)
            for name, one in kept.items()
        }
        waiting.add(executor.submit(_look_back, path, case.name, costs.digest))
        while waiting:
            over, waiting = wait(waiting, timeout=_LOOK, return_when=FIRST_COMPLETED)
            for name, one in kept.items():
                now = max(one.far(), far[name])
                advance(now - far[name])
                far[name] = now
            for future in over:
                future.result()


def _play(
    path: Path, of: str, name: str, digest: str, keep_every: int, keep_seconds: float
) -> None:
    """Play one of the policies, in a worker."""
    case = open_case(path, of)
    kept = case.kept(name, keep_every, keep_seconds)
    _check(path, kept.digest, digest)
    monitor = partial(case.monitor, name)
    play(case.everyone[name], case.problem, case.data, seed=case.seed, monitor=monitor, kept=kept)


def _look_back(path: Path, of: str, digest: str) -> None:
    """Compute the least costs in hindsight, for all policies, in a worker."""
    case = open_case(path, of)
    _check(path, case.kept_costs.digest, digest)
    least_costs(case.problem, case.data, case.kept_costs)


def _check(path: Path, own: str, digest: str) -> None:
    """Raise an error if a worker has not read the same case."""
    if own != digest:
        raise ValueError(f"{path}, or a file that it names, has changed. Run the command again.")
