"""The integer knapsack with uncertain weights: the problem, its judge, and its exact searches."""

from bocopt.problems.knapsack.problem import Knapsack

__all__ = ["Knapsack"]
