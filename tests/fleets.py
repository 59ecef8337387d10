"""Streams that are played one by one, for comparison with others that are played together."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
from registry import KNAPSACK, STREAM

from bocopt.bounds import exactly
from bocopt.core import Array
from bocopt.live.fold import Decided, Fold, Forgotten, Observed, watching
from bocopt.live.record import Live, compact
from bocopt.live.stacked import StackedFold
from bocopt.loop import Stage
from bocopt.state import flatten

LATE = (0, 2, 4)  # streams that learn the outcome before the latest first


def same(one: Any, other: Any) -> bool:
    """All leaves, by name, shape, kind and bits; but for the spare room of histories."""
    left, right = (flatten(compact(tree)) for tree in (one, other))
    return left.keys() == right.keys() and all(
        a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()
        for a, b in zip(left.values(), right.values(), strict=True)
    )


def assert_same_live(one: Live, other: Live) -> None:
    assert same(one.state, other.state)
    assert same(one.watched or (), other.watched or ())
    assert one.open.keys() == other.open.keys()
    assert all(same(waiting, other.open[number]) for number, waiting in one.open.items())
    assert (one.t, one.learned, one.width) == (other.t, other.learned, other.width)


def assert_same_stage(one: Stage, other: Stage) -> None:
    assert one.t == other.t
    assert one.info.keys() == other.info.keys()
    assert same(tuple(one[1:8]), tuple(other[1:8]))
    assert same(tuple(one.info.values()), tuple(other.info.values()))
    assert same(one.reports, other.reports)


@cache
def pairs_of(seed: int) -> list[tuple[Array, Array]]:
    return list(islice(STREAM.stages(np.array(seed)), 80))


@dataclass
class Fleet:
    """Streams that are played one by one."""

    fold: Fold[Any]
    lives: list[Live]

    def contexts(self) -> list[Array]:
        return [pairs_of(i)[live.t][0] for i, live in enumerate(self.lives)]

    def decide(self) -> list[Decided]:
        events = [self.fold.decide(*pair) for pair in zip(self.lives, self.contexts(), strict=True)]
        self.apply(events)
        return events

    def apply(self, events: Sequence[Any]) -> list[Any]:
        found = [self.fold.apply(*pair) for pair in zip(self.lives, events, strict=True)]
        self.lives = [live for live, _ in found]
        return [stage for _, stage in found]

    def outcomes(self) -> list[Observed]:
        """Of the oldest decision that is open, or of the latest."""
        ends = [min if i in LATE else max for i in range(len(self.lives))]
        numbers = [end(live.open) for end, live in zip(ends, self.lives, strict=True)]
        return [
            Observed(number, exactly(pairs_of(i)[number][1])) for i, number in enumerate(numbers)
        ]


def fleet_of(fold: Fold[Any], played: Sequence[int]) -> Fleet:
    lives = []
    for seed, stages in enumerate(played):
        one = Fleet(fold, [fold.begin(seed)])
        for t in range(stages):
            x, xi = pairs_of(seed)[t]
            one.apply([fold.decide(one.lives[0], x)])
            one.apply([Forgotten(t) if t == 1 and seed == 1 else Observed(t, exactly(xi))])
        lives += one.lives
    return Fleet(fold, lives)


def assert_together_is_one_by_one(
    policy: Any, problem: Any = KNAPSACK, played: Sequence[int] = (), monitor: Any = None
) -> int:
    """Three decisions and two outcomes; how many groups there were at the end."""
    fold = Fold(policy, problem, monitor or watching(policy, problem))
    alone, together = fleet_of(fold, played), StackedFold(fold)
    others = Fleet(fold, list(alone.lives))
    for stage in range(3):
        contexts = alone.contexts()
        wanted: list[Any] = alone.decide()
        found: list[Any] = together.decide(others.lives, contexts)
        assert all(same(one[:2], other[:2]) for one, other in zip(wanted, found, strict=True))
        others.apply(found)
        if stage == 1:
            continue  # outcomes are late
        outcomes = alone.outcomes()
        stages = alone.apply(outcomes)
        learned = together.observe(others.lives, outcomes)
        for live, shown, after in zip(alone.lives, stages, learned, strict=True):
            assert not isinstance(after, Exception), after
            assert_same_live(live, after[0])
            assert_same_stage(shown, after[1])
        others.lives = [after[0] for after in learned if not isinstance(after, Exception)]
    return len({together._key(live, "") for live in others.lives})
