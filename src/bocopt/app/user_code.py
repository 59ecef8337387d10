"""Objects that `bocopt.toml` names in a user's Python files: the problem, policies, a rule."""

import re
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from bocopt import arguments
from bocopt.abilities import MakesPolicy
from bocopt.app.margin import named
from bocopt.core import Array, Policy, Problem
from bocopt.guarantees import Betting, EmpiricalBernstein, Guarantee, HoeffdingMixture, Outlook
from bocopt.live import Coupled
from bocopt.live.coupled_program import Undecided
from bocopt.models import AcrossSeries, LightMixture
from bocopt.policies import (
    Ensemble,
    GivenAcross,
    Predictive,
    ResidualSampleAverage,
    Rule,
    SampleAverage,
)
from bocopt.wrappers import has


def light_mixture(problem: Problem) -> Policy[Any]:
    """Return the learner for many series: one program under a `LightMixture` of outcomes."""
    return Predictive(problem, LightMixture(dim_xi=problem.dims.xi))


def light_mixture_across(problem: Problem) -> Policy[Any]:
    """Return the same learner, which is given what a model of all series expects."""
    if problem.dims.xi != 1:
        raise ValueError(
            "The model across series is about outcomes of one number, and the problem has "
            f"{problem.dims.xi}: name 'LightMixture', which learns each series by itself"
        )
    model = AcrossSeries()
    return GivenAcross(Predictive(problem, LightMixture(given=model.levels)), model)


#: Policies that a case may name without writing them: all they need is the problem.
KNOWN: Mapping[str, Callable[[Any], Policy[Any]]] = {
    "Ensemble": Ensemble,
    "LightMixture": light_mixture,
    "LightMixtureAcross": light_mixture_across,
    "SampleAverage": SampleAverage,
    "ResidualSampleAverage": ResidualSampleAverage,
}


class Declared(NamedTuple):
    """Terms of a case that a guarantee may be made of."""

    problem: Problem
    delta: float
    scale: float | None  # `cost_scale`: a range that few costs exceed


def empirical_bernstein(declared: Declared) -> Guarantee[Any]:
    """Return the bound by the spread of costs, for which a range must be declared in advance."""
    if declared.scale is None:
        raise ValueError("'EmpiricalBernstein' needs cost_scale = ..., a range of costs.")
    return EmpiricalBernstein(scale=declared.scale, strict=False, delta=declared.delta)


#: Guarantees that a case may name, likewise: each is made of what the case declares.
GUARANTEES: Mapping[str, Callable[[Declared], Guarantee[Any]]] = {
    "Betting": lambda declared: Betting(delta=declared.delta),
    "EmpiricalBernstein": empirical_bernstein,
    "HoeffdingMixture": lambda declared: HoeffdingMixture(delta=declared.delta),
    "Outlook": lambda declared: Outlook(delta=declared.delta),
}
#: The package of the modules of users, each under the name of its file.
CASES = "bocopt_cases"
#: Each series by the program of it alone, and then all cut to what that of all allows.
EACH_ALONE = "EachAlone"
_REFERENCE = re.compile(r"(?:([A-Za-z_][\w.]*):)?([A-Za-z_]\w*)")


@dataclass(frozen=True)
class ByName:
    """A rule that is shown the context by name."""

    function: Callable[[Mapping[str, float]], ArrayLike]
    names: tuple[str, ...]

    def __call__(self, x: Array) -> ArrayLike:
        return self.function(named(self.names, x))


@dataclass(frozen=True)
class UserCode:
    """The Python files of a folder, each imported once; `home` is that of the problem.

    A reference is `module:name`; without a module, `name` is looked up in the home, and then among
    the policies that are known.
    """

    folder: Path
    home: str = ""
    _modules: dict[str, ModuleType] = field(default_factory=dict)

    def at(self, home: str) -> "UserCode":
        """Return the same files, with another home."""
        return UserCode(self.folder, home, self._modules)

    def problem(self, reference: str) -> Problem:
        """Return the problem that a reference names."""
        found: Problem = self._of_kind(reference, self._named(reference), Problem)
        return found

    def coupled(self, reference: str, dim_xi: int) -> Coupled:
        """Return the program of all series that a reference names: a `Coupled`, or its function."""
        found = self._named(reference)
        if isinstance(found, Coupled):
            return found
        if not isinstance(found, FunctionType):
            expected = "a function of the names of series that returns a problem, or a Coupled"
            raise ValueError(f"'{reference}' must be {expected}. Got {found!r} instead.")
        return Coupled(found, law=LightMixture(dim_xi=dim_xi), dim_xi=dim_xi)

    def check_alone(self, reference: str) -> None:
        """Refuse a function, which may be a program of all series: then a word is missing."""
        if isinstance(self._named(reference), FunctionType):
            raise ValueError(
                f"'{reference}' is a function, not a problem of one series. If it makes one of the "
                "names of all series, say coupled = true beside 'series'."
            )

    def couples(self, reference: str) -> bool:
        """Return whether a reference names a `Coupled`, which needs no word beside."""
        return isinstance(self._named(reference), Coupled)

    def coupled_policy(self, reference: str, base: Coupled, x_names: tuple[str, ...]) -> Coupled:
        """Return a program of all series whose law is what a reference names."""
        if reference == EACH_ALONE:
            return replace(base, together=False)
        if reference not in KNOWN and self._has(reference) and self.couples(reference):
            found: Coupled = self._named(reference)
            if found.problem_of is not base.problem_of:
                raise ValueError(f"'{reference}' is for another function than the problem.")
            return found
        outcome = Undecided(base.dim_xi)
        ours = KNOWN.get(reference)  # a file may have a model of that name
        law = ours(outcome) if ours else self.policy(reference, outcome, x_names)
        try:
            return replace(base, law=law)
        except arguments.WrongError as error:
            raise ValueError(f"'{reference}' {error.why}") from None

    def rule(self, reference: str, x_names: tuple[str, ...]) -> Policy[Any]:
        """Return the policy of what is done now: a function of the context by name, or a policy."""
        found = self._named(reference)
        if hasattr(found, "decide") and not isinstance(found, type):
            policy: Policy[Any] = self._of_kind(reference, found, Policy)
            return policy
        if not callable(found):
            expected = "a function of the context, by name, that returns a decision"
            raise ValueError(f"'{reference}' must be {expected}. Got {found!r} instead.")
        return Rule(ByName(found, x_names))

    def policy(
        self, reference: str, problem: Problem, x_names: tuple[str, ...] = ()
    ) -> Policy[Any]:
        """Return a policy: one of ours, one in a file, or what a function makes of the problem."""
        found = self._named(reference, KNOWN)
        if has(found, MakesPolicy):
            made: Policy[Any] = found.policy(problem, x_names)
            return made
        if isinstance(found, type) or not hasattr(found, "decide"):
            found = _made(reference, found, problem)
        policy: Policy[Any] = self._of_kind(reference, found, Policy)
        return policy

    def guarantee(
        self, reference: str, problem: Problem, delta: float, scale: float | None = None
    ) -> Guarantee[Any]:
        """One of ours on these terms, one in a file, or what a function there makes of a problem.

        What stands in a file says its own confidence.
        """
        found = self._named(reference, GUARANTEES)
        if any(found is one for one in GUARANTEES.values()):
            ours: Guarantee[Any] = found(Declared(problem, delta, scale))
            return ours
        if isinstance(found, type) or not hasattr(found, "step"):
            found = _made(reference, found, problem)
        guarantee: Guarantee[Any] = self._of_kind(reference, found, Guarantee)
        return guarantee

    def file_of(self, reference: str) -> Path:
        """Return the path of the file that a reference is looked up in."""
        return self._path(self._parts(reference)[0])

    def _parts(self, reference: str) -> tuple[str, str]:
        parts = _REFERENCE.fullmatch(reference)
        if parts is None or not (parts[1] or self.home):
            expected = "must be like 'shop:problem', for `problem` in shop.py"
            raise ValueError(f"{expected}. Got {reference!r} instead.")
        return parts[1] or self.home, parts[2]

    def _path(self, module: str) -> Path:
        return self.folder.resolve().joinpath(*module.split(".")).with_suffix(".py")

    def _has(self, reference: str) -> bool:
        """Return whether a reference is in its file."""
        try:
            self._named(reference)
        except ValueError:
            return False
        return True

    def _named(self, reference: str, known: Mapping[str, Any] | None = None) -> Any:
        """Return the object; a ValueError says what is wrong, with the line of the file."""
        module, name = self._parts(reference)
        path = self._path(module)
        if module not in self._modules:
            self._modules[module] = _imported(f"{CASES}.{module}", path)
        if hasattr(self._modules[module], name):
            return getattr(self._modules[module], name)
        spelled = {one.lower(): one for one in known or ()}
        if known and reference.lower() in spelled:
            return known[spelled[reference.lower()]]
        more = f" (known without it: {', '.join(known)})" if known else ""
        raise ValueError(f"{path} has no '{name}'{more}.")

    def _of_kind(self, reference: str, found: Any, wanted: type) -> Any:
        try:
            arguments.kind("a case", reference, found, wanted)
        except arguments.WrongError as error:
            name = reference.rpartition(":")[2]
            raise ValueError(f"{self.file_of(reference)}: '{name}' {error.why}") from None
        return found


def _made(reference: str, function: Callable[[Problem], Any], problem: Problem) -> Any:
    """Return what a function of a file makes of the problem."""
    try:
        return function(problem)
    except Exception as error:
        raise ValueError(f"{reference}(problem) failed: {error!r}.") from error


def _imported(name: str, path: Path) -> ModuleType:
    """Import a file under a name of its own; files beside it can be imported by it."""
    if not path.is_file():
        raise ValueError(f"{path} is not there.")
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    return imported(name, path)


def imported(name: str, path: Path) -> ModuleType:
    """Run a file under a name; whatever goes wrong is a ValueError with its line.

    Python would take bytecode for a file that was changed within a second of being compiled, if it
    is as long as before: so the file itself is read each time.
    """
    loader = SourceFileLoader(name, str(path))
    spec = spec_from_loader(name, loader)
    assert spec is not None
    module = module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look there for the types of their fields
    try:
        exec(loader.source_to_code(path.read_bytes(), str(path)), module.__dict__)
    except Exception as error:
        del sys.modules[name]
        raise ValueError(_in_words(path, error)) from error
    return module


def _in_words(path: Path, error: Exception) -> str:
    if isinstance(error, SyntaxError):
        return f"{path}, line {error.lineno}: {error.msg}."
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
    line = f", line {frames[-1].lineno}" if frames else ""
    return f"{path}{line}: {type(error).__name__}: {error}"
