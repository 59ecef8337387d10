"""Any Python solver or simulator as a problem."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from bocopt import arguments
from bocopt.core import Array, BoolArray, Dims, IntArray, Risk, Sense, Solution, Status
from bocopt.problems.risk import Chance, Expectation

_SCREEN, _FINALISTS = 128, 8  # scenarios to choose candidates on, and candidates for all scenarios

Solve = Callable[[Array, Array], Any]
Measure = Callable[[Array, Array, Array], Any]
Bounds = Callable[[Array, Array], Any]
Support = Callable[[Array, Array], Any]


@dataclass(frozen=True, kw_only=True)
class FromCallables:
    """A problem made of functions of one instance; see `from_callables`."""

    solver: Solve
    payment: Measure
    excess: Measure
    dims: Dims
    fallback: Sequence[float]
    risk: Risk
    sense: Sense
    candidates: int
    bounds: Bounds | None = None
    support: Support | None = None

    def __post_init__(self) -> None:
        for name, function in (
            ("solve", self.solver),
            ("cost", self.payment),
            ("violation", self.excess),
            ("bounds", self.bounds or _unbounded),
            ("support", self.support or _anything),
        ):
            if not callable(function):
                raise arguments.wrong("from_callables", name, "a function", function)
        if not isinstance(self.dims, Dims) or not isinstance(self.sense, Sense):
            raise arguments.wrong(
                "from_callables", "dims or sense", "a Dims and a Sense", self.dims
            )
        arguments.integer("from_callables", "candidates", self.candidates, "[1, inf)")
        size = arguments.integer("from_callables", "dims.z", self.dims.z, "[1, inf)")
        arguments.integer("from_callables", "dims.xi", self.dims.xi, "[1, inf)")
        fallback = arguments.numbers(
            "from_callables", "fallback", self.fallback, "(-inf, inf)", size
        )
        object.__setattr__(self, "fallback", fallback)

    def solve(self, x: Array, scenarios: Array, w: Array) -> Solution:
        """(k), (s, m), (s) -> the best of the scenarios' own decisions under all scenarios."""
        x = self._checked("solve", "x", x)
        scenarios = arguments.array("solve", "scenarios", scenarios, (None, self.dims.xi))
        w = arguments.weights("solve", w, scenarios.shape[-2])
        best_of_pool = np.vectorize(
            self._best_of_pool,
            signature="(k),(s,m),(s)->(d),(),(),()",
            otypes=[np.float64, np.float64, np.int64, np.float64],
        )
        return Solution(*(np.asarray(part) for part in best_of_pool(x, scenarios, w)))

    def cost(self, x: Array, z: Array, xi: Array) -> Array:
        """(k), (d), (m) -> () as the user's function says."""
        return self._measured("cost", self.payment, x, z, xi)

    def violation(self, x: Array, z: Array, xi: Array) -> Array:
        """(k), (d), (m) -> () as the user's function says."""
        return self._measured("violation", self.excess, x, z, xi)

    def range(self, x: Array, z: Array) -> tuple[Array, Array]:
        """(k), (d) -> (), () as the user's function says; without one, infinite."""
        x, z = self._checked("range", "x", x), arguments.array("range", "z", z, (self.dims.z,))
        call = np.vectorize(
            partial(_pair, self.bounds or _unbounded),
            signature="(k),(d)->(),()",
            otypes=[np.float64, np.float64],
        )
        low, high = call(x, z)
        return np.asarray(low), np.asarray(high)

    def possible(self, x: Array, xi: Array) -> BoolArray:
        """(k), (m) -> () as the user's function says; without one, always."""
        x = self._checked("support", "x", x)
        xi = arguments.array("support", "xi", xi, (self.dims.xi,))
        call = np.vectorize(
            partial(_truth, self.support or _anything),
            signature="(k),(m)->()",
            otypes=[np.bool_],
        )
        return np.asarray(call(x, xi))

    def _best_of_pool(
        self, x: Array, scenarios: Array, w: Array
    ) -> tuple[Array, float, int, float]:
        likely = np.flatnonzero(w > 0)
        own = (
            self._decision(x, scenarios[i]) for i in likely[_spread(len(likely), self.candidates)]
        )
        pool = [z for z in own if z is not None]
        candidates = list(np.unique(np.array(pool), axis=0)) if pool else []  # lexicographic order
        if len(scenarios) > 2 * _SCREEN and len(candidates) > _FINALISTS:
            few = _spread(len(scenarios), _SCREEN)
            share = w[few] / max(w[few].sum(), 1e-300)
            keys = [self._key(x, z, scenarios[few], share) for z in candidates]
            best_first = sorted(range(len(candidates)), key=keys.__getitem__)
            candidates = [candidates[i] for i in sorted(best_first[:_FINALISTS])]
        best, best_key = np.asarray(self.fallback), (np.inf, *self.fallback)
        for z in candidates:
            missed, cost = self._key(x, z, scenarios, w)
            if missed == 0.0 and (cost, *z) < best_key:  # the tie rule
                best, best_key = z, (cost, *z)
        alone = len(scenarios) == 1
        if best_key[0] == np.inf:
            status = Status.INFEASIBLE if alone else Status.FALLBACK
        else:
            status = Status.OPTIMAL if alone else Status.POOL
        return best, best_key[0], status, 0.0 if alone else np.inf

    def _key(self, x: Array, z: Array, scenarios: Array, w: Array) -> tuple[float, float]:
        """The weight of the scenarios that are missed, if they are too many, and the cost."""
        violations = self.violation(x, z, scenarios)
        missed = 0.0 if self.risk.met(violations, w) else float(w[violations > 0].sum())
        return missed, float(self.risk.value(self.cost(x, z, scenarios), w))

    def _decision(self, x: Array, xi: Array) -> Array | None:
        """The user's decision for one scenario, judged; None where nothing is feasible."""
        z = _called("solve", self.solver, x, xi)
        if z is None:
            return None
        z = arguments.array("the user's solve", "z", z, (self.dims.z,))
        if z.ndim != 1:
            raise arguments.wrong("the user's solve", "z", f"of shape ({self.dims.z},)", z.shape)
        excess = float(self.violation(x, z, xi))
        if excess > 0:
            raise ValueError(
                f"The user's solve returned z = {z.tolist()}, which violates its own scenario by "
                f"{excess}. Return None where nothing is feasible."
            )
        return z

    def _measured(self, name: str, measure: Measure, x: Array, z: Array, xi: Array) -> Array:
        x = self._checked(name, "x", x)
        z = arguments.array(name, "z", z, (self.dims.z,))
        xi = arguments.array(name, "xi", xi, (self.dims.xi,))
        call = np.vectorize(
            partial(_number, name, measure), signature="(k),(d),(m)->()", otypes=[np.float64]
        )
        return np.asarray(call(x, z, xi))

    def _checked(self, owner: str, name: str, x: Array) -> Array:
        return arguments.array(owner, name, x, (... if self.dims.x is None else self.dims.x,))


def _spread(many: int, wanted: int) -> IntArray:
    """Numbers below `many`, at most so many, all over: scenarios may come in a regular pattern."""
    if many <= wanted:
        return np.arange(many)
    golden = (np.arange(wanted) * 0.6180339887498949) % 1.0
    return np.unique((golden * many).astype(np.int64))


def _unbounded(x: Array, z: Array) -> tuple[float, float]:
    return -np.inf, np.inf


def _anything(x: Array, xi: Array) -> bool:
    return True


def _pair(bounds: Bounds, x: Array, z: Array) -> tuple[float, float]:
    """The user's range: two numbers in order, which may be infinite."""
    pair = _called("bounds", bounds, x, z)
    ends = np.asarray(pair)
    if ends.dtype.kind not in "iuf" or ends.size != 2 or not ends.flat[0] <= ends.flat[1]:
        raise ValueError(f"The user's bounds must return two numbers, low <= high. Got {pair!r}.")
    return float(ends.flat[0]), float(ends.flat[1])


def _truth(support: Support, x: Array, xi: Array) -> bool:
    """The user's support: a truth value."""
    result = _called("support", support, x, xi)
    given = np.asarray(result)
    if given.dtype.kind != "b" or given.size != 1:
        raise ValueError(f"The user's support must return True or False. Got {result!r} instead.")
    return bool(given.item())


def _called(name: str, function: Callable[..., Any], *values: Array) -> Any:
    """Call the user's function on copies, and say which one it was if it raises."""
    try:
        return function(*(value.copy() for value in values))
    except Exception as error:
        raise ValueError(f"The user's {name} raised {type(error).__name__}: {error}") from error


def _number(name: str, function: Callable[..., Any], *values: Array) -> float:
    result = _called(name, function, *values)
    given = np.asarray(result)
    if given.dtype.kind not in "biuf" or given.size != 1 or not np.isfinite(given.item()):
        raise ValueError(f"The user's {name} must return a finite number. Got {result!r} instead.")
    return float(given.item())


def _alpha(alpha: float) -> float:
    return arguments.number("from_callables", "alpha", alpha, "(0, 1]")


def from_callables(
    solve: Solve,
    cost: Measure,
    violation: Measure = lambda x, z, xi: 0.0,
    *,
    dims: Dims,
    fallback: Sequence[float],
    alpha: float | None = 0.9,
    sense: Sense = Sense.MINIMISE,
    candidates: int = 50,
    bounds: Bounds | None = None,
    support: Support | None = None,
) -> FromCallables:
    """Make a problem from `solve(x, xi) -> z`, `cost(x, z, xi)` and `violation(x, z, xi)`.

    Each is called with one instance at a time and need know nothing of scenarios. Under many
    scenarios, the pool of the scenarios' own decisions (of `candidates` of them) is evaluated, the
    best few against all scenarios, and the cheapest that meets alpha wins (status POOL: a better
    decision may exist outside the pool).
    `solve` returns None where nothing is feasible; then, and where no candidate meets alpha,
    `fallback` is decided. With alpha None nothing is promised: the cheapest wins.

    For certificates: `bounds(x, z) -> (low, high)` says before the outcome what a decision can
    cost, for outcomes with `support(x, xi)`.

    >>> newsvendor = from_callables(
    ...     solve=lambda x, xi: xi,  # order what will be asked for
    ...     cost=lambda x, z, xi: (z - 2 * min(z, xi)).item(),
    ...     dims=Dims(x=None, z=1, xi=1),
    ...     fallback=[0],
    ... )
    >>> newsvendor.solve(np.zeros(0), np.array([[1.0], [2.0], [9.0]]), np.full(3, 1 / 3)).z
    array([2.])
    """
    return FromCallables(
        solver=solve,
        payment=cost,
        excess=violation,
        dims=dims,
        fallback=fallback,
        risk=Expectation() if alpha is None else Chance(_alpha(alpha)),
        sense=sense,
        candidates=candidates,
        bounds=bounds,
        support=support,
    )
