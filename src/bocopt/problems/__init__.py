"""Optimization problems: what is decided, what it costs, when it is feasible."""

from bocopt.problems.callables import FromCallables, from_callables
from bocopt.problems.knapsack import Knapsack
from bocopt.problems.risk import Chance, CVaR, Expectation, WorstCase

__all__ = [
    "CVaR",
    "Chance",
    "Expectation",
    "FromCallables",
    "Knapsack",
    "WorstCase",
    "from_callables",
]
