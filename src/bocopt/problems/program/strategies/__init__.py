"""Strategies for programs: the first that applies solves it, from special to general.

| strategy | takes | how |
|---|---|---|
| `cuts` | a convex risk by its worst weights | all scenarios, and planes below the risk |
| `mean` | no uncertainty in what must hold, or all of it must | mean costs, one program |
| `hinges` | expected positive parts | by their dual, or in bundles that are refined |
| `tail` | CVaR or the worst case of linear costs | the same with one more column |
| `lattice` | a knapsack of few items | the lattice search of `problems.knapsack` |
| `search` | a chance constraint on non-negative integers | depth-first with prices |
| `mixing` | a chance constraint with random limits | mixing sets |
| `partition` | two stages that differ in limits | mean scenarios and cuts, or groups |
| `extensive` | anything | one program of all scenarios, big M computed |
"""

from typing import Protocol

from bocopt.problems.program.form import BestFound, SolveTask
from bocopt.problems.program.strategies import (
    cuts,
    extensive,
    hinges,
    lattice,
    mean,
    mixing,
    partition,
    search,
    tail,
)


class Strategy(Protocol):
    """A module with these two functions."""

    def applies(self, task: SolveTask) -> bool:
        """Return whether the task has the structure that the strategy is made for."""
        ...

    def solve(self, task: SolveTask) -> BestFound:
        """Return the best decision found, and a lower bound on all values."""
        ...


STRATEGIES: tuple[Strategy, ...] = (
    cuts,
    mean,
    hinges,
    tail,
    lattice,
    search,
    mixing,
    partition,
    extensive,
)


def solve(task: SolveTask) -> BestFound:
    """Solve by the first strategy that applies; one scenario is a program as it stands."""
    if len(task.w) == 1:
        return extensive.solve(task)
    return next(each for each in STRATEGIES if each.applies(task)).solve(task)
