"""What the numbers of decisions and weights are called in what a study writes."""

from collections.abc import Mapping, Sequence
from typing import Any

from bocopt.abilities import HasArms, HasLaws
from bocopt.core import Policy, Problem
from bocopt.problems.names import decision_names
from bocopt.wrappers import find, says


def names_of(
    problem: Problem, policy: Policy[Any], decisions: Sequence[str] = ()
) -> Mapping[str, Sequence[str]]:
    """As `page` takes them: of decisions, arms and laws, as far as they have any.

    Decisions are called as the columns of the table that hold some, or as the declaration of the
    program calls them.
    """
    found: dict[str, Sequence[str]] = {"z": decisions or decision_names(problem)}
    arms = find(policy, HasArms)
    found["arm_weights"] = arms.part.arm_names if arms else ()
    found["weights"] = says(policy, HasLaws) or ()
    return {key: tuple(names) for key, names in found.items() if names}
