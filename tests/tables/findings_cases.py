"""Findings like those of real studies: a newsvendor who sells several products each day."""

import datetime
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from bocopt.app.features.series import Series
from bocopt.app.findings import Findings, Played
from bocopt.compared import Compared, Pair, compared_of, declared
from bocopt.core import Array, IntArray, Sense, Status
from bocopt.guarantees import Evidence
from bocopt.guarantees.certificate import Shadow
from bocopt.guarantees.ratios import BoundedSeries

OVER, UNDER = 1.0, 3.0  # what a unit too much costs, and one too few
CODE = """from bocopt import Agent
from problem import policy, problem

agent = Agent.load("study.agent", policy, problem=problem)
print(agent.decide(x))  # x: the context of today
"""


@dataclass(frozen=True)
class Case:
    """What findings are made of."""

    stages: int = 150
    outcomes: int = 1
    warm_up: int = 30
    now: str | None = "now"
    info: bool = True
    missing: int = 0  # outcomes that never came
    alpha: float | None = None
    edge: float = 1.0  # how much better the ensemble forecasts than the rule of today
    delay: int = 0
    sense: Sense = Sense.MINIMISE
    ranged: bool = True  # whether a confidence sequence is there
    names: Callable[[str], str] = str  # what a text of the user's is replaced by
    laws: int = 9

    def findings(self) -> Findings:
        return _findings(self)


CASES = {
    "newsvendor": Case(stages=400, alpha=0.9, outcomes=2),
    "no now": Case(now=None),
    "one outcome": Case(),
    "five outcomes": Case(outcomes=5, stages=120),
    "no info": Case(info=False),
    "three stages": Case(stages=3, warm_up=0),
    "one stage": Case(stages=1, warm_up=0),
    "all warm-up": Case(stages=20, warm_up=20),
    "missing outcomes": Case(stages=400, missing=40, delay=3),
    "no outcomes": Case(stages=20, warm_up=0, missing=20),
    "infeasible": Case(stages=300, alpha=0.99, edge=-5.0),
    "worse": Case(stages=400, edge=-20.0, info=False),
    "rewards": Case(stages=400, sense=Sense.MAXIMISE, alpha=0.75),
    "open": Case(stages=80, edge=0.05),
    "no range": Case(ranged=False),
    "long": Case(stages=1000, info=False),
}


@cache
def _findings(case: Case) -> Findings:
    rng = np.random.default_rng(17)
    t, m = np.arange(case.stages), case.outcomes
    level = 60.0 + 15.0 * np.sin(2 * np.pi * t[:, None] / 7 + np.arange(m))
    xi = np.maximum(level + rng.normal(0.0, 6.0, (case.stages, m)), 0.0)
    lost = rng.choice(case.stages, min(case.missing, case.stages), replace=False)
    xi[lost] = np.nan
    noise = rng.normal(0.0, 1.0, (4, case.stages, m))
    buffer = 4.0
    orders = {
        "ensemble": level + buffer + (1.5 - case.edge) * noise[0],
        "average": np.full_like(level, 64.0) + noise[1],
        "mean prediction": level + 2.0 * noise[2],
    }
    if case.now is not None:
        orders[case.now] = level + buffer + 5.0 * noise[3]
    series = _series(case, xi, level, orders.get(case.now or ""))
    played = {case.names(p): _played(case, p, z, xi, rng) for p, z in orders.items()}
    now = None if case.now is None else case.names(case.now)
    counted = np.flatnonzero(np.isfinite(xi).all(axis=1) & (t >= case.warm_up))
    others = [p for p in played if p != now]
    compared = (
        {p: _compared(case, p, played[p], played[now], counted, len(others)) for p in others}
        if now is not None and counted.size
        else {}
    )
    return Findings(
        title=case.names("Bread of one shop"),
        unit=case.names("EUR"),
        sense=case.sense,
        alpha=case.alpha,
        series=series,
        warm_up=case.warm_up,
        now=now,
        played=played,
        compared=compared,
        code=CODE,
    )


def _series(case: Case, xi: Array, level: Array, now: Array | None) -> Series:
    first = datetime.date(2023, 1, 1)
    t = np.arange(case.stages)
    arrives = np.minimum(t + 1 + case.delay, case.stages)
    arrives[np.isnan(xi).any(axis=1)] = case.stages
    notes = (
        "Rows were not in order: sorted by 'day'.",
        "2 days are missing, the first 2023-03-01.",
    )
    return Series(
        time=tuple(str(first + datetime.timedelta(int(day))) for day in t),
        x=level,
        x_names=tuple(case.names(f"level {i}") for i in range(case.outcomes)),
        xi=xi,
        xi_names=tuple(case.names(f"demand {i}") for i in range(case.outcomes)),
        arrives=arrives,
        now=now,
        lines=t + 2,
        notes=tuple(map(case.names, notes)),
    )


def _played(case: Case, policy: str, z: Array, xi: Array, rng: np.random.Generator) -> Played:
    short, left = np.maximum(xi - z, 0.0), np.maximum(z - xi, 0.0)
    cost = (xi + OVER * left + UNDER * short).sum(axis=1)
    least = xi.sum(axis=1)
    if case.sense is Sense.MAXIMISE:
        cost, least = cost - 5.0 * xi.sum(axis=1), least - 5.0 * xi.sum(axis=1)
    feasible = np.where(np.isnan(cost), np.nan, (short.max(axis=1) <= 8.0).astype(float))
    if case.alpha is None:
        feasible = np.where(np.isnan(cost), np.nan, 1.0)
    status = np.full(case.stages, Status.GIVEN if policy == case.now else Status.OPTIMAL)
    if policy == "average":
        status[: case.stages // 10] = Status.LIMIT
    shows = case.info and policy == "ensemble"
    return Played(
        z=z,
        cost=cost,
        feasible=feasible,
        hindsight=least,
        status=status.astype(np.int64),
        info=_info(case, rng) if shows else {},
        said=(case.names("The cost is at most 80 a stage."),) if shows else (),
    )


def _info(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """As an `Ensemble` shows it; its laws are a little too sure of themselves."""
    steps = rng.normal(0.0, 0.15, (case.stages, case.laws)).cumsum(axis=0)
    laws = np.exp(steps) / np.exp(steps).sum(axis=1, keepdims=True)
    model = 1.0 - 0.1 * np.exp(-np.arange(case.stages) / 60.0)
    probability = rng.beta(0.8, 0.8, (case.stages, case.outcomes))
    probability[0] = np.nan  # there is no prediction before the first outcome
    return {
        "arm_weights": np.stack([model, 1.0 - model], axis=1),
        "chosen": np.zeros(case.stages),
        "weights": laws,
        "probability": probability,
    }


def _compared(
    case: Case, name: str, policy: Played, today: Played, counted: IntArray, many: int
) -> Compared:
    [one] = declared([name], 200.0, 0.05 / many)
    state = one.init(())
    paid, least = today.cost[counted], np.abs(policy.z - today.z).sum(axis=1)[counted]
    wide = UNDER * least if case.ranged else np.full(len(least), np.inf)
    others = policy.cost[counted]
    for own, other, width in zip(paid, others, wide, strict=True):
        shadow = Shadow(np.array(other), np.array(-width), np.array(width))
        with np.errstate(invalid="ignore"):
            state = one.step(state, Evidence(np.array(own), shadows=(shadow,)))
    high = np.full(len(paid), 400.0 * case.outcomes if case.ranged else np.inf)
    low = np.zeros(len(paid)) if case.sense is Sense.MINIMISE else -high
    met = np.stack([today.feasible[counted], policy.feasible[counted]], axis=-1)
    pair = Pair(BoundedSeries(paid, low, high), BoundedSeries(others - paid, -wide, wide), met)
    return compared_of(one, state, pair, case.sense, at=counted)


def hostile(case: Case, text: str) -> Case:
    """The same with a text in every place where a user has one."""
    return replace(case, names=lambda words: f"{text}{words}")
