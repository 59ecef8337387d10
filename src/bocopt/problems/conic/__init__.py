"""Convex programs in the notation of cvxpy, an extra: pip install "bocopt[cvxpy]"."""

from bocopt.problems.conic.declare import from_cvxpy
from bocopt.problems.conic.problem import Conic

__all__ = ["Conic", "from_cvxpy"]
