"""Models that are fitted anew when enough of the past is new: what rivals have in common."""

from dataclasses import dataclass
from typing import ClassVar

from bocopt import arguments
from bocopt.interop import refitted
from bocopt_studies.learning.data.source import extra


@dataclass(frozen=True)
class Refitted(refitted.Refitted):
    """Outcomes are equally likely until there are `begin` of them; then a fit is renewed when a
    share `renewed` of its outcomes is new."""

    dim_xi: int
    begin: ClassVar[int] = 10
    renewed: ClassVar[float] = 0.05

    def __post_init__(self) -> None:
        arguments.integer(type(self).__name__, "dim_xi", self.dim_xi, "[1, inf)")
        extra("sklearn")  # where it is missing, that is said before anything runs

    def due(self, seen: int, fitted: int) -> bool:
        return seen >= self.begin and seen - fitted >= self.renewed * fitted
