"""A convex risk of one's own is one class with its worst weights: programs are cut under it."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from convex_risks import Entropic, EVaR
from laws import assert_declared_programs_are_best_under, assert_pure_and_free_of_leading_axes

import bocopt
from bocopt import minimise, program, real
from bocopt.core import Array, Risk, Status
from bocopt.problems.risk import solvable

OWN: dict[str, Risk] = {
    "entropic": Entropic(0.7),
    "entropic, a chance": Entropic(0.3, alpha=0.7),
    "EVaR": EVaR(0.6),
    "EVaR, a chance": EVaR(0.3, alpha=0.8),
}
RNG = np.random.default_rng(4)
RETURNS = RNG.normal([0.1, 0.2, 0.35], [0.1, 0.5, 1.1], (60, 3))
W = RNG.dirichlet(np.ones(60))


@pytest.mark.parametrize("name", OWN)
def test_it_keeps_the_laws_of_all_risks(name: str) -> None:
    """In programs of linear costs, hinges, second stages, and chances with a payment."""
    numbers, weights = RNG.normal(size=(6, 4)), RNG.dirichlet(np.ones(4), 6)
    assert_pure_and_free_of_leading_axes(OWN[name].value, numbers, weights)
    assert solvable(OWN[name])
    assert_declared_programs_are_best_under(OWN[name])


def _portfolio(risk: Risk) -> Any:
    @program(xi=3, risk=risk, hold=real(3))
    def portfolio(xi: Any, hold: Any) -> Any:
        return minimise(-xi @ hold), hold.sum() == 1

    return portfolio


@pytest.mark.parametrize("theta", [0.5, 2.0, 8.0])
def test_an_entropic_portfolio_is_that_of_exponential_cones(theta: float) -> None:
    cp = pytest.importorskip("cvxpy")
    found = _portfolio(Entropic(theta)).solve(RETURNS, W, np.zeros(0))
    hold = cp.Variable(3, nonneg=True)
    risk = cp.log_sum_exp(-theta * (RETURNS @ hold) + np.log(W)) / theta
    cp.Problem(cp.Minimize(risk), [cp.sum(hold) == 1]).solve(solver="CLARABEL")
    assert found.status == Status.OPTIMAL
    assert float(found.value) == pytest.approx(float(risk.value), abs=2e-6)
    assert found.z == pytest.approx(hold.value, abs=5e-3)


@pytest.mark.parametrize("beta", [0.2, 0.6, 0.95])
def test_an_entropic_value_at_risk_is_that_of_its_other_form(beta: float) -> None:
    """min over t > 0 of t log(E exp(cost / t) / (1 - beta)), over decisions too."""
    from scipy.optimize import LinearConstraint, minimize
    from scipy.special import logsumexp

    found = _portfolio(EVaR(beta)).solve(RETURNS, W, np.zeros(0))

    def other(point: Array) -> float:
        t, costs = np.exp(point[2]), -RETURNS @ [*point[:2], 1.0 - point[:2].sum()]
        return float(t * (logsumexp(costs / t, b=W) - np.log1p(-beta)))

    held = LinearConstraint(np.array([[1.0, 1.0, 0.0]]), -np.inf, 1.0)
    bounds = [(0.0, 1.0), (0.0, 1.0), (-7.0, 7.0)]
    starts = ([0.3, 0.3, 0.0], [0.8, 0.1, -1.0], [0.1, 0.8, -2.0])
    tries = [
        minimize(other, np.array(start), bounds=bounds, constraints=held, tol=1e-12).fun
        for start in starts
    ]
    assert found.status == Status.OPTIMAL
    assert float(found.value) == pytest.approx(min(tries), abs=1e-5)


def test_many_scenarios_with_a_second_stage() -> None:
    """A grid of decisions is no better, and the best of it hardly worse."""
    scenarios = RNG.gamma(2.0, 1.5, (200, 1))

    @program(xi=1, risk=Entropic(0.5), build=real(upper=10), short=bocopt.recourse())
    def built(xi: Any, build: Any, short: Any) -> Any:
        return minimise(build + 3 * short), build + short >= xi[0]

    found = built.solve(scenarios, None, np.zeros(0))
    grid = np.linspace(0.0, 10.0, 401)
    paid = grid[:, None] + 3 * np.maximum(scenarios[:, 0] - grid[:, None], 0.0)
    values = Entropic(0.5).value(paid, np.full(200, 1 / 200))
    assert found.status == Status.OPTIMAL
    assert float(found.value) <= values.min() + 1e-6
    assert float(found.value) == pytest.approx(values.min(), abs=1e-3)


@dataclass(frozen=True)
class Boastful(Entropic):
    """One whose worst weights are those of the mean, which are too low."""

    def worst_weights(self, costs: Array, w: Array) -> tuple[Array, float]:
        """(s), (s) -> (s), ()."""
        return w, 0.0


@dataclass(frozen=True)
class NotConvex(Entropic):
    """One whose weights are right where they are asked, and no bound elsewhere."""

    def value(self, costs: Array, w: Array) -> Array:
        """(s), (s) -> (): more is better than the mean of all."""
        return np.asarray(2 * (w * costs).sum(axis=-1) - super().value(costs, w))

    def worst_weights(self, costs: Array, w: Array) -> tuple[Array, float]:
        """(s), (s) -> (s), ()."""
        return w, float(w @ costs - self.value(costs, w))


@pytest.mark.parametrize("risk", [Boastful(1.0), NotConvex(1.0)])
def test_weights_that_do_not_say_the_value_are_refused(risk: Risk) -> None:
    assert not solvable(risk)
    expected = r"'risk' parameter of program must be Expectation\(\).*`worst_weights`"
    with pytest.raises(ValueError, match=expected):
        _portfolio(risk)
    with pytest.raises(ValueError, match=expected):
        replace(_portfolio(Entropic(1.0)), risk=risk)


def test_cones_refuse_it_and_say_who_takes_it() -> None:
    cp = pytest.importorskip("cvxpy")
    said = (
        r"'risk' parameter of from_cvxpy .*`tail_means`.*`worst_weights` are for the cuts of prog"
    )
    with pytest.raises(ValueError, match=said):
        bocopt.problems.from_cvxpy(xi=2, z=cp.Variable(2), risk=Entropic(1.0))


def test_decisions_without_ends_are_named() -> None:
    @program(xi=1, risk=Entropic(1.0), trade=real(lower=-np.inf))
    def gamble(xi: Any, trade: Any) -> Any:
        return minimise(xi[0] * trade)

    with pytest.raises(ValueError, match=r"In the program 'gamble': The bounds of 'trade' must be"):
        gamble.solve(np.array([[1.0], [-2.0]]), None, np.zeros(0))
