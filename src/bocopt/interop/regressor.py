"""A regressor of scikit-learn, or of any library that speaks like it, as a model."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.core import Array
from bocopt.extras import needed
from bocopt.interop.refitted import Refitted

_OWNER = "from_sklearn"
_LARGEST_STATE = 2**32  # of a random_state


class FittedRegressor(NamedTuple):
    """Regressors of all components, or of one each, and their errors on what they had not seen."""

    regressors: tuple[Any, ...]
    residuals: Array  # (r, m)

    def predict(self, x: Array) -> Array:
        """Return predictions (n, m) for contexts (n, k)."""
        return predicted_by(self.regressors, x)


@dataclass(frozen=True)
class FromSklearn(Refitted):
    """A regressor that is fitted to the past on a schedule; see `from_sklearn`."""

    regressor: Any
    every: int = 50
    window: int | None = None
    folds: int = 5
    seed: int = 0
    begin: int = 10
    scenarios: int = 1000

    def __post_init__(self) -> None:
        needed("sklearn", _OWNER, '"bocopt[sklearn]"')
        _check_regressor(self.regressor)
        arguments.integer(_OWNER, "every", self.every, "[1, inf)")
        arguments.integer(_OWNER, "folds", self.folds, "[1, inf)")
        arguments.integer(_OWNER, "seed", self.seed, "[0, 9e18]")
        arguments.integer(_OWNER, "begin", self.begin, "[2, inf)")
        arguments.integer(_OWNER, "scenarios", self.scenarios, "[1, inf)")
        if self.window is not None:
            arguments.integer(_OWNER, "window", self.window, "[2, inf)")

    @property
    def rows_to_fit(self) -> int | None:
        """The window."""
        return self.window

    @property
    def rows_to_keep(self) -> float:
        """Number of outcomes to keep: those of the last fit until the next one is due."""
        return np.inf if self.window is None else self.window + self.every

    def due(self, seen: int, fitted: int) -> bool:
        """Return whether the past has doubled, or later `every` outcomes came, since a fit."""
        return seen >= self.begin and seen - fitted >= min(self.every, fitted)

    def fit(self, x: Array, xi: Array, seed: int) -> FittedRegressor:
        """Return a fit to (n, k), (n, m), with errors on the later half, predicted in blocks."""
        random_state = (self.seed + seed) % _LARGEST_STATE
        half = (len(x) + 1) // 2
        blocks = [rows for rows in np.array_split(np.arange(half, len(x)), self.folds) if rows.size]
        errors = [
            xi[rows] - predicted_by(self._trained(x, xi, rows[0], random_state), x[rows])
            for rows in blocks
        ]
        residuals = np.concatenate(errors)[-self.scenarios :]
        return FittedRegressor(self._trained(x, xi, len(x), random_state), residuals)

    def predicted(self, fit: FittedRegressor, x: Array, xi: Array) -> tuple[Array, Array]:
        """Return the prediction plus each past error as scenarios (s, m), with weights (s)."""
        scenarios = fit.predict(x[None]) + fit.residuals
        return scenarios, np.full(len(scenarios), 1.0 / len(scenarios))

    def _trained(self, x: Array, xi: Array, rows: int, random_state: int) -> tuple[Any, ...]:
        """Return regressors fitted to the first rows: one of all components, or one of each."""
        together = xi.shape[-1] > 1 and _takes_many(self.regressor)
        targets = [xi[:rows]] if together else list(xi[:rows].T)
        new = (_seeded(self.regressor, random_state) for _ in targets)
        pairs = zip(new, targets, strict=True)
        return tuple(one.fit(_at_least_one(x[:rows]), target) for one, target in pairs)


def from_sklearn(
    regressor: Any,
    *,
    every: int = 50,
    window: int | None = None,
    folds: int = 5,
    seed: int = 0,
    begin: int = 10,
    scenarios: int = 1000,
) -> FromSklearn:
    """A regressor with `fit` and `predict` as a model: its prediction, with its errors as noise.

    The first fit is made after `begin` outcomes, the next ones whenever the past has doubled, later
    after every `every` outcomes. Each is made from all of the past, or from its latest `window`
    outcomes. A scenario is what it predicts plus what it missed at one past stage, in all
    components together: so noise that components share is kept.

    What it missed is never what it was fitted to. At each fit, the later half of the past is cut
    into `folds` blocks, and each block is predicted by a regressor that has seen what came before
    it, and nothing later. The latest `scenarios` of these errors are kept.

    A regressor of one output is cloned for each component. A `random_state` that is None is set to
    `seed` plus the seed of the trial. A state holds the past, and no regressor: after a restart it
    is fitted again, so its fit must be a function of data and `random_state`. Before the first fit,
    past outcomes are equally likely. Where no outcome was below zero, no scenario is.

    >>> from sklearn.linear_model import LinearRegression
    >>> model = from_sklearn(LinearRegression())
    >>> state = model.init(np.array(0))
    >>> for t in range(10):
    ...     state = model.step(state, t, np.array([float(t)]), np.array([2.0 * t]))
    >>> scenarios, w = model.sample(state, np.array([20.0]))
    >>> scenarios.round(6).ravel().tolist()
    [40.0, 40.0, 40.0, 40.0, 40.0]
    """
    return FromSklearn(regressor, every, window, folds, seed, begin, scenarios)


def _check_regressor(regressor: Any) -> None:
    parts = ("fit", "predict", "get_params", "set_params")
    if isinstance(regressor, type) or not all(hasattr(regressor, name) for name in parts):
        expected = "a regressor with fit, predict, get_params and set_params"
        raise arguments.wrong(_OWNER, "regressor", expected, regressor)
    for name, state in _random_states(regressor).items():
        if state is not None and not isinstance(state, int | np.integer):
            expected = f"one whose {name} is None or an integer: it is fitted again after a restart"
            raise arguments.wrong(_OWNER, "regressor", expected, state)


def _random_states(regressor: Any) -> dict[str, Any]:
    """Return each `random_state` of the regressor and of its parts, by parameter name."""
    return {
        name: value
        for name, value in sorted(regressor.get_params(deep=True).items())
        if name == "random_state" or name.endswith("__random_state")
    }


def _seeded(regressor: Any, random_state: int) -> Any:
    """A new one that has learned nothing, and draws as it is told."""
    new = needed("sklearn.base", _OWNER, '"bocopt[sklearn]"').clone(regressor)
    unset = {name: random_state for name, v in _random_states(regressor).items() if v is None}
    return new.set_params(**unset) if unset else new


def _takes_many(regressor: Any) -> bool:
    """Return whether the regressor says that it predicts several outputs at once."""
    if not hasattr(regressor, "__sklearn_tags__"):
        return False
    tags = needed("sklearn.utils", _OWNER, '"bocopt[sklearn]"').get_tags(regressor)
    return bool(tags.target_tags.multi_output)


def predicted_by(regressors: tuple[Any, ...], x: Array) -> Array:
    """Return finite predictions (n, m) at (n, k), of one regressor for all components or each."""
    found = [np.asarray(one.predict(_at_least_one(x)), np.float64) for one in regressors]
    columns = np.concatenate([part.reshape(len(x), -1) for part in found], axis=-1)
    return arguments.array("the regressor", "predict", columns, (None,), arguments.RETURNED)


def _at_least_one(x: Array) -> Array:
    """Return contexts (n, k), or a column of ones, which a regressor wants, where k is 0."""
    return x if x.shape[-1] else np.ones((len(x), 1))
