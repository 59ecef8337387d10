"""Optimization problems: what is decided, what it costs, when it is feasible."""

from bocopt.problems.knapsack import Knapsack

__all__ = ["Knapsack"]
