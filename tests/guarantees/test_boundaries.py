"""The boundaries against published closed forms, computed independently with SciPy."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import gammainc, gammaln, log_ndtr

from bocopt.guarantees.boundaries import BERNSTEIN, HOEFFDING, empirical_bernstein, hoeffding

VALUES = (1.0, 10.0, 100.0, 1000.0, 1e4, 1e5)


@pytest.mark.parametrize("delta", [0.01, 0.05, 0.2])
def test_boundaries_are_where_the_mixture_reaches_its_level(delta: float) -> None:
    for boundary, mixture in ((hoeffding, HOEFFDING), (empirical_bernstein, BERNSTEIN)):
        for v, found in zip(VALUES, boundary(np.array(VALUES), delta), strict=True):
            exponents = (mixture.rates * x - mixture.psi * v for x in (found, 0.999 * found))
            above, below = (float((mixture.weights * np.exp(e)).sum()) for e in exponents)
            assert below < 1 / delta
            assert above == pytest.approx(1 / delta, rel=1e-6)
            assert above >= (1 - 1e-12) / delta  # on the safe side


def test_no_step_of_a_mixture_gains_on_average() -> None:
    """E exp(r (mean - x) - psi(r) v) <= 1 for one outcome: the lemmas, on two-point laws."""
    chance = np.linspace(0.01, 0.99, 99)[:, None]
    for predicted in (0.0, 0.3, 1.0):
        for mixture, v in (
            (HOEFFDING, (1.0, 1.0)),
            (BERNSTEIN, (predicted**2, (1.0 - predicted) ** 2)),
        ):
            gains = [np.exp(mixture.rates * (chance - x) - mixture.psi * v[x]) for x in (0, 1)]
            expected = (1 - chance) * gains[0] + chance * gains[1]
            assert (expected <= 1 + 1e-12).all()
            assert mixture.weights.sum() == pytest.approx(1.0)


def normal_mixture(v: float, delta: float, rho: float) -> float:
    """One-sided, for variance v: 2 sqrt(rho / (v + rho)) exp(s^2 / 2(v + rho)) Phi(s / ...)."""

    def excess(s: float) -> float:
        width = v + rho
        return float(
            np.log(2)
            + 0.5 * np.log(rho / width)
            + s**2 / (2 * width)
            + log_ndtr(s / np.sqrt(width))
            - np.log(1 / delta)
        )

    return float(brentq(excess, 0.0, 1e6))


def gamma_exponential(v: float, delta: float, rho: float) -> float:
    """For psi(r) = -log(1 - r) - r: the integral over r of a gamma-like density, in closed form."""

    def excess(s: float) -> float:
        top, bottom = s + v + rho, v + rho
        return float(
            rho * np.log(rho)
            - gammaln(rho)
            - np.log(gammainc(rho, rho))
            + gammaln(bottom)
            + np.log(gammainc(bottom, top))
            - bottom * np.log(top)
            + s
            + v
            - np.log(1 / delta)
        )

    return float(brentq(excess, 1e-9, 1e5))


def test_closed_forms_tuned_to_one_time_are_little_tighter_there_and_much_wider_elsewhere() -> None:
    """A variance of v / 4 is the most that squared ranges with sum v allow."""
    for v in VALUES[1:]:
        ours = float(hoeffding(np.array(v), 0.05))
        tuned, fixed = (normal_mixture(v / 4, 0.05, rho) for rho in (v / 4 / 5, 50.0))
        assert 1.0 < ours / tuned < 1.36
        assert ours < 1.25 * fixed
    early, late = (float(hoeffding(np.array(v), 0.05)) for v in (10.0, 1e5))
    assert early < 0.6 * normal_mixture(10.0 / 4, 0.05, 50.0)
    assert late < 1.1 * normal_mixture(1e5 / 4, 0.05, 50.0)


def test_empirical_bernstein_beside_the_gamma_exponential_mixture() -> None:
    for v in VALUES:
        ours = float(empirical_bernstein(np.array(v), 0.05))
        theirs = gamma_exponential(v, 0.05, rho=4.0)
        assert 0.75 < ours / theirs < 1.4


def test_nearly_as_tight_as_the_best_rate_at_every_time() -> None:
    for v in VALUES:
        best = np.sqrt(v * np.log(20) / 2)  # lam* for this very time
        assert 1.0 < hoeffding(np.array(v), 0.05) / best < 1.42
