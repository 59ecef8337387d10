"""What a simulation with known conditional risk is, to test certificates on."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any

from bocopt.core import Array, IntArray
from bocopt.guarantees import Evidence, Guarantee

Shown = tuple[Evidence, Mapping[str, Array]]  # a stage, and the true conditional risks there


class Simulation(ABC):
    """Runs (a leading axis) whose risks are known, and the certificates to test on them."""

    @abstractmethod
    def stages(self, seeds: IntArray, horizon: int) -> Iterator[Shown]: ...

    @abstractmethod
    def guarantees(self, horizon: int, delta: float) -> Mapping[str, tuple[str, Guarantee[Any]]]:
        """By name: the risk that it bounds, and the guarantee."""
