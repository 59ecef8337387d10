"""A case on its own data: every policy decides at every stage, and is judged."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from bocopt.app.case import Case
from bocopt.app.findings import Findings, Played
from bocopt.app.playing.in_hindsight import KeptCosts, least_costs
from bocopt.app.playing.kept import Kept
from bocopt.app.playing.play import paid, play, shown_in_part
from bocopt.app.playing.verdict import compared
from bocopt.compared import NOW
from bocopt.live import Agent


def backtest(
    case: Case,
    *,
    fresh: bool = False,
    keep_every: int = 200,
    keep_seconds: float = 5.0,
    begin: Callable[[str, int], None] = lambda name, stages: None,
    advance: Callable[[int], None] = lambda stages: None,
) -> tuple[Findings, dict[str, Agent[Any]]]:
    """Play what has not been played, and judge it.

    What is played is kept every so many stages, and where these are slow every so many seconds.
    `begin` hears who plays next, and at how many stages; `advance` hears how many are played.
    """
    series, problem = case.data, case.problem
    if fresh:
        forget(case)
    kept = partial(case.kept, every=keep_every, seconds=keep_seconds)
    found, agents = play_all(case, kept, case.kept_costs, begin, advance)
    now = NOW if NOW in found else None
    against = now or (list(found)[1] if len(found) > 1 else None)
    judged = (
        compared(
            problem,
            series,
            against,
            found,
            warm_up=series.warm_up,
            scale=case.difference_scale,
            delta=case.delta,
        )
        if against
        else {}
    )
    findings = Findings(
        title=case.title,
        unit=case.unit,
        sense=problem.sense,
        alpha=problem.risk.alpha,
        series=series,
        warm_up=series.warm_up,
        now=now,
        played=found,
        compared=judged,
        code=_code(case),
        delta=case.delta,
    )
    return findings, {name: agent for name, agent in agents.items() if name in case.policies}


def play_all(
    case: Case,
    kept: Callable[[str], Kept],
    costs: KeptCosts,
    begin: Callable[[str, int], None] = lambda name, stages: None,
    advance: Callable[[int], None] = lambda stages: None,
) -> tuple[dict[str, Played], dict[str, Agent[Any]]]:
    """Play what has not been played: what was decided and paid, and the agents, by policy.

    kept        where the progress of each is kept, by its name
    costs       where the least costs in hindsight are
    """
    series, problem = case.data, case.problem
    across = [name for name in case.everyone if case.across(name) is not None]
    if across:
        raise ValueError(
            f"'{across[0]}' has a model across series, and this is one of them: play all, by "
            "`backtest_panel`."
        )
    found: dict[str, Played] = {}
    agents: dict[str, Agent[Any]] = {}
    least = least_costs(problem, series, costs)
    if series.now is not None:
        found[NOW] = shown_in_part(problem, series, paid(problem, series, series.now, least))
    for name, policy in case.everyone.items():
        begin(name, len(series.x))
        found[name], agents[name] = play(
            policy,
            problem,
            series,
            least=least,
            seed=case.seed,
            monitor=partial(case.monitor, name),
            unit=case.unit,
            kept=kept(name),
            advance=advance,
        )
    return found, agents


def forget(case: Case) -> None:
    """Remove whatever was played of a case, so that it is played again."""
    case.kept_costs.forget()
    for name in case.everyone:
        case.kept(name, 1).forget()


def _code(case: Case) -> str:
    """Return the code that goes on with the first policy; empty where no file names the data."""
    if case.source is None or case.source.data is None:
        return ""
    name, outcomes = next(iter(case.policies)), ", ".join(case.data.xi_names)
    opened = f"open_case({case.source.part.file.path.name!r}, {case.name!r})"
    return f"""from bocopt.app import open_case

# Add today's row to {Path(case.source.data_name).name}, and leave its outcomes empty.
case = {opened}
agent = case.agent({name!r})  # as it was after the last stage of the backtest
ticket = agent.decide(case.data.x[-1])
print(ticket.z)

# Once the outcomes are known: {outcomes}.
agent.observe(ticket.id, [...])
agent.save("agent.bin")
# The next time: agent = case.agent({name!r}, "agent.bin")
"""
