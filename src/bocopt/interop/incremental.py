"""A model or a policy as river shows its own: `learn_one`, `predict_one`, and `decide_one`."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bocopt import arguments
from bocopt.abilities import TakesMissing, UnderScenarios
from bocopt.core import Array, Decision, Model, Policy
from bocopt.wrappers import find, promises, sample_at, scenarios_of

_OWNER = "Incremental"
_ONE_NUMBER = 0

Named = Mapping[str, float]
Form = tuple[str, ...] | int  # of outcomes: their names, how many numbers, or one number


class Incremental:
    """One stream, one row at a time, with contexts and outcomes as dictionaries.

    learner    a `Model`, or a `Policy`, which also decides
    decisions  names of what is decided: `decide_one` then answers with a dictionary

    The first context says which features there are, and in which order they are shown to the
    learner; later ones must have the same, in any order. One that is left out is missing, where the
    learner takes that. An outcome is a number, a dictionary or a sequence, always the same; what is
    predicted is alike: the mean of the law of the outcome. Before the first one, it is None.

    A policy learns from what it decided for a context: the latest decision if that was for the same
    context, else what it would decide now. Where outcomes come late, use an `Agent`.

    >>> from bocopt import Mixture
    >>> model = Incremental(Mixture(dim_xi=1, scenarios=64))
    >>> for day in range(60):
    ...     model.learn_one({"weekend": day % 7 > 4, "rain": day % 3}, 10.0 + 5 * (day % 7 > 4))
    >>> round(model.predict_one({"rain": 1, "weekend": True}))
    15
    """

    def __init__(
        self,
        learner: Model[Any] | Policy[Any],
        *,
        decisions: Sequence[str] | None = None,
        seed: int = 0,
    ) -> None:
        self._decides = hasattr(learner, "decide")
        arguments.kind(_OWNER, "learner", learner, Policy if self._decides else Model)
        self._learner: Any = learner
        self._decisions = None if decisions is None else _names("decisions", decisions)
        seed = arguments.integer(_OWNER, "seed", seed, "[0, 9e18]")
        self._state = self._learner.init(np.array(seed))
        self._t = 0
        self._features: tuple[str, ...] | None = None
        self._targets: Form | None = None
        self._latest: tuple[Array, Decision] | None = None

    @property
    def state(self) -> Any:
        """The learner's."""
        return self._state

    def learn_one(self, x: Named, y: float | Named | Sequence[float]) -> None:
        """Learn the outcome of a context; an error changes nothing."""
        features, here = self._context(x)
        targets, outcome = self._outcome(y)
        if self._decides:
            decision = self._decided(here)
            state = self._learner.learn(self._state, self._t, here, decision, outcome)
        else:
            state = self._learner.step(self._state, self._t, here, outcome)
        self._state, self._t, self._latest = state, self._t + 1, None
        self._features, self._targets = features, targets

    def predict_one(self, x: Named) -> Any:
        """The mean of the law of the outcome, in the form that outcomes had; None before any.

        Of a policy: the mean of the scenarios under which it decides; None while it has none.
        """
        if self._decides and find(self._learner, UnderScenarios) is None:
            expected = "a model, or a policy that decides under scenarios, to predict anything"
            raise arguments.wrong(_OWNER, "learner", expected, self._learner)
        if not self._t:
            return None
        _, here = self._context(x)
        if self._decides:
            found = scenarios_of(self._learner, self._state, self._t, here)
        else:
            found = sample_at(self._learner, self._state, self._t, here)
        if found is None:
            return None
        scenarios, w = found
        return self._shown((w[:, None] * scenarios).sum(axis=0))

    def decide_one(self, x: Named) -> Any:
        """The decision for a context, an array or a dictionary."""
        if not self._decides:
            raise arguments.wrong(_OWNER, "learner", "a policy, to decide", self._learner)
        features, here = self._context(x)
        decision = self._decided(here)
        z = np.array(decision.solution.z)
        if self._decisions is None:
            named: Any = z
        elif len(self._decisions) != z.size:
            expected = f"{z.size} names, one for each number of a decision"
            raise arguments.wrong(_OWNER, "decisions", expected, self._decisions)
        else:
            named = dict(zip(self._decisions, z.tolist(), strict=True))
        self._features, self._latest = features, (here, decision)
        return named

    def _decided(self, here: Array) -> Decision:
        """The latest decision if it was for this context, else a new one."""
        if self._latest is not None and np.array_equal(self._latest[0], here, equal_nan=True):
            return self._latest[1]
        decision: Decision = self._learner.decide(self._state, self._t, here)
        return decision

    def _context(self, x: Named) -> tuple[tuple[str, ...], Array]:
        """The names of features, and (k) in their order."""
        if not isinstance(x, Mapping):
            raise arguments.wrong(_OWNER, "x", "a dictionary of features", x)
        names = tuple(x) if self._features is None else self._features
        gaps = promises(self._learner, TakesMissing)
        if not x.keys() <= set(names) or (not gaps and len(x) < len(names)):
            raise arguments.wrong(_OWNER, "x", f"a dictionary of {', '.join(names)}", dict(x))
        values = [float(x.get(name, np.nan)) for name in names]
        return names, arguments.array(_OWNER, "x", np.array(values), (...,), gaps=gaps)

    def _outcome(self, y: Any) -> tuple[Form, Array]:
        """The form of an outcome, and (m)."""
        form: Form
        if isinstance(y, Mapping):
            known = self._targets if isinstance(self._targets, tuple) else tuple(y)
            form = known if set(known) == set(y) else tuple(y)
            values = np.array([float(y[name]) for name in form])
        else:
            values = arguments.real(_OWNER, "y", y).astype(np.float64)
            form = len(values) if values.ndim else _ONE_NUMBER
        if self._targets not in (None, form):
            raise arguments.wrong(_OWNER, "y", "of the form of those before it", y)
        return form, arguments.array(_OWNER, "y", np.atleast_1d(values), (None,))

    def _shown(self, mean: Array) -> Any:
        if isinstance(self._targets, tuple):
            return dict(zip(self._targets, mean.tolist(), strict=True))
        return float(mean[0]) if self._targets == _ONE_NUMBER else mean


def _names(name: str, given: object) -> tuple[str, ...]:
    listed = list(given) if isinstance(given, Sequence) and not isinstance(given, str) else []
    if not listed or not all(isinstance(one, str) for one in listed):
        raise arguments.wrong(_OWNER, name, "a list of names", given)
    return tuple(listed)
