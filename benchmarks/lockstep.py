"""Streams that share a clock: one stacked call for all of them beside one call for each.

python benchmarks/lockstep.py        writes benchmarks/results/lockstep.{md,json}: some ten minutes
python benchmarks/lockstep.py 100    the same with at most so many streams

All streams have played 30 stages of the paper's stream, each with its own seed. Then every stream
decides, and every outcome is learned: one by one, and stacked, in the same run and from the same
states, whose bits are compared. CPU time a stream, the median of the stages that were played; who
is the first to be asked changes from stage to stage.
"""

import gc
import sys
from collections.abc import Callable, Sequence
from itertools import islice
from time import process_time
from typing import Any

import numpy as np
from results_file import write, write_markdown

from bocopt import Ensemble, SampleAverage
from bocopt.core import Policy
from bocopt.live.fold import Fold, Observed, watching
from bocopt.live.record import Live, compact
from bocopt.live.stacked import StackedFold
from bocopt.numeric.blas import one_thread
from bocopt.paper import PaperStream
from bocopt.state import leaves
from bocopt_studies.paper.settings import Settings, policies_of, problem_of

SETTINGS = Settings()
PROBLEM = problem_of(SETTINGS)
PLAYED = 30
STREAMS = (1, 10, 100, 1000)
STAGES = {1: 20, 10: 10, 100: 6, 1000: 4}  # that are played for the measurement


POLICIES: dict[str, Policy[Any]] = {
    "SampleAverage": SampleAverage(PROBLEM),
    "BMA": policies_of(SETTINGS)["BMA"],
    "Ensemble": Ensemble(PROBLEM),
}


class Fleet:
    """Streams of one kind, played stacked until they are measured."""

    def __init__(self, policy: Policy[Any], many: int) -> None:
        self.fold = Fold(policy, PROBLEM, watching(policy, PROBLEM))
        self.together = StackedFold(self.fold)
        stages = PLAYED + sum(STAGES.values())
        self.stages = list(islice(PaperStream().stages(np.arange(many)), stages))
        self.lives = [self.fold.begin(seed) for seed in range(many)]
        for _ in range(PLAYED):
            self.lives = self.learned(self.opened(self.lives, self.decided(self.lives)))

    def contexts(self, lives: list[Live]) -> list[Any]:
        return [self.stages[live.t][0][i] for i, live in enumerate(lives)]

    def decided(self, lives: list[Live]) -> list[Any]:
        return self.together.decide(lives, self.contexts(lives))

    def decided_alone(self, lives: list[Live]) -> list[Any]:
        pairs = zip(lives, self.contexts(lives), strict=True)
        return [self.fold.decide(live, x) for live, x in pairs]

    def opened(self, lives: list[Live], decided: list[Any]) -> list[Live]:
        pairs = zip(lives, decided, strict=True)
        return [self.fold.apply(live, event)[0] for live, event in pairs]

    def outcomes(self, lives: list[Live]) -> list[Observed]:
        return [Observed(live.t - 1, self.stages[live.t - 1][1][i]) for i, live in enumerate(lives)]

    def learned(self, lives: list[Live]) -> list[Any]:
        found: list[Any] = self.together.observe(lives, self.outcomes(lives))
        return [live for live, _ in found]

    def learned_alone(self, lives: list[Live]) -> list[Any]:
        pairs = zip(lives, self.outcomes(lives), strict=True)
        return [self.fold.apply(live, event)[0] for live, event in pairs]


Call = tuple[Callable[[list[Live]], list[Any]], list[Live]]


def timed(calls: Sequence[Call], turned: bool) -> tuple[list[list[Any]], list[float]]:
    """What each answers, and milliseconds a stream; in turn, each of two is the first."""
    found, times = [list[Any]()] * len(calls), [0.0] * len(calls)
    for i in reversed(range(len(calls))) if turned else range(len(calls)):
        function, lives = calls[i]
        gc.collect()
        before = process_time()
        found[i] = function(lives)
        times[i] = 1e3 * (process_time() - before) / len(lives)
    return found, times


def assert_same(ours: list[Live], theirs: list[Live]) -> None:
    for one, other in zip(ours, theirs, strict=True):
        pairs = zip(leaves(compact(one.state)), leaves(compact(other.state)), strict=True)
        assert all(a.tobytes() == b.tobytes() for a, b in pairs)


def measured(fleet: Fleet, many: int) -> dict[str, float]:
    lives, times = fleet.lives[:many], []
    for stage in range(STAGES[many]):
        turned = stage % 2 == 1
        decided, decide = timed([(fleet.decided_alone, lives), (fleet.decided, lives)], turned)
        alone, stacked = (fleet.opened(lives, each) for each in decided)
        learned, learn = timed([(fleet.learned_alone, alone), (fleet.learned, stacked)], turned)
        lives = learned[0]
        assert_same(*learned)
        times.append([*decide, *learn])
    names = ("decide alone", "decide stacked", "learn alone", "learn stacked")
    found = dict(zip(names, np.median(times, axis=0).tolist(), strict=True))
    return {"streams": many, "stages": STAGES[many], **found}


def main(most: int) -> None:
    results = {}
    numbers = [many for many in STREAMS if many <= most]
    with one_thread():
        for name, policy in POLICIES.items():
            measured(Fleet(policy, 1), 1)  # compile
            fleet = Fleet(policy, max(numbers))
            results[name] = [measured(fleet, many) for many in numbers]
    write("lockstep", {"stages played before": PLAYED, "milliseconds a stream": results})
    lines = [
        "# Many streams at one clock",
        "",
        f"`python benchmarks/lockstep.py`: CPU milliseconds a stream, after {PLAYED} stages of the"
        " paper's stream, median of the stages played. All bits were the same. Each call comes"
        " right after a garbage collection, so that few streams meet cold caches.",
        "",
        "| policy | streams | decide, one by one | stacked | ratio | learn, one by one | stacked |"
        " ratio |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name, rows in results.items():
        for row in rows:
            _, _, da, ds, la, ls = row.values()
            lines.append(
                f"| {name} | {row['streams']} | {da:.3f} | {ds:.3f} | {da / ds:.1f} | {la:.3f} |"
                f" {ls:.3f} | {la / ls:.1f} |"
            )
    write_markdown("lockstep", lines)


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else max(STREAMS))
