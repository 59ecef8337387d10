"""The problem that a policy is played on: the one it says, and no other."""

import reprlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields, is_dataclass
from typing import Any, cast

from bocopt import arguments
from bocopt.abilities import ForProblem, HasName
from bocopt.core import Policy, Problem
from bocopt.fingerprint import CHANGES_NO_RESULT, fingerprint
from bocopt.numeric.recent import Recent
from bocopt.policies.ensemble import Ensemble
from bocopt.state import CheckpointError
from bocopt.wrappers import has, members, parts_of, says

_RECENT = Recent(8)  # fingerprints: `play` asks at each stage
_SHORT = reprlib.Repr()
_SHORT.maxother = 60


def policy_of(owner: str, given: Policy[Any] | Problem) -> Policy[Any]:
    """Return the policy that was given; for a problem alone, the default learner of it.

    >>> from bocopt.problems import Newsvendor
    >>> type(policy_of("run", Newsvendor(unit_cost=[1.0], price=[3.0]))).__name__
    'Ensemble'
    """
    if _is_a(Policy, given):
        return cast(Policy[Any], given)
    if _is_a(Problem, given):
        return Ensemble(cast(Problem, given))
    needs = ", ".join(members(Policy))
    raise arguments.wrong(owner, "policy", f"a Policy (it needs {needs}) or a Problem", given)


def problem_of(owner: str, problem: Problem | None, *policies: Policy[Any]) -> Problem:
    """Return the problem that was given, else the first that one of the policies says.

    A policy says its `problem`, or a part of it does. Where none does, the error names the first.

    >>> from bocopt.policies import Frozen, SampleAverage
    >>> from bocopt.problems import Newsvendor
    >>> bakery = Newsvendor(unit_cost=[1.0], price=[3.0])
    >>> problem_of("run", None, Frozen(SampleAverage(bakery))) is bakery
    True
    """
    if problem is not None:
        arguments.kind(owner, "problem", problem, Problem)
        return problem
    for policy in policies:
        for one in _deciding(policy):
            own = says(one, ForProblem)
            if _is_a(Problem, own):
                return cast(Problem, own)
    name = type(policies[0]).__name__
    expected = (
        f"given, since {name} does not say which one it decides for: {owner}(..., problem=...)"
    )
    raise arguments.wrong(owner, "problem", expected, None)


def check_same_problem(policy: Policy[Any], problem: Problem) -> None:
    """Raise an error where a policy says that it decides for another problem than this one.

    One and the same object is no question; two are compared by their fingerprints. A problem may
    wrap this one, as its `problem`: to solve it in another way. A policy that does not say its
    `problem` is not judged, nor are problems that nothing tells from each other.

    >>> from bocopt.policies import SampleAverage
    >>> from bocopt.problems import Newsvendor
    >>> bakery, kiosk = (Newsvendor(unit_cost=[1.0], price=[price]) for price in (3.0, 5.0))
    >>> try:
    ...     check_same_problem(SampleAverage(bakery), kiosk)
    ... except ValueError as error:
    ...     print(str(error).partition(": ")[2])
    for Newsvendor(price=(3.0,), ...), not for Newsvendor(price=(5.0,), ...).
    """
    for one in _deciding(policy):
        own = says(one, ForProblem)
        found = [each for each in (own, says(own, ForProblem)) if _is_a(Problem, each)]
        if not _is_a(Problem, own) or any(each is problem for each in found):
            continue
        with suppress(CheckpointError):
            if all(_digest(each) != _digest(problem) for each in found):
                raise ValueError(
                    f"The policy {type(one).__name__} decides for another problem than the one it "
                    f"is given with: for {_shown(own, problem)}, not for {_shown(problem, own)}."
                )


def _deciding(policy: Any) -> Iterator[Any]:
    """The policies that say their problem: this one, or those that it is made of."""
    if has(policy, ForProblem):
        yield policy
    else:
        for part in parts_of(policy):
            yield from _deciding(part)


def _is_a(wanted: type, thing: object) -> bool:
    with suppress(ValueError):
        arguments.kind("", "", thing, wanted)
        return True
    return False


def _digest(problem: Any) -> str:
    return _RECENT.answer(problem, (), lambda: fingerprint(problem))


def _shown(problem: Any, other: Any) -> str:
    """Its name or its class; of one class, also the fields in which they differ."""
    class_name, name = type(problem).__name__, says(problem, HasName)
    called = f"{class_name} {name!r}" if isinstance(name, str) else class_name
    if type(other) is not type(problem) or not is_dataclass(problem):
        return called
    differing = [
        f"{field.name}={_SHORT.repr(getattr(problem, field.name))}"
        for field in fields(problem)
        if field.metadata != CHANGES_NO_RESULT
        and fingerprint(getattr(problem, field.name)) != fingerprint(getattr(other, field.name))
    ]
    return f"{called}({', '.join(differing)}, ...)"
