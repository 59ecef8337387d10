"""Interface of simulations with known conditional risk, to test certificates on."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any

from bocopt.core import Array, IntArray
from bocopt.guarantees import Evidence, Guarantee

Shown = tuple[Evidence, Mapping[str, Array]]  # a stage, and the true conditional risks there


class Simulation(ABC):
    """Runs (a leading axis) whose risks are known, and the certificates to test on them."""

    @abstractmethod
    def stages(self, seeds: IntArray, horizon: int) -> Iterator[Shown]:
        """Yield each stage's evidence, and its true conditional risks by name."""
        ...

    @abstractmethod
    def guarantees(self, horizon: int, delta: float) -> Mapping[str, tuple[str, Guarantee[Any]]]:
        """Return, by name, the risk that a guarantee bounds, and the guarantee."""
