"""False alarms: what an outlook and the pages of a service say where nothing is wrong.

Each function plays runs of a stream, or of a fleet, in which what would be said is untrue, and
counts those in which it was said: at any look, and as it is printed.
"""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from bocopt.app.service.compared import better
from bocopt.app.service.page.concerns import judged
from bocopt.app.service.stores import Configured, StreamSummary
from bocopt.app.service.stream_template import StreamTemplate, template_of
from bocopt.core import Array
from bocopt.guarantees import Comparison, Evidence, Outlook, Worsening
from bocopt.guarantees.certificate import Shadow, nan_is_no_news
from bocopt.guarantees.outlook import BlockAverages
from bocopt.policies import Constant
from bocopt.problems import Knapsack

AHEAD, BLOCKS = 20, 60  # of an outlook: stages a block, blocks a run
STREAMS, NAMES = 10_000, 20
SHOPS = 20  # of a fleet that is feasible as often as asked
_PROBLEM = Knapsack(value=[12], capacity=[8], salvage=[1], upper=8)  # alpha is .9
_SHADOW = "other"


Alarms = Callable[[float, int], "list[Counted]"]


class Counted(NamedTuple):
    """Of so many runs, or stages, how many had a false alarm, and how many may have."""

    adversary: str
    delta: float
    claim: str
    runs: int
    untrue: int
    allowed: float


# What an outlook says


def _exponential(rng: np.random.Generator) -> Array:
    return rng.exponential(size=AHEAD)


def _constant(rng: np.random.Generator) -> Array:
    return np.full(AHEAD, 3.3)


def _cancelling(rng: np.random.Generator) -> Array:
    """Ups and downs inside a block, larger than the differences of blocks."""
    half = np.where(np.arange(AHEAD) < AHEAD // 2, 1.0, -1.0)
    return np.asarray(0.2 * rng.normal() + rng.choice([-1.0, 1.0]) * half)


def _rare(rng: np.random.Generator) -> Array:
    """Blocks of which a hundredth are not 0."""
    return np.append(np.zeros(AHEAD - 1), float(rng.random() < 0.01))


_SAID = re.compile(
    r"decisions \(stages (\d+) to (\d+)\) is at most ([-\d.e+]+) .*"
    r"Costs between ([-\d.e+]+) and ([-\d.e+]+)\."
)


def outlook(draw: Callable[[np.random.Generator], Array], delta: float, seed: int) -> Array:
    """(2) whether the block that was spoken of lies outside, and whether there was an alarm."""
    rng, guarantee = np.random.default_rng(seed), Outlook(ahead=AHEAD, delta=delta, doubt=delta)
    costs = np.concatenate([draw(rng) for _ in range(BLOCKS + 2)])
    seen = AHEAD * BLOCKS - int(rng.integers(AHEAD))  # anywhere in a block
    state: BlockAverages = guarantee.init(())
    for cost in costs[:seen]:
        state = guarantee.step(state, Evidence(cost))
    said = guarantee.certificate(state).words()
    alarm = "no longer exchangeable" in said
    found = _SAID.search(said)
    if found is None:
        return np.array([False, alarm])
    first, last = int(found[1]), int(found[2])
    most, low, high = (float(found[i]) for i in (3, 4, 5))
    average = float(costs[first - 1 : last].mean())
    near = 5.001e-4 * max(abs(low), abs(high)) + 1e-12  # four digits are printed
    return np.array([not low - near <= average <= min(most, high) + near, alarm])


def outlooks(delta: float, runs: int) -> list[Counted]:
    runs, found = 8 * runs, []  # it is wrong about as often as it may be: more are needed to tell
    for draw in (_exponential, _constant, _cancelling, _rare):
        outside, alarms = np.sum([outlook(draw, delta, seed) for seed in range(runs)], axis=0)
        name = f"blocks: {draw.__name__.removeprefix('_')}"
        found.append(Counted(name, delta, "the next whole block", runs, int(outside), delta))
        found.append(Counted(name, delta, "no longer exchangeable", runs, int(alarms), delta))
    return found


# What the pages of a service say of shadows


def _stage(d: Array) -> Evidence:
    return Evidence(
        np.full(d.shape, 2.0), shadows=(Shadow(2.0 + d, *np.broadcast_arrays(-1.0, d * 0 + 1.0)),)
    )


def no_difference(rng: np.random.Generator, streams: int, stages: int, looks: int) -> list[Array]:
    """(streams) log e-values of shadows that are no better, nor worse, at each look."""
    guarantee, found = Comparison(), []
    state = guarantee.init((streams,))
    with nan_is_no_news():
        for t in range(1, stages + 1):
            state = guarantee.step(state, _stage(rng.choice([-1.0, 1.0], streams)))
            if t % (stages // looks) == 0:
                found.append(np.asarray(guarantee.log_evidence(state)))
    return found


def shop() -> StreamTemplate:
    shadows = {_SHADOW: Constant([2])}
    return template_of("shop", _PROBLEM, Constant([1]), shadows=shadows)


def _standing(stream: str, outcomes: int, feasibles: int, told: Any) -> StreamSummary:
    nothing = StreamSummary(stream, "shop", 0.0, 0, 0, 0.0, 0, None, 0, None, 0, 0.0, 0, None, "{}")
    return nothing._replace(
        decisions=outcomes,
        outcomes=outcomes,
        known=outcomes,
        feasibles=feasibles,
        told=json.dumps(told),
    )


def _configured(stream: str, generation: int, by: str) -> Configured:
    return Configured(stream, generation, by, 0, 0.0, json.dumps({"shadows": {_SHADOW: "digest"}}))


def said_of_fleet(
    kind: StreamTemplate, log_e: Iterable[float], generation: int = 1, delta: float = 0.05
) -> list[str]:
    """What the page of a fleet says that needs a person; each stream has one shadow."""
    standings, configured = [], []
    for i, each in enumerate(log_e):
        known = {"compared": {"by": kind.fold.by, "shadows": {_SHADOW: [float(each), 100, None]}}}
        standings.append((_standing(f"{i:05}", 100, 100, known), known))
        configured += [_configured(f"{i:05}", n, f"earlier {n}") for n in range(1, generation)]
        configured.append(_configured(f"{i:05}", generation, kind.fold.by))
    kinds = {"shop": kind}
    _, believed = better(standings, configured, kinds, delta)
    found = judged([each for each, _ in standings], kinds, {}, 0.0, believed, delta=delta)
    return [concern.words for each in found for concern in each.concerns]


def promotes(said: Sequence[str]) -> bool:
    return any("Better than what decides" in words for words in said)


def without_a_difference(delta: float, runs: int) -> list[Counted]:
    """Fleets of 10,000 streams; and one stream whose shadow has a new name every 60 stages."""
    rng, kind, fleets, names = np.random.default_rng(0), shop(), 0, 0
    runs = -(-runs // 4)
    for _ in range(runs):
        looks = no_difference(rng, STREAMS, 90, 3)
        fleets += any(promotes(said_of_fleet(kind, log_e, delta=delta)) for log_e in looks)
        names += any(
            promotes(said_of_fleet(kind, [log_e.item()], generation, delta))
            for generation in range(1, NAMES + 1)
            for log_e in no_difference(rng, 1, 60, 3)
        )
    return [
        Counted(
            f"{STREAMS:,} streams without a difference", delta, "Promote it?", runs, fleets, delta
        ),
        Counted(f"a shadow under {NAMES} names", delta, "Promote it?", runs, names, delta),
    ]


def worsening(delta: float, runs: int) -> list[Counted]:
    """Alarms a stage that a shadow costs more lately, where it never is expected to.

    How often these come is not for users to choose: the same, whatever delta is.
    """
    if delta != 0.05:
        return []
    rng, stages, watch = np.random.default_rng(1), 1000, Worsening()
    chances = {"no difference": 0.5, "better": 0.45}
    found = []
    for name, chance in chances.items():
        state, alarms, before = watch.init((runs,)), 0, np.full(runs, np.nan)
        with nan_is_no_news():
            for _ in range(stages):
                d = np.where(rng.random(runs) < chance, 1.0, -1.0)
                state = watch.step(state, _stage(d))
                at = watch.alarm(state)
                alarms += int((np.isfinite(at) & (at != before)).sum())
                before = at
        claim = "has cost more lately: alarms a stage"
        found.append(Counted(f"watch: {name}", delta, claim, runs * stages, alarms, watch.rate))
    return found


def feasible_as_asked(delta: float, runs: int) -> list[Counted]:
    """Fleets that are feasible as often as asked: whether a stream is ever said not to be."""
    rng, kind = np.random.default_rng(2), shop()
    alpha = kind.problem.risk.alpha
    assert alpha is not None
    told = sum(
        any(
            too_rarely(kind, t, met[:, t - 1].tolist(), delta)
            for met in [np.cumsum(rng.random((SHOPS, 500)) < alpha, axis=-1)]
            for t in (20, 50, 100, 200, 350, 500)
        )
        for _ in range(runs)
    )
    name = f"feasible in {100 * alpha:g}%, as asked"
    return [Counted(name, delta, "feasible too rarely", runs, told, delta)]


def too_rarely(
    kind: StreamTemplate, outcomes: int, met: Sequence[int], delta: float = 0.05
) -> bool:
    """Whether any stream is said to be; `met` has how often each was feasible."""
    standings = [_standing(f"{i:05}", outcomes, each, {}) for i, each in enumerate(met)]
    found = judged(standings, {"shop": kind}, {}, 0.0, delta=delta)
    return any("feasible too rarely" in said.words for each in found for said in each.concerns)


ALARMS: tuple[Alarms, ...] = (outlooks, without_a_difference, worsening, feasible_as_asked)
