"""A case on its own data: every policy decides at every stage, and is judged."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from bocopt.app.case import Case
from bocopt.app.findings import Findings, Played
from bocopt.app.playing.in_hindsight import least_costs
from bocopt.app.playing.play import paid, play
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
    found: dict[str, Played] = {}
    agents: dict[str, Agent[Any]] = {}
    if fresh:
        case.kept_costs.forget()
    least = least_costs(problem, series, case.kept_costs)
    if series.now is not None:
        found[NOW] = paid(problem, series, series.now, least)
    for name, policy in case.everyone.items():
        kept = case.kept(name, keep_every, keep_seconds)
        if fresh:
            kept.forget()
        begin(name, len(series.x))
        found[name], agents[name] = play(
            policy, problem, series, least=least, seed=case.seed, kept=kept, advance=advance
        )
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
    )
    return findings, {name: agent for name, agent in agents.items() if name in case.policies}


def _code(case: Case) -> str:
    """How to go on with the first policy."""
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
# The next time: Agent.load("agent.bin", case.policies[{name!r}], problem=case.problem)
"""
