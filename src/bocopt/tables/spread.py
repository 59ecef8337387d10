"""Play a study on many workers: each policy is played in stretches, one after the other.

A worker is sent the study's files and where the policy stands, and sends back where it stands
later, in the bytes that a run here would have kept. So whoever goes on with the study, here or on
other workers, comes to the same bytes.
"""

import math
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from bocopt.tables.playing.kept import Kept, Packed
from bocopt.tables.playing.play import begun, stretch
from bocopt.tables.study import Study, open_study
from bocopt.work.order import Order, order
from bocopt.work.origin import ForeignWorkerError, Origin
from bocopt.work.sending import Planned, answered

#: A study's files are sent with each stretch, so there are few of these: at most so many a policy.
_STRETCHES = 20
_MODULES = frozenset({__name__})


@dataclass(frozen=True)
class Files:
    """A study as bytes, by name: what `study.toml` names, and no more."""

    study: str
    contents: tuple[tuple[str, bytes], ...]

    def opened(self, folder: Path) -> Study:
        """Written to a folder, and read from there."""
        for name, content in self.contents:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return open_study(folder / self.study)


def files_of(study: Study) -> Files:
    """Relative to the folder of `study.toml`, where they must stand."""
    root = study.file.path.parent
    paths = (study.file.path, study.file.problem, study.file.data)
    for path in paths:
        if not path.is_relative_to(root) or ".." in path.relative_to(root).parts:
            raise ValueError(
                f"{path} is not in the folder of {study.file.path}, so it cannot be sent to a "
                "cluster. Move it there."
            )
    named = {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}
    return Files(study.file.path.name, tuple(named.items()))


class Stood(NamedTuple):
    """Where a policy stands after a stretch, and of which study that worker thinks it is."""

    digest: str
    packed: Packed


@dataclass(frozen=True)
class Stretch:
    """Some stages of one policy."""

    files: Files
    name: str
    digest: str  # of all that the policy's results depend on, here
    at: Packed | None
    until: int

    def run(self) -> Stood:
        with TemporaryDirectory(prefix="bocopt-") as folder:
            study = self.files.opened(Path(folder))
            kept = study.kept(self.name, every=1)
            if kept.digest != self.digest:
                return Stood(kept.digest, Packed(0, b"", b""))
            if self.at is not None:
                kept.put(self.at)
            policy = study.everyone[self.name]
            at = kept.latest(policy, study.problem) or begun(policy, study.problem, study.file.seed)
            kept.keep(stretch(study.series, at, self.until))
            packed = kept.packed()
            assert packed is not None
            return Stood(kept.digest, packed)

    def short(self) -> "Stretch":
        return replace(self, at=None, until=1)


class _Plan(NamedTuple):
    """One policy of a study, and how far it is played at a time."""

    study: Study
    files: Files
    name: str
    kept: Kept

    def left(self, at: Packed | None) -> bool:
        return at is None or at.t < len(self.study.series.x)

    def order(self, at: Packed | None) -> Order:
        stages, every = len(self.study.series.x), self.kept.every
        length = every * math.ceil(stages / _STRETCHES / every)
        until = min(stages, (at.t if at else 0) + length)
        work = Stretch(self.files, self.name, self.kept.digest, at, until)
        return order(work, _MODULES, kind=self.kept.digest)

    def refuse_another(self, stood: Stood, origin: Origin) -> None:
        """A problem may depend on more than its file: on other files, or on other libraries."""
        if stood.digest != self.kept.digest:
            sent = ", ".join(name for name, _ in self.files.contents)
            raise ForeignWorkerError(
                f"{self.study.file.problem} says something else on a worker, so nothing of it was "
                f"stored: {origin.where}. Only {sent} "
                "are sent there: the problem must not depend on where its file stands, on other "
                "files, or on the host."
            )


def spread(
    studies: Sequence[Study],
    executor: Executor,
    size: Callable[[], int],
    *,
    fresh: bool = False,
    keep_every: int = 200,
    advance: Callable[[int], None] = lambda stages: None,
) -> None:
    """Play what has not been played of some studies; `played` then finds nothing left to play."""
    plans = [
        _Plan(study, files_of(study), name, study.kept(name, every=keep_every))
        for study in studies
        for name in study.everyone
    ]
    at: dict[str, Packed | None] = {}
    orders: deque[Planned] = deque()
    for key, plan in zip(map(str, range(len(plans))), plans, strict=True):
        if fresh:
            plan.kept.forget()
        at[key] = begun = plan.kept.packed()
        advance(begun.t if begun else 0)
        if plan.left(begun):
            orders.append(Planned(key, partial(plan.order, begun)))
    for key, answer in answered(executor, orders, size):
        plan, before, stood = plans[int(key)], at[key], answer.result
        plan.refuse_another(stood, answer.origin)
        plan.kept.put(stood.packed)
        advance(stood.packed.t - (before.t if before else 0))
        at[key] = stood.packed
        if plan.left(stood.packed):
            orders.append(Planned(key, partial(plan.order, stood.packed)))
