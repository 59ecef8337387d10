"""An `optModel` of PyEPO as a problem: what is optimised is linear in what is not known."""

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, ClassVar

import numpy as np

from bocopt import arguments
from bocopt.core import Array, Dims, Sense, Solution, Status
from bocopt.fingerprint import CHANGES_NO_RESULT
from bocopt.numeric.recent import Recent
from bocopt.problems.defaults import filled_in
from bocopt.problems.risk import Expectation

_OWNER = "from_pyepo"
_NEEDS = ("modelSense", "num_cost", "setObj", "solve")
_NEAR = 1e-6  # what a solver may be from an integer
_REMEMBERED = 1024  # verdicts

Violation = Callable[[Array], float]


class _Oracle:
    """The model, which is told its costs and then asked: by one thread at a time."""

    def __init__(self, model: Any) -> None:
        self.model, self._guard = model, Lock()
        self.recent = Recent(_REMEMBERED)
        self.size = arguments.integer(_OWNER, "optmodel.num_cost", model.num_cost, "[1, inf)")

    def best(self, costs: Array) -> Array:
        """Return the optimal z (d) for costs (d), integers where the solver means them."""
        with self._guard:
            try:
                self.model.setObj(costs.copy())
                found, _ = self.model.solve()
            finally:
                self.model.setObj(np.zeros(self.size))  # so that it is the same for all who ask
        z = arguments.array("optmodel.solve()", "solution", found, (self.size,), arguments.RETURNED)
        whole = np.rint(z)
        return np.where(np.abs(z - whole) <= _NEAR, whole, z) + 0.0  # no negative zeros


@dataclass(frozen=True)
class FromPyepo:
    """A problem whose objective is z'xi, over what a model allows; see `from_pyepo`."""

    optmodel: Any
    violates: Violation | None = None
    _oracle: _Oracle = field(init=False, repr=False, compare=False, metadata=CHANGES_NO_RESULT)

    risk: ClassVar[Expectation] = Expectation()

    def __post_init__(self) -> None:
        if self.violates is not None and not callable(self.violates):
            raise arguments.wrong(_OWNER, "violation", "a function of z, or None", self.violates)
        object.__setattr__(self, "_oracle", _Oracle(_made(self.optmodel)))

    def __reduce__(self) -> tuple[Any, ...]:
        """In another process, the model is made or copied there."""
        return FromPyepo, (self.optmodel, self.violates)

    @property
    def dims(self) -> Dims:
        """Sizes of the vectors: as many costs as decisions."""
        return Dims(x=None, z=self._oracle.size, xi=self._oracle.size)

    @property
    def sense(self) -> Sense:
        """The model's."""
        return Sense.MINIMISE if int(self._oracle.model.modelSense) > 0 else Sense.MAXIMISE

    def solve(self, scenarios: Array, w: Array | None = None, x: Array | None = None) -> Solution:
        """Return the best z for the mean of scenarios (s, m) with weights (s), which is exact."""
        owner, size = f"{_OWNER}.solve", self._oracle.size
        scenarios, w, x = filled_in(owner, self.dims, scenarios, w, x)
        x = arguments.array(owner, "x", x, (...,), gaps=True)
        lead = arguments.lead(owner, x=x.shape[:-1], scenarios=scenarios.shape[:-2], w=w.shape[:-1])
        scenarios = np.broadcast_to(scenarios, (*lead, *scenarios.shape[-2:]))
        w = np.broadcast_to(w, (*lead, w.shape[-1]))
        each = [self._best(scenarios[i], w[i]) for i in np.ndindex(lead)]
        z = np.array([z for z, _ in each]).reshape(*lead, size)
        value = np.array([value for _, value in each]).reshape(lead)
        return Solution(z, value, np.full(lead, Status.OPTIMAL, np.int64), np.zeros(lead))

    def cost(self, x: Array, z: Array, xi: Array) -> Array:
        """Return z'xi () for z (d) and xi (m), or minus that where it is earned."""
        z, xi = self._checked("cost", z, xi)
        lead = np.broadcast_shapes(np.shape(x)[:-1], z.shape[:-1], xi.shape[:-1])
        paid = self.sense.sign * (z * xi).sum(axis=-1)
        return np.asarray(np.broadcast_to(paid, lead))

    def violation(self, x: Array, z: Array, xi: Array) -> Array:
        """Return the violation () of z (d), as the user's function says, or how far z is from a
        decision.
        """
        z, xi = self._checked("violation", z, xi)
        found = np.array([self._judged(z[i]) for i in np.ndindex(z.shape[:-1])])
        lead = np.broadcast_shapes(np.shape(x)[:-1], z.shape[:-1], xi.shape[:-1])
        return np.broadcast_to(found.reshape(z.shape[:-1]), lead).copy()

    def judge(self, x: Array, z: Array, xi: Array) -> tuple[Array, Array]:
        """Return cost and violation, each ()."""
        return self.cost(x, z, xi), self.violation(x, z, xi)

    def _best(self, scenarios: Array, w: Array) -> tuple[Array, float]:
        """Return the best z (d) and its value () for scenarios (s, m) with weights (s)."""
        mean = (w[:, None] * scenarios).sum(axis=0)
        z = self._oracle.best(mean)
        self._oracle.recent.answer(self, (z,), lambda: self._asked(z, allowed=True))
        costs = self.sense.sign * (z * scenarios).sum(axis=-1)
        return z, float(self.risk.value(costs, w))

    def _judged(self, z: Array) -> float:
        return self._oracle.recent.answer(self, (z,), lambda: self._asked(z, allowed=False))

    def _asked(self, z: Array, allowed: bool) -> float:
        """Return the violation: by the user's function, else 0 if `allowed`, else the distance."""
        if self.violates is not None:
            return arguments.number(_OWNER, "violation(z)", self.violates(z.copy()), "(-inf, inf)")
        return 0.0 if allowed else self._distance(z)

    def _distance(self, z: Array) -> float:
        """Return the distance to the nearest decision: where those are 0 or 1, |z - z'| is linear
        in z'.
        """
        slope = np.abs(z - 1) - np.abs(z)
        nearest = self._oracle.best(self.sense.sign * slope)
        if not np.isin(nearest, (0.0, 1.0)).all():
            expected = "given: decisions of this model are not all 0 or 1, so it cannot judge them"
            raise arguments.wrong(_OWNER, "violation", expected, None)
        return float(np.abs(z - nearest).sum())

    def _checked(self, name: str, z: Array, xi: Array) -> tuple[Array, Array]:
        owner, size = f"{_OWNER}.{name}", self._oracle.size
        return arguments.inner(owner, "z", z, size), arguments.inner(owner, "xi", xi, size)


def from_pyepo(optmodel: Any, *, violation: Violation | None = None) -> FromPyepo:
    """An `optModel` of PyEPO as a problem: z'xi is paid, or earned where `modelSense` maximises.

    optmodel   the model, or a function that makes it. A function can be sent to other processes,
               and a state that was saved knows it again: give one where a solver is inside.
    violation  of z, feasible means <= 0. Without, the model judges: where its decisions are 0 or 1,
               it is asked for the nearest one.

    Anything with `setObj(c)`, `solve() -> (solution, objective)`, `num_cost` and `modelSense` will
    do; PyEPO is not imported. What is expected of z'xi depends on the mean of xi alone, so `solve`
    under scenarios is exact, by one solve. `SPOPlus` learns on it as on any problem of this kind.

    >>> class Cheapest:  # of three
    ...     modelSense, num_cost = 1, 3
    ...     def setObj(self, c): self.c = c
    ...     def solve(self): return (np.arange(3) == np.argmin(self.c)) * 1.0, min(self.c)
    >>> problem = from_pyepo(Cheapest)
    >>> problem.solve(np.array([[1.0, 2, 3], [5, 2, 3]])).z
    array([0., 1., 0.])
    """
    return FromPyepo(optmodel, violation)


def _made(optmodel: Any) -> Any:
    expected = f"an optModel (it needs {', '.join(_NEEDS)}), or a function that makes one"
    fits = not isinstance(optmodel, type) and all(hasattr(optmodel, name) for name in _NEEDS)
    try:
        made = optmodel if fits or not callable(optmodel) else optmodel()
    except TypeError as error:
        raise arguments.wrong(_OWNER, "optmodel", expected, optmodel) from error
    if not all(hasattr(made, name) for name in _NEEDS):
        raise arguments.wrong(_OWNER, "optmodel", expected, optmodel)
    return made
