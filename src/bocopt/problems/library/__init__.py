"""Problems that many have: each a file with its formula, and a declared program."""

from bocopt.problems.library.assets import portfolio
from bocopt.problems.library.binary_knapsack import BinaryKnapsack
from bocopt.problems.library.commitment import unit_commitment
from bocopt.problems.library.facility import facility_location
from bocopt.problems.library.newsvendor import Newsvendor
from bocopt.problems.library.paths import ShortestPath, grid
from bocopt.problems.library.shifts import staffing

__all__ = [
    "BinaryKnapsack",
    "Newsvendor",
    "ShortestPath",
    "facility_location",
    "grid",
    "portfolio",
    "staffing",
    "unit_commitment",
]
