"""`problem.py`: the user's problem, the rule that is followed now, and policies."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from numpy.typing import ArrayLike

from bocopt import arguments
from bocopt.abilities import MakesPolicy
from bocopt.app.margin import named
from bocopt.app.user_file import imported
from bocopt.core import Array, Policy, Problem
from bocopt.policies import (
    Ensemble,
    ResidualSampleAverage,
    Rule,
    SampleAverage,
)
from bocopt.wrappers import has

#: Policies that a study may name without writing them: all they need is the problem.
KNOWN: Mapping[str, Callable[[Any], Policy[Any]]] = {
    "Ensemble": Ensemble,
    "SampleAverage": SampleAverage,
    "ResidualSampleAverage": ResidualSampleAverage,
}


@dataclass(frozen=True)
class ByName:
    """A rule that is shown the context by name."""

    function: Callable[[Mapping[str, float]], ArrayLike]
    names: tuple[str, ...]

    def __call__(self, x: Array) -> ArrayLike:
        return self.function(named(self.names, x))


@dataclass(frozen=True)
class ProblemFile:
    """A Python file that has been imported."""

    path: Path
    module: ModuleType

    def problem(self, name: str) -> Problem:
        found: Problem = self._named(name, "the problem")
        try:
            arguments.kind("study", name, found, Problem)
        except ValueError as error:
            raise ValueError(f"{self.path}: {error}") from None
        return found

    def rule(self, name: str, x_names: tuple[str, ...]) -> Policy[Any]:
        """What is done now: a function of the context by name, or a policy."""
        found = self._named(name, "what is done now")
        if hasattr(found, "decide") and not isinstance(found, type):
            return self._policy(name, found)
        if not callable(found):
            expected = "a function of the context, by name, that returns a decision"
            raise ValueError(f"{self.path}: '{name}' must be {expected}. Got {found!r} instead.")
        return Rule(ByName(found, x_names))

    def policy(self, name: str, problem: Problem, x_names: tuple[str, ...]) -> Policy[Any]:
        """One of ours, one in the file, or what a function in the file makes of the problem."""
        if not hasattr(self.module, name) and name in KNOWN:
            return KNOWN[name](problem)
        found = self._named(name, f"a policy (known without it: {', '.join(KNOWN)})")
        if has(found, MakesPolicy):
            made: Policy[Any] = found.policy(problem, x_names)
            return made
        if not hasattr(found, "decide") or isinstance(found, type):
            try:
                found = found(problem)
            except Exception as error:
                raise ValueError(f"{self.path}: {name}(problem) failed: {error!r}.") from error
        return self._policy(name, found)

    def _policy(self, name: str, found: Any) -> Policy[Any]:
        try:
            arguments.kind("study", name, found, Policy)
        except ValueError as error:
            raise ValueError(f"{self.path}: {error}") from None
        policy: Policy[Any] = found
        return policy

    def _named(self, name: str, what: str) -> Any:
        if not hasattr(self.module, name):
            raise ValueError(f"{self.path} has no '{name}', which should be {what}.")
        return getattr(self.module, name)


def load_problem(path: Path) -> ProblemFile:
    """Import it; whatever goes wrong is told with its line."""
    if not path.is_file():
        raise ValueError(f"{path} is not there; it should hold the problem.")
    if path.suffix != ".py":
        raise ValueError(f"{path} is not a Python file: its name must end in .py.")
    return ProblemFile(path, imported(f"study_{path.stem}", path))
