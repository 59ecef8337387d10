"""A case of many series on its own data: all are played, and what they paid is summed up."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from types import MappingProxyType

import numpy as np

from bocopt import arguments
from bocopt.app.case import Case
from bocopt.app.features.series import Panel, Series
from bocopt.app.findings import Discoveries, Findings, PanelFindings, Played
from bocopt.app.panels.coupled import CoupledPlayer, parts_of_series
from bocopt.app.panels.elsewhere import play_elsewhere
from bocopt.app.panels.player import PanelPlayer, play_side_by_side
from bocopt.app.playing.discoveries import discoveries_of
from bocopt.app.playing.summed import compared_in_all
from bocopt.app.playing.verdict import compared
from bocopt.compared import NOW
from bocopt.core import Array, BoolArray, Status

NO_INFO: Mapping[str, Array] = MappingProxyType({})


def backtest_panel(
    case: Case,
    *,
    jobs: int = 1,
    executor: Executor | None = None,
    size: Callable[[], int] = lambda: 64,
    fresh: bool = False,
    keep_every: int = 200,
    keep_seconds: float = 5.0,
    begin: Callable[[str, int], None] = lambda name, stages: None,
    advance: Callable[[int], None] = lambda stages: None,
) -> PanelFindings:
    """Play every policy on each series that has not been played, and judge what all paid together.

    Each series is played as by an agent of its own for each policy, which knows that series alone;
    where a policy is given a model across series, that goes first through all times, and decisions
    see what it said before their outcomes. Agents are kept in the results of the case. So many
    `jobs` share the work, with the same results. So do the processes of an `executor`, which need
    neither our disk nor our table; `size` tells how many there are now. Series that share a program
    are decided together, a time after the other, by this process alone.
    """
    arguments.kind("backtest_panel", "case", case, Case)
    if case.panel is None:
        expected = "a case whose [data] say 'series': `backtest` plays one series"
        raise arguments.wrong("backtest_panel", "case", expected, case.name)
    if case.coupled:
        together = CoupledPlayer(case, keep_every, keep_seconds)
        if fresh:
            together.forget()
        begin("playing", case.stages_to_play)
        return _judged_together(case, case.panel, together.times, together.play(advance))
    played = PanelPlayer(case, keep_every, keep_seconds)
    if fresh:
        played.forget()
    begin("playing", case.stages_to_play)
    for name, one in played.passes.items():
        if name not in played.in_rows:
            expected = "whose states are rows, as it has a model across series"
            raise arguments.wrong("backtest_panel", name, expected, case.policies[name])
        one.play(advance)
    if executor is not None:
        play_elsewhere(played, executor, size, advance)
        advance = _nothing
    elif jobs > 1 and case.source is not None and played.is_long:
        play_side_by_side(played, jobs, advance)
        advance = _nothing
    each = [played.play(part, advance) for part in played.parts]
    found = _judged(case, case.panel, played.in_order(each))
    return found._replace(across=tuple(played.passes))


def _nothing(stages: int) -> None:
    pass


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


def _judged_together(
    case: Case, panel: Panel, times: Series, played: Mapping[str, Played]
) -> PanelFindings:
    """Return the findings on series that are decided together: a stage is a time."""
    now = NOW if NOW in played else None
    against = now or (list(played)[1] if len(played) > 1 else None)
    judged = (
        compared(
            case.problem,
            times,
            against,
            played,
            warm_up=panel.warm_up,
            scale=case.difference_scale,
            delta=case.delta,
        )
        if against
        else {}
    )
    totals = Findings(
        title=case.title,
        unit=case.unit,
        sense=case.problem.sense,
        alpha=case.problem.risk.alpha,
        series=times,
        warm_up=panel.warm_up,
        now=now,
        played=played,
        compared=judged,
        code=_code(case, panel),
        delta=case.delta,
    )
    each = tuple(parts_of_series(case, panel, played))
    return PanelFindings(totals, panel, each, _counts(panel, each), coupled=True)


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
    command = f"""# Decisions for new rows of all series, which stand in a table of their own:
#   bocopt decide today.csv --config {path} --case {case.name} --out decisions.csv
"""
    if case.coupled:
        return command
    if case.across(policy) is not None:
        return f"""{command}# Or from Python:
from bocopt.app import decide, open_case

case = open_case({path!r}, {case.name!r})
print(decide(case, case.read("today.csv"), {policy!r}).columns)
"""
    return f"""{command}# Or one series by itself:
from bocopt.app import open_case

case = open_case({path!r}, {case.name!r}).of_series({panel.names[0]!r})
agent = case.agent({policy!r})  # as it was after the last stage of the backtest
ticket = agent.decide(case.data.x[-1])
print(ticket.z)
"""
