"""Laws with heavy tails: as wide as their own errors say, and believed where outcomes have them."""

import numpy as np
import pytest
from mixtures import plain

from bocopt.core import Array
from bocopt.models import ConstantVariance
from bocopt.models.mixture_state import MixtureState
from bocopt.models.tails import Tail

TAILS = [60.0, 4.0]


def _learned(errors: Array) -> MixtureState:
    """(n, 3): trials that differ in nothing but their outcomes."""
    mixture = plain(dim_xi=1, members=[ConstantVariance()], discounts=[1.0], tails=TAILS)
    state = mixture.init(np.arange(3))
    for t, xi in enumerate(errors):
        state = mixture.step(state, t, np.zeros((3, 0)), xi[:, None])
    return state


@pytest.mark.parametrize(("df", "law"), [(3.0, 1), (200.0, 0)])
def test_tails_are_found(df: float, law: int) -> None:
    state = _learned(np.random.default_rng(0).standard_t(df, (600, 3)))
    assert (state.info.weights[:, law] > 0.5).all()


def test_a_heavy_law_is_as_wide_as_the_middle_of_outcomes_says() -> None:
    """Of a t law with 4 degrees of freedom and scale 1, the variance is 2."""
    state = _learned(np.random.default_rng(1).standard_t(4.0, (1200, 3)))
    squared = state.widths.square(np.array(TAILS))
    assert (squared[:, 0] == 1.0).all()
    assert squared[:, 1] == pytest.approx(0.5, abs=0.15)


def test_where_outcomes_are_normal_it_is_a_little_narrower_than_the_light_one() -> None:
    """0.69 is the scale, squared, of the likeliest t law with 4 degrees of freedom."""
    state = _learned(np.random.default_rng(2).normal(size=(1200, 3)))
    assert state.widths.square(np.array(TAILS))[:, 1] == pytest.approx(0.69, abs=0.12)


def test_names_say_the_tails() -> None:
    mixture = plain(dim_xi=1, members=[ConstantVariance()], discounts=[0.98], tails=TAILS)
    assert mixture.law_names[1] == "ConstantVariance, discount 0.98, df 4"


@pytest.mark.parametrize("tails", [[0.5], [], ["heavy"], [np.inf]])
def test_bad_tails_are_named(tails: list[float]) -> None:
    with pytest.raises(ValueError, match="'tails' parameter of Mixture"):
        plain(dim_xi=1, tails=tails)


@pytest.mark.parametrize("df", [1.0, 4.0, 30.0])
def test_the_formulas_of_a_tail_are_those_of_student(df: float) -> None:
    """Each from another one: densities by slopes of levels, weights by slopes of densities."""
    from scipy.stats import t

    tail, errors, step = Tail(np.array(df)), np.array([-9.0, -0.4, 0.1, 3.0]), 1e-5
    density = np.exp([tail.log_density(e**2, 1, np.array(0.0)) for e in errors])
    slope = (tail.below(errors + step) - tail.below(errors - step)) / (2 * step)
    assert tail.below(errors) == pytest.approx(t(df).cdf(errors), abs=1e-12)
    assert density == pytest.approx(slope, rel=1e-6)
    ends = [tail.log_density((errors + by) ** 2, 1, np.array(0.0)) for by in (step, -step)]
    assert tail.weight(errors) == pytest.approx((ends[1] - ends[0]) / (2 * step * errors), rel=1e-4)
    normal: Array = np.random.default_rng(0).normal(size=40_000)
    uniform: Array = np.linspace(0.0, 1.0, 40_002)[1:-1]
    drawn = normal * Tail(np.full(40_000, df)).heaviness(uniform)
    assert np.mean(drawn[:, None] < errors, axis=0) == pytest.approx(t(df).cdf(errors), abs=0.01)
