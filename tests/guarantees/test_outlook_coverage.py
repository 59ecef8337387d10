"""How often the outlook is wrong at its own words, on streams made to break it."""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.stats import binomtest

from bocopt.core import Array, BoolArray
from bocopt.guarantees import Evidence, Outlook
from bocopt.guarantees.outlook import BlockAverages

Draw = Callable[[np.random.Generator, int, int], Array]  # of the costs (ahead, runs) of a block


def exponential(rng: np.random.Generator, ahead: int, runs: int) -> Array:
    return rng.exponential(size=(ahead, runs))


def coins(rng: np.random.Generator, ahead: int, runs: int) -> Array:
    return (rng.random((ahead, runs)) < 0.1).astype(float)


def cancelling(rng: np.random.Generator, ahead: int, runs: int) -> Array:
    """Ups and downs that are larger than the differences of blocks, and cancel inside each."""
    half = np.where(np.arange(ahead) < ahead // 2, 1.0, -1.0)[:, None]
    costs: Array = 0.2 * rng.normal(size=runs) + rng.choice([-1.0, 1.0], size=runs) * half
    return costs


def rare(share: float) -> Draw:
    """Blocks of which so many are not 0."""

    def draw(rng: np.random.Generator, ahead: int, runs: int) -> Array:
        costs = np.zeros((ahead, runs))
        costs[-1] = rng.random(runs) < share
        return costs

    return draw


DRAWS: dict[str, Draw] = {
    "exponential": exponential,
    "coins": coins,
    "cancelling": cancelling,
    "rare": rare(0.2),
}


def folded(outlook: Outlook, state: BlockAverages, costs: Array) -> BlockAverages:
    for cost in costs:
        state = outlook.step(state, Evidence(cost))
    return state


class Often(NamedTuple):
    """How often something happened, and the ends of its 95% Clopper-Pearson interval."""

    share: float
    low: float
    high: float


def often(happened: BoolArray) -> Often:
    found = binomtest(int(happened.sum()), happened.size)
    return Often(found.statistic, *found.proportion_ci(0.95))


def missed(outlook: Outlook, draw: Draw, runs: int, begun: int) -> BoolArray:
    """(runs that have it) whether what it speaks of lies outside, `begun` stages into a block."""
    rng, ahead = np.random.default_rng(11), outlook.ahead
    past, then = (np.concatenate([draw(rng, ahead, runs) for _ in range(n)]) for n in (60, 3))
    costs = np.concatenate([past, then])
    state = folded(outlook, outlook.init((runs,)), costs[: len(past) + begun])
    found, (low, high) = outlook.certificate(state), outlook.interval(state)
    said = re.fullmatch(
        r"average cost of the next whole block of (\d+) decisions \(stages (\d+) to (\d+)\)",
        found.risk,
    )
    assert said, found.risk
    many, first, last = map(int, said.groups())
    assert (many, first > len(past) + begun) == (last - first + 1, True)
    average = np.add.reduce(costs[first - 1 : last]) / many  # as it sums: ties are ties
    assert found.bound == pytest.approx(high, nan_ok=True)
    return np.asarray((average < low) | (average > high))[found.applicable]


@pytest.mark.parametrize("begun", [0, 10, 19])
@pytest.mark.parametrize("delta", [0.1, 0.2])
@pytest.mark.parametrize("draw", list(DRAWS))
def test_the_block_it_speaks_of_is_as_it_says(draw: str, delta: float, begun: int) -> None:
    wrong = missed(Outlook(delta=delta), DRAWS[draw], 300, begun)
    assert wrong.size > 270
    assert often(wrong).low <= delta


@pytest.mark.full
@pytest.mark.parametrize("begun", [0, 10, 19])
@pytest.mark.parametrize("delta", [0.1, 0.2])
@pytest.mark.parametrize("draw", list(DRAWS))
def test_it_is_so_in_many_runs(draw: str, delta: float, begun: int) -> None:
    found = often(missed(Outlook(delta=delta), DRAWS[draw], 4000, begun))
    assert found.low <= delta
    assert found.high <= 1.3 * delta


def first_alarms(outlook: Outlook, draw: Draw, runs: int, blocks: int) -> Array:
    """(runs) the block after which it was first refuted; infinite where it never was."""
    rng = np.random.default_rng(12)
    state, found = outlook.init((runs,)), np.full(runs, np.inf)
    for block in range(blocks):
        state = folded(outlook, state, draw(rng, outlook.ahead, runs))
        found = np.where((state.refuted > 0) & np.isinf(found), block, found)
    return found


ALIKE: list[tuple[Draw, dict[str, Any]]] = [
    *((rare(share), {"ahead": n}) for share in (0.01, 0.2) for n in (97, 70, 98, 20)),
    *((exponential, {"ahead": 1, "window": n, "delta": 0.2}) for n in (9, 19, 100)),
    *((draw, {"ahead": 20}) for draw in (coins, cancelling)),
]


@pytest.mark.parametrize("doubt", [0.05, 0.2])
@pytest.mark.parametrize(("draw", "settings"), ALIKE)
def test_it_is_seldom_refuted_where_blocks_are_alike(
    draw: Draw, settings: dict[str, Any], doubt: float
) -> None:
    alarms = np.isfinite(first_alarms(Outlook(**settings, doubt=doubt), draw, 200, 60))
    assert often(alarms).low <= doubt


@pytest.mark.full
@pytest.mark.parametrize("doubt", [0.05, 0.2])
@pytest.mark.parametrize(("draw", "settings"), ALIKE)
def test_it_is_seldom_refuted_in_many_runs(
    draw: Draw, settings: dict[str, Any], doubt: float
) -> None:
    found = often(np.isfinite(first_alarms(Outlook(**settings, doubt=doubt), draw, 2000, 250)))
    assert found.share <= doubt
    assert found.high <= 1.3 * doubt


def constant_is_refuted(ahead: int, blocks: int) -> bool:
    costs = np.array([0.0, 0.1, -3.0, 1e9])
    outlook = Outlook(ahead=ahead, doubt=0.2)
    state = folded(outlook, outlook.init((4,)), np.tile(costs, (ahead * blocks, 1)))
    return bool((state.refuted > 0).any())


@pytest.mark.parametrize("ahead", [20, 70, 97, 98, 196])
def test_costs_that_never_change_are_never_refuted(ahead: int) -> None:
    assert not constant_is_refuted(ahead, 50)


@pytest.mark.full
def test_costs_that_never_change_are_never_refuted_whatever_the_block() -> None:
    assert not [ahead for ahead in range(1, 201) if constant_is_refuted(ahead, 45)]


def test_alarms_of_a_fleet_do_not_coincide() -> None:
    """Where nothing happened to all of them at once."""
    alarms = first_alarms(Outlook(ahead=97), rare(0.01), 300, 60)
    assert often(np.isfinite(alarms)).low <= 0.05
    alarms = first_alarms(Outlook(ahead=1, window=9, delta=0.2, doubt=0.2), exponential, 1000, 100)
    _, together = np.unique(alarms[np.isfinite(alarms)], return_counts=True)
    assert together.sum() > 40
    assert together.max() < 0.25 * together.sum()
