"""Problems that many have: each a file with its formula, and a declared program."""

from bocopt.problems.library.commitment import unit_commitment
from bocopt.problems.library.facility import facility_location
from bocopt.problems.library.portfolio import portfolio
from bocopt.problems.library.staffing import staffing

__all__ = ["facility_location", "portfolio", "staffing", "unit_commitment"]
