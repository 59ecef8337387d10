"""Optimization problems: what is decided, what it costs, when it is feasible."""

from bocopt.problems.callables import FromCallables, from_callables
from bocopt.problems.knapsack import Knapsack
from bocopt.problems.library import facility_location, portfolio, staffing, unit_commitment
from bocopt.problems.risk import Chance, CVaR, Expectation, WorstCase

__all__ = [
    "CVaR",
    "Chance",
    "Expectation",
    "FromCallables",
    "Knapsack",
    "WorstCase",
    "facility_location",
    "from_callables",
    "portfolio",
    "staffing",
    "unit_commitment",
]
