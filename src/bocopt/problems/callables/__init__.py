"""Any Python solver or simulator as a problem."""

from bocopt.problems.callables.declare import from_callables
from bocopt.problems.callables.problem import FromCallables

__all__ = ["FromCallables", "from_callables"]
