"""All that is to be played of a panel: blocks in lock step, and series one by one."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from pathlib import Path

from bocopt.app.case import Case
from bocopt.app.features.series import Panel
from bocopt.app.findings import Played
from bocopt.app.opening import open_case
from bocopt.app.panels.across_pass import AcrossPass
from bocopt.app.panels.blocks import Block, rows_of_block, stages_of_blocks
from bocopt.app.panels.one import Player
from bocopt.compared import NOW
from bocopt.processes import processes

_LOOK = 0.5  # seconds between two looks at how far they are
_SHORT = 2000  # stages, that one process plays sooner than several begin
_SHORT_IN_ROWS = 200_000  # likewise, in lock step

Part = int | str  # the number of a block, or the name of a series
Found = Sequence[Mapping[str, Played]]


@dataclass(frozen=True)
class PanelPlayer:
    """Player of a case of many series, in parts that do not know of each other.

    Policies that can are played in lock step, block by block; the others series by series.
    """

    case: Case
    keep_every: int = 200
    keep_seconds: float = 5.0

    @property
    def panel(self) -> Panel:
        """Return the panel of the case, which must have one."""
        assert self.case.panel is not None
        return self.case.panel

    @cached_property
    def blocks(self) -> list[int]:
        """Return the number of decisions of each block of its series."""
        return stages_of_blocks(self.panel)

    def block(self, number: int) -> Block:
        """Return a block, which copies its part of the table as long as it is in use."""
        make = partial(rows_of_block, self.panel, number)
        return Block(self.case, number, make, self.passes, self.keep_every, self.keep_seconds)

    @cached_property
    def passes(self) -> Mapping[str, AcrossPass]:
        """Return the passes of models across series, by the policy that is given them."""
        return {
            name: AcrossPass(self.case, name, self.keep_every, self.keep_seconds)
            for name in self.case.everyone
            if self.case.across(name) is not None
        }

    @cached_property
    def in_rows(self) -> list[str]:
        """Return the policies that are played in lock step: where outcomes are seen in full."""
        if self.panel.featuriser.spec.censored:
            return []
        first = self.block(0)
        return [name for name in self.case.everyone if first.plays(name)]

    @property
    def one_by_one(self) -> list[str]:
        """Return the policies that are played series by series."""
        return [name for name in self.case.everyone if name not in self.in_rows]

    @cached_property
    def alone(self) -> Player | None:
        """Return the player of the others; None where there are none."""
        case = self.case
        others = {name: case.everyone[name] for name in self.one_by_one}
        if not others:
            return None
        return Player(replace(case, policies=others, now=None), self.keep_every, self.keep_seconds)

    @property
    def parts(self) -> list[Part]:
        """Return the parts that can be played side by side."""
        names = list(self.panel.names) if self.alone else []
        return [*range(len(self.blocks)), *names]

    @property
    def is_long(self) -> bool:
        """Return whether it takes longer than to start processes and to read the table again."""
        stages = self.panel.stages
        one_by_one = len(self.case.everyone) - len(self.in_rows)
        return stages * one_by_one > _SHORT or stages * len(self.in_rows) > _SHORT_IN_ROWS

    def play(self, part: Part, advance: Callable[[int], None] = lambda stages: None) -> Found:
        """Play a part from where it stopped; one that is whole is not played again."""
        if isinstance(part, int):
            return self.block(part).play(self.in_rows, advance)
        assert self.alone is not None
        return [self.alone.play(part, advance)]

    def in_order(self, found: Sequence[Found]) -> list[Mapping[str, Played]]:
        """Return what was played of each series, by policy, from what was found of each part."""
        many = len(self.blocks)
        each = [dict(one) for part in found[:many] for one in part]
        for own, [other] in zip(each, found[many:], strict=False):
            own |= other
        order = [name for name in (NOW, *self.case.policies) if name in each[0]]
        return [{name: one[name] for name in order} for one in each]

    def digest(self, part: Part) -> str:
        """Return a digest of all that the results of a part depend on."""
        if isinstance(part, int):
            return self.block(part).digests(self.in_rows)
        assert self.alone is not None
        return self.alone.case.of_series(part).digest

    def is_played(self, part: Part) -> bool:
        """Return whether all results of a part are kept."""
        if isinstance(part, int):
            return self.block(part).is_played(self.in_rows)
        assert self.alone is not None
        return self.alone.is_played(part)

    def stages(self, part: Part) -> int:
        """Return the number of stages of a part, of all policies that play it."""
        if isinstance(part, int):
            return self.blocks[part] * len(self.in_rows)
        assert self.alone is not None
        return self.alone.case.of_series(part).stages_to_play

    def far(self, part: Part) -> int:
        """Count the stages that are kept of a part that is not whole."""
        if isinstance(part, int):
            return self.blocks[part] * self.block(part).whole(self.in_rows)
        return 0 if self.alone is None else self.alone.far(part)

    def forget(self) -> None:
        """Delete all that is kept, so that it is played again."""
        for one in self.passes.values():
            one.forget()
        for number in range(len(self.blocks)):
            self.block(number).forget(self.in_rows)
        if self.alone is not None:
            for name in self.alone.panel.names:
                self.alone.forget(name)


def play_side_by_side(player: PanelPlayer, jobs: int, advance: Callable[[int], None]) -> None:
    """Play in other processes: what is played is kept, and is there for this one."""
    case = player.case
    assert case.source is not None
    path, far = case.source.part.file.path, dict.fromkeys(player.parts, 0)
    longest = sorted(player.parts, key=lambda part: -player.stages(part))  # these begin
    with processes(min(jobs, len(longest))) as executor:
        waiting: dict[Future[None], Part] = {
            executor.submit(
                _play,
                path,
                case.name,
                part,
                player.digest(part),
                player.keep_every,
                player.keep_seconds,
            ): part
            for part in longest
        }
        while waiting:
            over, _ = wait(waiting, timeout=_LOOK, return_when=FIRST_COMPLETED)
            for future, part in waiting.items():
                now = far[part]
                if future in over:
                    future.result()
                    now = player.stages(part)
                elif future.running():
                    now = max(now, player.far(part))
                advance(now - far[part])
                far[part] = now
            waiting = {future: part for future, part in waiting.items() if future not in over}


def _play(
    path: Path, of: str, part: Part, digest: str, keep_every: int, keep_seconds: float
) -> None:
    """Play a part, in a worker."""
    player = _player(path, of, keep_every, keep_seconds)
    known = part in player.parts
    if not known or player.digest(part) != digest:
        raise ValueError(f"{path}, or a file that it names, has changed. Run the command again.")
    player.play(part)


@cache
def _player(path: Path, of: str, keep_every: int, keep_seconds: float) -> PanelPlayer:
    """Return the player of all parts of a worker, which reads the table once."""
    return PanelPlayer(open_case(path, of), keep_every, keep_seconds)
