"""A regressor of river as a model: it learns outcome by outcome."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.core import Array, IntArray
from bocopt.extras import needed
from bocopt.fingerprint import CHANGES_NO_RESULT
from bocopt.interop.fits import KEY_SIZE, LatestFits, key_of
from bocopt.interop.refitted import by_trial, lowest
from bocopt.numeric.history import History, empty
from bocopt.policies.baselines import NoInfo

_OWNER = "from_river"
_FEWEST_KEPT = 8  # regressors
_FEWEST_ERRORS = 10

Features = dict[str, float]


class OnlineState(NamedTuple):
    """Outcomes so far, and by how much each was missed before it was learned."""

    seeds: IntArray  # ()
    x: History  # (n, k)
    xi: History  # (n, m)
    errors: History  # (r, m) the latest
    key: IntArray  # (4) of all that was learned
    info: NoInfo = NoInfo()


class Learner(NamedTuple):
    """Regressors of one trial: one for all components, or one for each. They change."""

    regressors: tuple[Any, ...]
    names: tuple[str, ...]  # (k)
    together: bool

    def predict(self, x: Array, size: int) -> Array:
        """Return the prediction (m) under a context (k)."""
        features = self._features(x)
        if self.together:
            said = self.regressors[0].predict_one(features)
            found = [said.get(f"y{j}", 0.0) for j in range(size)]
        else:
            found = [one.predict_one(features) for one in self.regressors]
        return arguments.array(
            "the regressor", "predict_one", np.array(found, np.float64), (size,), arguments.RETURNED
        )

    def learn(self, x: Array, xi: Array) -> None:
        """Learn the outcome (m) of a context (k)."""
        features, targets = self._features(x), xi.tolist()
        if self.together:
            self.regressors[0].learn_one(features, {f"y{j}": y for j, y in enumerate(targets)})
        else:
            for one, y in zip(self.regressors, targets, strict=True):
                one.learn_one(features, y)

    def _features(self, x: Array) -> Features:
        return dict(zip(self.names, x.tolist(), strict=True))


@dataclass(frozen=True)
class FromRiver:
    """A regressor that learns online; see `from_river`."""

    regressor: Any
    errors: int = 200
    names: Sequence[str] | None = None
    _fits: LatestFits = field(
        init=False,
        repr=False,
        compare=False,
        default_factory=LatestFits,
        metadata=CHANGES_NO_RESULT,
    )

    def __post_init__(self) -> None:
        _check_regressor(self.regressor)
        arguments.integer(_OWNER, "errors", self.errors, f"[{_FEWEST_ERRORS}, inf)")
        if self.names is not None:
            object.__setattr__(self, "names", _checked_names(self.names))

    def init(self, seeds: IntArray) -> OnlineState:
        """Return the state before any outcome, with the leading axes of the seeds."""
        seeds = arguments.seeds_of(_OWNER, seeds)
        none = empty(seeds.shape, 0)
        keys = np.stack([key_of(seed) for seed in seeds.reshape(-1, 1)])
        return OnlineState(seeds, none, none, none, keys.reshape(*seeds.shape, KEY_SIZE))

    def step(self, state: OnlineState, t: int, x: Array, xi: Array) -> OnlineState:
        """Return the state after the outcome xi (m) of context x (k), with its error kept."""
        first, lead = not state.xi.size, state.seeds.shape
        widths = (... if first else state.x.buffer.shape[-1], state.xi.buffer.shape[-1] or None)
        x = arguments.finite_and_squarable(f"{_OWNER}.step", "x", x, widths[0])
        xi = arguments.finite_and_squarable(f"{_OWNER}.step", "xi", xi, widths[1])
        if first:
            outcomes = empty(lead, xi.shape[-1])
            state = state._replace(x=empty(lead, x.shape[-1]), xi=outcomes, errors=outcomes)
        keys, errors = self._learned(state, x, xi)
        return state._replace(
            x=state.x.append(x),
            xi=state.xi.append(xi),
            errors=state.errors.append(errors).at_most(self.errors),
            key=keys,
        )

    def sample(self, state: OnlineState, x: Array) -> tuple[Array, Array]:
        """Return scenarios (s, m) under a context (k), and their weights (s)."""
        lead, width = state.seeds.shape, state.x.buffer.shape[-1]
        x = arguments.inner(f"{_OWNER}.sample", "x", x, width)
        seen = int(state.xi.size)
        if seen < _FEWEST_ERRORS:
            return state.xi.rows, np.full((*lead, seen), 1.0 / seen)
        contexts, size = by_trial(state.seeds, x, 1), state.xi.buffer.shape[-1]
        with self._fits.guard:  # nobody may learn meanwhile
            said = [
                self._fits.answer(key, self._most(state), replay).predict(here, size)
                for here, key, replay in zip(contexts, *self._learners(state), strict=True)
            ]
        latest = state.errors.rows[..., -max(seen // 2, _FEWEST_ERRORS) :, :]
        scenarios = np.stack(said).reshape(*lead, 1, size) + latest
        w = np.full(scenarios.shape[:-1], 1.0 / scenarios.shape[-2])
        return np.maximum(scenarios, lowest(state.xi)), w

    def _learned(self, state: OnlineState, x: Array, xi: Array) -> tuple[IntArray, Array]:
        """Return the keys (4) after x (k) and xi (m) are learned, and the errors (m) before.

        Regressors change in place: the newest state has them. An older one learns its past again.
        """
        keys, errors, lead = [], [], state.seeds.shape
        pairs = (by_trial(state.seeds, part, 1) for part in (x, xi))
        for here, outcome, key, replay in zip(*pairs, *self._learners(state), strict=True):
            with self._fits.guard:
                learner = self._fits.take(key, replay)
                errors.append(outcome - learner.predict(here, outcome.size))
                learner.learn(here, outcome)
                keys.append(key_of(key, here, outcome))
                self._fits.put(keys[-1], self._most(state), learner)
        return np.stack(keys).reshape(state.key.shape), np.stack(errors).reshape(*lead, -1)

    def _learners(self, state: OnlineState) -> tuple[IntArray, list[partial[Learner]]]:
        """Return the keys (trials, 4), and how to make each from its past if not remembered."""
        x, xi = (by_trial(state.seeds, part.rows, 2) for part in (state.x, state.xi))
        again = [partial(self._replayed, *rows) for rows in zip(x, xi, strict=True)]
        return state.key.reshape(-1, KEY_SIZE), again

    def _replayed(self, x: Array, xi: Array) -> Learner:
        """Return a new learner that has learned contexts (n, k) and outcomes (n, m)."""
        names = self.names or tuple(f"x{j}" for j in range(x.shape[-1]))
        if len(names) != x.shape[-1]:
            expected = f"{x.shape[-1]} names, one for each number of a context"
            raise arguments.wrong(_OWNER, "names", expected, names)
        together = _takes_many(self.regressor)
        each = range(1 if together else xi.shape[-1])
        learner = Learner(tuple(self.regressor.clone() for _ in each), tuple(names), together)
        for here, outcome in zip(x, xi, strict=True):
            learner.predict(here, outcome.size)  # as it was asked then
            learner.learn(here, outcome)
        return learner

    def _most(self, state: OnlineState) -> int:
        return max(_FEWEST_KEPT, 2 * state.seeds.size)


def from_river(
    regressor: Any, *, errors: int = 200, names: Sequence[str] | None = None
) -> FromRiver:
    """A regressor of river as a model: its prediction, with its latest errors as noise.

    Each outcome is predicted, then learned. A scenario is the prediction plus what was missed at
    one past stage, in all components together: the latest `errors` of them, and no more than the
    later half, since the first predictions know nothing. Until there are ten outcomes, they are
    equally likely. Where none was below zero, no scenario is.

    A regressor of one target is cloned for each component; one of many learns {"y0": ..., ...}.
    `names` are those of the context's numbers ("x0", "x1", ...).

    A regressor of river is no array, so a state holds all that it has learned instead. After a
    restart, it learns that again, in order: it must end up the same. So what draws at random needs
    a `seed`.

    >>> from river.linear_model import BayesianLinearRegression
    >>> model = from_river(BayesianLinearRegression())
    >>> state = model.init(np.array(0))
    >>> for t in range(40):
    ...     state = model.step(state, t, np.array([t % 4.0]), np.array([2.0 * (t % 4)]))
    >>> scenarios, w = model.sample(state, np.array([2.0]))
    >>> round(float(w @ scenarios[:, 0]), 1)
    4.0
    """
    return FromRiver(regressor, errors, names)


def _check_regressor(regressor: Any) -> None:
    parts = ("learn_one", "predict_one", "clone")
    if isinstance(regressor, type) or not all(hasattr(regressor, name) for name in parts):
        expected = "a regressor with learn_one, predict_one and clone"
        raise arguments.wrong(_OWNER, "regressor", expected, regressor)
    if _draws_at_random(regressor):
        expected = (
            "one with a seed: after a restart it learns its past again, and must end the same"
        )
        raise arguments.wrong(_OWNER, "regressor", expected, regressor)


def _draws_at_random(part: Any) -> bool:
    """Return whether a part of the regressor has a seed that is None."""
    if isinstance(part, dict):
        return any(_draws_at_random(inner) for inner in part.values())
    if isinstance(part, list | tuple):
        return any(_draws_at_random(inner) for inner in part)
    if isinstance(part, type) or not type(part).__module__.startswith("river."):
        return False
    own = getattr(part, "__dict__", {})
    return ("seed" in own and own["seed"] is None) or _draws_at_random(own)


def _takes_many(regressor: Any) -> bool:
    """Return whether the regressor, or the last step of a pipeline, is made for several targets."""
    last = [*regressor.steps.values()][-1] if hasattr(regressor, "steps") else regressor
    return isinstance(last, needed("river.base", _OWNER, "river").MultiTargetRegressor)


def _checked_names(names: object) -> tuple[str, ...]:
    listed = list(names) if isinstance(names, Sequence) and not isinstance(names, str) else []
    words = all(isinstance(name, str) for name in listed)
    if not listed or not words or len(set(listed)) < len(listed):
        raise arguments.wrong(_OWNER, "names", "a list of different names", names)
    return tuple(listed)
