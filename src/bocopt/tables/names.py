"""What the numbers of decisions and weights are called in what a study writes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bocopt.core import Policy, Problem
from bocopt.policies import Ensemble


def names_of(
    problem: Problem, policy: Policy[Any], decisions: Sequence[str] = ()
) -> Mapping[str, Sequence[str]]:
    """As `page` takes them: of decisions, arms and laws, as far as they have any.

    Decisions are called as the columns of the table that hold some, or as the declaration of the
    program calls them.
    """
    found: dict[str, Sequence[str]] = {"z": decisions or _declared(problem)}
    if isinstance(policy, Ensemble):
        found["arm_weights"] = policy.names
        found["weights"] = getattr(policy.model, "names", ())
    return {key: tuple(names) for key, names in found.items() if names}


def _declared(problem: Problem) -> list[str]:
    """(d); none where the problem has no names."""
    named = getattr(problem, "named", None)
    if named is None:
        return []
    parts: Mapping[str, Any] = named(np.zeros(problem.dims.z))
    return [
        " ".join([name, *(str(i + 1) for i in place)])
        for name, part in parts.items()
        for place in np.ndindex(part.shape)
    ]
