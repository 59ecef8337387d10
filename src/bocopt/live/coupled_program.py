"""A program that couples series: one decision a time for all that are open, under joint scenarios.

problem   problem_of(names): its xi has a block for each of these series, in their order
law       of each series by itself, from its own past
z         problem.solve(joint scenarios, equal weights, their contexts one after the other)
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np

from bocopt import arguments
from bocopt.abilities import ForOutcomes, ForProblem, UnderScenarios
from bocopt.core import Array, Decision, Dims, Model, Policy, Problem, Sense, Solution, Status
from bocopt.fingerprint import CHANGES_NO_RESULT
from bocopt.live.coupled_layout import Layout, layout_of
from bocopt.live.series_states import plays_in_rows
from bocopt.loop import checked_decision
from bocopt.models import LightMixture
from bocopt.policies import GivenAcross, Predictive
from bocopt.problems.risk import Expectation
from bocopt.wrappers import find, has, says

_KEPT = 4096  # programs of sets of names
_HALVES = 40  # of the factor by which decisions are cut
_FRACTION = 1.1e-3  # of a decision in whole numbers, which is none
_SHOWN = 3  # names in a message


@dataclass(frozen=True)
class Undecided:
    """A problem in which nothing is decided: for policies that are asked for their scenarios."""

    outcomes: int = 1  # numbers of an outcome

    sense: ClassVar[Sense] = Sense.MINIMISE
    risk: ClassVar[Expectation] = Expectation()

    @property
    def dims(self) -> Dims:
        """Sizes of x, z and xi."""
        return Dims(x=None, z=0, xi=self.outcomes)

    def solve(self, scenarios: Array, w: Array, x: Array) -> Solution:
        """(s, m), (s), (k) -> no number."""
        lead, none = scenarios.shape[:-2], np.zeros(scenarios.shape[:-2])
        return Solution(np.zeros((*lead, 0)), none, np.full(lead, Status.OPTIMAL, np.int64), none)

    def cost(self, x: Array, z: Array, xi: Array) -> Array:
        """(k), (0), (m) -> 0."""
        return np.zeros(xi.shape[:-1])

    def violation(self, x: Array, z: Array, xi: Array) -> Array:
        """(k), (0), (m) -> 0."""
        return np.zeros(xi.shape[:-1])


class SeriesProgram(NamedTuple):
    """The program of some series, and where their parts stand in its decisions."""

    problem: Problem
    layout: Layout


@dataclass(frozen=True)
class Coupled:
    """A program for all series that are open at a time, under the joint law of their outcomes.

    `problem_of` makes it of the names (n) of the series: xi has one number for each, in that order,
    or a block of `dim_xi`; the decision has an array over series, and may have parts that are
    common to all. It is called once for each set of names. `law` says what may come of each series:
    a `Model`, or a policy that tells its scenarios, such as `SampleAverage`. The laws become
    `scenarios` of equal weight in which series depend on each other as they did in the latest
    `memory` times: see `bocopt.models.coupling`.

    - `common`: arrays of the decision that are common, where they have as many places as there are
      series; all others are told by their sizes.
    - `initial`: scenarios of an outcome before the first of its series; None: those of the other
      series, or outcomes of any size from 0.01 to 100 where nothing is known of any.
    - `together`: False decides each series by the program of it alone, and then cuts all by the
      largest factor that the program of all allows: what somebody does without this class.

    >>> from bocopt.problems import Newsvendor
    >>> def truck(shops):
    ...     return Newsvendor(unit_cost=[1.0] * len(shops), price=3.0, capacity=50.0)
    >>> program = Coupled(truck).program(["north", "south"])
    >>> program.problem.dims.z, program.layout.each.tolist()
    (2, [[0], [1]])
    """

    problem_of: Callable[[Sequence[str]], Problem]
    law: Any = field(default_factory=LightMixture)
    dim_xi: int = 1
    common: Sequence[str] = ()
    scenarios: int = 256
    memory: int = 100
    initial: Sequence[float] | None = None
    together: bool = True
    _kept: dict[tuple[str, ...], SeriesProgram] = field(
        default_factory=dict, init=False, repr=False, compare=False, metadata=CHANGES_NO_RESULT
    )

    def __post_init__(self) -> None:
        if not callable(self.problem_of) or isinstance(self.problem_of, type):
            expected = "a function of the names of series that returns a Problem"
            raise arguments.wrong("Coupled", "problem_of", expected, self.problem_of)
        for name, interval in (("dim_xi", "[1, inf)"), ("scenarios", "[2, inf)")):
            arguments.integer("Coupled", name, getattr(self, name), interval)
        arguments.integer("Coupled", "memory", self.memory, "[1, inf)")
        object.__setattr__(
            self, "common", tuple(arguments.each("Coupled", "common", self.common, str))
        )
        if self.initial is not None:
            initial = arguments.numbers("Coupled", "initial", self.initial, "(-inf, inf)")
            object.__setattr__(self, "initial", initial)
        policy = self.policy
        if find(policy, UnderScenarios) is None or not plays_in_rows(policy):
            expected = "a model or policy with scenarios, whose states are rows, as LightMixture"
            raise arguments.wrong("Coupled", "law", expected, self.law)

    @cached_property
    def policy(self) -> Policy[Any]:
        """The policy of each series, which is asked for its scenarios and learns its outcomes."""
        if isinstance(self.law, GivenAcross):
            expected = (
                "its policy alone: CoupledAgent(..., across=...) takes the model of all series"
            )
            raise arguments.wrong("Coupled", "law", expected, "a GivenAcross")
        if has(self.law, Policy):
            problem = says(self.law, ForProblem)
            if problem is not None and problem.dims.xi != self.dim_xi:
                expected = f"one for outcomes of {self.dim_xi} numbers, as 'dim_xi' says"
                raise arguments.wrong("Coupled", "law", expected, problem.dims.xi)
            return cast(Policy[Any], self.law)
        arguments.kind("Coupled", "law", self.law, Model)
        declared = says(self.law, ForOutcomes)
        if declared not in (None, self.dim_xi):
            expected = f"one of outcomes of {self.dim_xi} numbers, as 'dim_xi' says"
            raise arguments.wrong("Coupled", "law", expected, declared)
        return Predictive(Undecided(self.dim_xi), self.law)

    def program(self, names: Sequence[str]) -> SeriesProgram:
        """Return the program of these series; an error says what is wrong with it."""
        key = tuple(names)
        found = self._kept.get(key)
        if found is None:
            found = self._program(key)
            if len(self._kept) >= _KEPT:
                self._kept.pop(next(iter(self._kept)), None)
            self._kept[key] = found
        return found

    def _program(self, names: tuple[str, ...]) -> SeriesProgram:
        if not names:
            raise ValueError("No series is open: there is nothing to decide.")
        called = getattr(self.problem_of, "__name__", type(self.problem_of).__name__)
        where = f"{called}({_shown(names)})"
        try:
            problem = self.problem_of(names)
        except Exception as error:
            raise ValueError(f"{where} failed: {error!r}.") from error
        arguments.kind(where, "problem", problem, Problem)
        many, size = len(names), problem.dims.xi
        if size != many * self.dim_xi:
            expected = f"a problem whose xi has {self.dim_xi} for each of {many} series"
            raise ValueError(f"{where} must return {expected}. Got {size} in all instead.")
        try:
            return SeriesProgram(problem, layout_of(problem, names, self.common))
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from None

    def solve(self, names: Sequence[str], own: Array, scenarios: Array, x: Array) -> Solution:
        """Return the decision for these series (n), each under its context (k).

        own         (n, S, m) the scenarios of each by itself, of equal weight
        scenarios   (S, n m) those of all of them
        """
        problem, layout = self.program(names)
        w = np.full(len(scenarios), 1.0 / len(scenarios))
        whole = self.context(names, x)
        if self.together:
            return self._solved(names, problem, scenarios, w, whole)
        if layout.common.size:
            raise ValueError(
                "Series cannot be decided each by itself where parts of a decision are common: "
                f"{', '.join(layout.common_names)}."
            )
        each = np.empty(layout.each.shape)
        for i, name in enumerate(names):
            alone = self.program([name])
            found = self._solved(
                [name], alone.problem, own[i], w, self.context([name], x[i : i + 1])
            )
            each[i] = alone.layout.parts(found.z)[0][0]
        return _cut(problem, layout.whole(each, np.zeros(0)), scenarios, w, whole)

    def context(self, names: Sequence[str], x: Array) -> Array:
        """Return what the problem is shown of contexts (n, k): all, one after the other."""
        problem, flat = self.program(names).problem, np.ravel(x)
        wanted = problem.dims.x
        if wanted not in (None, flat.size):
            raise ValueError(
                f"The program of {_shown(names)} reads a context of {wanted} numbers. Contexts of "
                f"{len(names)} series have {flat.size} in all."
            )
        if wanted is not None and np.isnan(flat).any():
            raise ValueError(f"The program of {_shown(names)} reads contexts, and one is missing.")
        return flat

    def _solved(
        self, names: Sequence[str], problem: Problem, scenarios: Array, w: Array, x: Array
    ) -> Solution:
        """Return what the problem decides; an error of it names the series."""
        try:
            found = problem.solve(scenarios, w, x)
        except Exception as error:
            raise ValueError(f"The program of {_shown(names)} was not solved: {error}") from error
        owner = f"{type(problem).__name__}.solve"
        return checked_decision(owner, problem, Decision(found)).solution


def _shown(names: Sequence[str]) -> str:
    """Return how many series there are, and the first names.

    >>> _shown(["north"])
    "1 series: 'north'"
    """
    more = ", ..." if len(names) > _SHOWN else ""
    return f"{len(names)} series: {', '.join(map(repr, names[:_SHOWN]))}{more}"


def _cut(problem: Problem, z: Array, scenarios: Array, w: Array, x: Array) -> Solution:
    """Return z times the largest factor in [0, 1] by which the program is met, found by halving.

    Numbers are rounded down where fractions do not meet it. Where even nothing does not, z stays.
    """

    def met(taken: Array) -> bool:
        """Return whether a decision meets the program."""
        return bool(problem.risk.met(problem.violation(x, taken, scenarios), w))

    whole = not met(_FRACTION * z)

    def times(factor: float) -> Array:
        """Return the decision that is cut by a factor."""
        return np.floor(factor * z + 1e-9) if whole else factor * z

    status = Status.GIVEN
    if not met(z):
        low, high = 0.0, 1.0
        if met(times(0.0)):
            for _ in range(_HALVES):
                middle = 0.5 * (low + high)
                low, high = (middle, high) if met(times(middle)) else (low, middle)
            z = times(low)
        else:
            status = Status.FALLBACK
    value = problem.risk.value(problem.cost(x, z, scenarios), w)
    return Solution(z, np.asarray(value), np.asarray(status, np.int64), np.asarray(np.nan))
