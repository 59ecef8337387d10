"""A case of many series on its own data: all are played, and what they paid is summed up."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from functools import cache
from pathlib import Path
from types import MappingProxyType

import numpy as np

from bocopt import arguments
from bocopt.app.case import Case
from bocopt.app.features.series import Panel, Series
from bocopt.app.findings import Discoveries, Findings, PanelFindings, Played
from bocopt.app.opening import open_case
from bocopt.app.panels.one import Player
from bocopt.app.playing.discoveries import discoveries_of
from bocopt.app.playing.summed import compared_in_all
from bocopt.compared import NOW
from bocopt.core import Array, BoolArray, Status
from bocopt.processes import processes

NO_INFO: Mapping[str, Array] = MappingProxyType({})
_LOOK = 0.5  # seconds between two looks at how far they are
_SHORT = 2000  # stages, that one process plays sooner than several begin


def backtest_panel(
    case: Case,
    *,
    jobs: int = 1,
    fresh: bool = False,
    keep_every: int = 200,
    keep_seconds: float = 5.0,
    begin: Callable[[str, int], None] = lambda name, stages: None,
    advance: Callable[[int], None] = lambda stages: None,
) -> PanelFindings:
    """Play every policy on each series that has not been played, and judge what all paid together.

    Each series has an agent of its own for each policy, which knows that series alone; agents are
    kept in the results of the case. Series are played by so many `jobs`, with the same results.
    """
    arguments.kind("backtest_panel", "case", case, Case)
    if case.panel is None:
        expected = "a case whose [data] say 'series': `backtest` plays one series"
        raise arguments.wrong("backtest_panel", "case", expected, case.name)
    player = Player(case, keep_every, keep_seconds)
    if fresh:
        for name in case.panel.names:
            player.forget(name)
    begin("playing", case.stages_to_play)
    if jobs > 1 and case.source is not None and case.stages_to_play > _SHORT:
        _play_side_by_side(player, jobs, advance)
        each = [player.play(name) for name in case.panel.names]
    else:
        each = [player.play(name, advance) for name in case.panel.names]
    return _judged(case, case.panel, each)


def _play_side_by_side(player: Player, jobs: int, advance: Callable[[int], None]) -> None:
    """Play in other processes: what is played is kept, and is there for this one."""
    case, panel = player.case, player.panel
    assert case.source is not None
    path, names = case.source.part.file.path, panel.names
    stages = {name: len(one.x) for name, one in zip(names, panel.series, strict=True)}
    slowest = sorted(names, key=lambda name: -stages[name])  # the longest begin
    with processes(min(jobs, len(names))) as executor:
        waiting: dict[Future[None], str] = {
            executor.submit(
                _play,
                path,
                case.name,
                name,
                case.of_series(name).digest,
                player.keep_every,
                player.keep_seconds,
            ): name
            for name in slowest
        }
        far = dict.fromkeys(names, 0)
        while waiting:
            over, _ = wait(waiting, timeout=_LOOK, return_when=FIRST_COMPLETED)
            for future, name in waiting.items():
                now = far[name]
                if future in over:
                    future.result()
                    now = stages[name] * len(case.everyone)
                elif future.running():
                    now = max(now, player.far(name))
                advance(now - far[name])
                far[name] = now
            waiting = {future: name for future, name in waiting.items() if future not in over}


def _play(
    path: Path, of: str, name: str, digest: str, keep_every: int, keep_seconds: float
) -> None:
    """Play a series, in a worker."""
    player = _player(path, of, keep_every, keep_seconds)
    if name not in player.panel.names or player.case.of_series(name).digest != digest:
        raise ValueError(f"{path}, or a file that it names, has changed. Run the command again.")
    player.play(name)


@cache
def _player(path: Path, of: str, keep_every: int, keep_seconds: float) -> Player:
    """Return the player of all tasks of a worker, which reads the table once."""
    return Player(open_case(path, of), keep_every, keep_seconds)


def _judged(case: Case, panel: Panel, each: Sequence[Mapping[str, Played]]) -> PanelFindings:
    names = list(each[0])
    now = NOW if NOW in names else None
    against = now or (names[1] if len(names) > 1 else None)
    compared = {}
    if against is not None:
        compared = compared_in_all(
            case.problem,
            panel,
            against,
            each,
            scale=case.difference_scale,
            delta=case.delta,
        )
    counts = _counts(panel, each)
    totals = Findings(
        title=case.title,
        unit=case.unit,
        sense=case.problem.sense,
        alpha=case.problem.risk.alpha,
        series=_times(panel),
        warm_up=panel.warm_up,
        now=now,
        played={name: _total(panel, [played[name] for played in each], counts) for name in names},
        compared=compared,
        code=_code(case, panel),
        delta=case.delta,
    )
    return PanelFindings(
        totals, panel, tuple(each), counts, _discovered(case, panel, each, against)
    )


def _discovered(
    case: Case, panel: Panel, each: Sequence[Mapping[str, Played]], against: str | None
) -> Discoveries | None:
    """Return the series in which the first policy is better or worse, where it has a reference."""
    first = next(iter(case.policies))
    if against is None:
        return None
    return discoveries_of(case.problem, panel, against, first, each, delta=case.delta)


def _counts(panel: Panel, each: Sequence[Mapping[str, Played]]) -> tuple[BoolArray, ...]:
    """Return masks (T) of each series: after the warm-up, where all with any cost have one."""
    costly = [
        name for name in each[0] if any(np.isfinite(played[name].cost).any() for played in each)
    ]
    found = []
    for series, played in zip(panel.series, each, strict=True):
        counted = np.arange(len(series.x)) >= series.warm_up
        for name in costly:
            counted &= np.isfinite(played[name].cost)
        found.append(counted)
    return tuple(found)


def _total(panel: Panel, each: Sequence[Played], counts: Sequence[BoolArray]) -> Played:
    """Return sums over the series that count at each time; NaN where none does."""
    many = len(panel.time)
    decided, cost, feasible, hindsight = np.zeros((4, many))
    for at, played, counted in zip(panel.at, each, counts, strict=True):
        times = at[counted]
        decided[times] += 1.0
        cost[times] += played.cost[counted]
        feasible[times] += played.feasible[counted]
        hindsight[times] += played.hindsight[counted]
    none = decided == 0
    return Played(
        z=np.zeros((many, 0)),
        cost=np.where(none, np.nan, cost),
        feasible=np.where(none, np.nan, feasible / np.maximum(decided, 1.0)),
        hindsight=np.where(none, np.nan, hindsight),
        status=np.full(many, int(Status.GIVEN)),
        info=NO_INFO,
        said=(),
    )


def _times(panel: Panel) -> Series:
    """Return the times of a panel, as the stages of its sums."""
    many = len(panel.time)
    return Series(
        time=panel.time,
        x=np.zeros((many, 0)),
        x_names=(),
        xi=np.zeros((many, 0)),
        xi_names=(),
        arrives=np.arange(1, many + 1),
        now=None,
        lines=np.arange(1, many + 1),
        notes=panel.notes,
        warm_up=panel.warm_up,
    )


def _code(case: Case, panel: Panel) -> str:
    """Return the code and commands by which to go on."""
    if case.source is None or case.source.data is None:
        return ""
    path, policy = case.source.part.file.path.name, next(iter(case.policies))
    return f"""# Decisions for new rows of all series, which stand in a table of their own:
#   bocopt decide today.csv --config {path} --case {case.name} --out decisions.csv
# Or one series by itself:
from bocopt.app import open_case

case = open_case({path!r}, {case.name!r}).of_series({panel.names[0]!r})
agent = case.agent({policy!r})  # as it was after the last stage of the backtest
ticket = agent.decide(case.data.x[-1])
print(ticket.z)
"""
