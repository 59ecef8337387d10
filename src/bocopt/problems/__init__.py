"""Optimization problems: what is decided, what it costs, when it is feasible."""

from bocopt.problems.callables import FromCallables, from_callables
from bocopt.problems.conic import Conic, from_cvxpy
from bocopt.problems.knapsack import Knapsack
from bocopt.problems.library import (
    BinaryKnapsack,
    Newsvendor,
    ShortestPath,
    facility_location,
    grid,
    portfolio,
    staffing,
    unit_commitment,
)
from bocopt.problems.ranges import why_unranged
from bocopt.problems.risk import Chance, CVaR, Expectation, WorstCase

__all__ = [
    "BinaryKnapsack",
    "CVaR",
    "Chance",
    "Conic",
    "Expectation",
    "FromCallables",
    "Knapsack",
    "Newsvendor",
    "ShortestPath",
    "WorstCase",
    "facility_location",
    "from_callables",
    "from_cvxpy",
    "grid",
    "portfolio",
    "staffing",
    "unit_commitment",
    "why_unranged",
]
