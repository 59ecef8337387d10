"""Names of the numbers of decisions and weights, wherever they are shown."""

from collections.abc import Sequence
from typing import Any

from bocopt.abilities import HasArms, HasLaws
from bocopt.core import Policy, Problem
from bocopt.problems.names import decision_names
from bocopt.wrappers import find, says


def names_of(
    problem: Problem, policy: Policy[Any], decisions: Sequence[str] = ()
) -> dict[str, tuple[str, ...]]:
    """Names of the numbers of `z`, `arm_weights` and `weights`, of those that have any.

    Decisions are called as the columns of the table that hold some, or as the declaration of the
    program calls them.

    >>> from bocopt.policies import Ensemble
    >>> from bocopt.problems import Newsvendor
    >>> shop = Newsvendor(unit_cost=[1.0], price=3.0)
    >>> names_of(shop, Ensemble(shop))["arm_weights"]
    ('model', 'running average')
    """
    found: dict[str, Sequence[str]] = {"z": decisions or decision_names(problem)}
    arms = find(policy, HasArms)
    found["arm_weights"] = arms.part.arm_names if arms else ()
    found["weights"] = says(policy, HasLaws) or ()
    return {key: tuple(names) for key, names in found.items() if names}
