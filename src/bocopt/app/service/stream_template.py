"""A kind of stream, as a configuration file declares it: the problem, who decides, and limits."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from bocopt.abilities import HasArms, HasLaws
from bocopt.app.case_file import StreamLimits
from bocopt.app.features.featuriser import Featuriser
from bocopt.bounds import exactly
from bocopt.core import Policy, Problem
from bocopt.fingerprint import fingerprint
from bocopt.guarantees import Guarantee
from bocopt.live.fold import Fold, Observed, configuration, watching
from bocopt.policies import Shadowed
from bocopt.problems.names import decision_labels
from bocopt.wrappers import Wrapper, find, has, says, shadows_of

_TRIED = 3  # outcomes after which all code has run


@dataclass(frozen=True)
class StreamTemplate:
    """The problem, policy, names and limits that streams of one kind have in common.

    `fingerprint` is of the problem and of the policy that was declared to decide. Shadows may come
    and go, and one may be promoted: what is known is then folded from the log again.
    """

    name: str
    version: str
    fingerprint: str
    fold: Fold[Any]
    names: tuple[str, ...]  # of the numbers of a decision
    contexts: tuple[str, ...] = ()  # of the numbers of x, where they have names
    outcomes: tuple[str, ...] = ()  # of those of xi
    seed: int = 0
    limits: StreamLimits = field(default_factory=StreamLimits)
    scale: float | None = None  # of the headline
    delta: float = 0.05  # the chance that one of its certificates does not hold
    unit: str = ""  # of costs
    featuriser: Featuriser | None = None  # makes contexts of named fields, where there are data
    about: str = "{}"  # who decides and who is compared, as JSON, for the log

    @property
    def problem(self) -> Problem:
        """Return the problem that is decided."""
        return self.fold.problem

    @property
    def shadows(self) -> tuple[str, ...]:
        """Names of those that are compared with what decides."""
        return tuple(shadows_of(self.fold.policy))

    @cached_property
    def weighed(self) -> Mapping[str, tuple[str, ...]]:
        """Names of what the policy that decides weighs: its arms, and its laws by their member."""
        arms = find(self.fold.policy, HasArms)
        laws: Sequence[str] = says(self.fold.policy, HasLaws) or ()
        return {
            "arms": tuple(arms.part.arm_names) if arms else (),
            "members": tuple(law.partition(",")[0] for law in laws),
        }


def template_of(
    name: str,
    problem: Problem,
    policy: Policy[Any],
    *,
    version: str = "1",
    shadows: Mapping[str, Policy[Any]] | None = None,
    promote: str | None = None,
    names: tuple[str, ...] = (),
    contexts: tuple[str, ...] = (),
    outcomes: tuple[str, ...] = (),
    featuriser: Featuriser | None = None,
    scale: float | None = None,
    difference_scale: float | None = None,
    delta: float = 0.05,
    guarantees: Sequence[Guarantee[Any]] = (),
    unit: str = "",
    hindsight: bool = True,
    seed: int = 0,
    limits: StreamLimits | None = None,
) -> StreamTemplate:
    """Put it together; a shadow that is promoted decides, and the one before it is its shadow."""
    deciding = _deciding(policy, dict(shadows or {}), promote)
    monitor = watching(
        deciding,
        problem,
        scale,
        lately=True,
        difference_scale=difference_scale,
        delta=delta,
        guarantees=guarantees,
    )
    by = configuration(deciding, problem, monitor)[:16]
    made_of = (problem, policy, featuriser.to_json()) if featuriser else (problem, policy)
    return StreamTemplate(
        name=name,
        version=version,
        fingerprint=fingerprint(made_of),
        fold=Fold(deciding, problem, monitor, hindsight, by),
        names=names or decision_labels(problem),
        contexts=contexts,
        outcomes=outcomes,
        featuriser=featuriser,
        seed=seed,
        limits=limits or StreamLimits(),
        scale=scale,
        delta=delta,
        unit=unit,
        about=_about(deciding),
    )


def _about(policy: Any) -> str:
    """Names and digests, by which it can be told later what was declared."""
    shadows = shadows_of(policy)
    own = policy.inner if shadows and has(policy, Wrapper) else policy
    beside = {name: fingerprint(shadow)[:16] for name, shadow in shadows.items()}
    return json.dumps({"decides": fingerprint(own)[:16], "shadows": beside})


def _deciding(
    policy: Policy[Any], shadows: dict[str, Policy[Any]], promote: str | None
) -> Policy[Any]:
    if promote is not None:
        policy, shadows = shadows[promote], {"before": policy} | shadows
        del shadows[promote]
    return Shadowed(policy, shadows) if shadows else policy


def compiled(template: StreamTemplate) -> None:
    """Decide and learn for a trial, so that machine code is there before the first request.

    Outcomes of 1 may be none that the problem can take: then the first request compiles.
    """
    fold = template.fold
    live = fold.begin(template.seed)
    wide = len(template.contexts) or (
        1 if template.problem.dims.x is None else template.problem.dims.x
    )
    x = np.zeros(wide)
    try:
        outcome = exactly(np.ones(template.problem.dims.xi))
        for number in range(_TRIED):
            live, _ = fold.apply(live, fold.decide(live, x))
            live, _ = fold.apply(live, Observed(number, outcome))
        fold.decide(live, x)
    except Exception:
        return
