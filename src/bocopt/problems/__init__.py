"""Optimization problems: what is decided, what it costs, when it is feasible."""

from bocopt.problems.callables import FromCallables, from_callables
from bocopt.problems.knapsack import Knapsack
from bocopt.problems.risk import Chance, Expectation

__all__ = ["Chance", "Expectation", "FromCallables", "Knapsack", "from_callables"]
