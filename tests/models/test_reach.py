"""No scenario lies where the past does not support it, whatever the past and the members."""

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from mixtures import plain
from small_fleets import informed

from bocopt import Mixture
from bocopt.core import Array
from bocopt.models import ConstantVariance, LogVariance, Moments, RandomCoefficients, SharedPrior
from bocopt.models.design import RidgeFit
from bocopt.models.member import Fit
from bocopt.models.reach import within_reach
from bocopt.models.scale import Logarithmic, Plain


def _learned(model: Any, x: Array, xi: Array) -> Any:
    state = model.init(np.array(0))
    for t in range(len(x)):
        state = model.step(state, t, x[t], xi[t])
    return state


def _closed_days(seed: int, first: int = 40, until: int = 48) -> tuple[Array, Array]:
    """A shop that is closed for the first time: its mark was 0 so far, and then its sales are."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(until + 1, 2)) * [1.0, 0.0]
    x[[first, until], 1] = 1.0
    xi = np.exp(5.0 + 0.3 * x[:, :1] + 0.2 * rng.normal(size=(until + 1, 1)))
    xi[first] = 0.0
    return x, xi


@pytest.mark.parametrize("seed", range(4))
def test_a_closed_day_does_not_blow_up_the_next_one(seed: int) -> None:
    """Up to 7 times the largest sales so far were drawn, where the logarithm had most weight."""
    x, xi = _closed_days(seed)
    mixture = Mixture(dim_xi=1)
    drawn = mixture.sample(_learned(mixture, x[:-1], xi[:-1]), x[-1])[0]
    assert drawn.max() <= (2.0 + 4.0 / 48) * xi.max()


@pytest.mark.parametrize("lowest", [0.0, 0.01, 30.0, 99.0])
def test_the_logarithm_draws_no_further_than_a_range_beyond(lowest: float) -> None:
    """From outcomes of 0 and 100, it drew up to 458 or more."""
    xi = np.append(np.linspace(99.0, 100.0, 40), lowest)[:, None]
    scale = Logarithmic()
    params = scale.fit(np.zeros((41, 0)), xi)
    furthest = scale.inverse(params, np.array([1e3]))
    assert xi.max() < furthest[0] <= 100.0 + max(100.0 - lowest, 0.06 * 100.0) + 1e-9


class Wild(ConstantVariance):
    """Believes in anything."""

    def __init__(self, location: float, scale: float) -> None:
        object.__setattr__(self, "wild", (location, scale))

    def predict(self, fit: Fit, regression: RidgeFit, x: Array) -> Moments:
        found = super().predict(fit, regression, x)
        location, scale = vars(self)["wild"]
        return Moments(found.location + location, found.scale * scale)


PASTS = st.integers(1, 12).flatmap(
    lambda n: st.tuples(
        arrays(np.float64, (n, 2), elements=st.floats(-1e6, 1e6)),
        arrays(
            np.float64,
            (n, 2),
            elements=st.one_of(st.floats(-1e6, 1e6), st.floats(0, 1e6), st.integers(0, 9)),
        ),
        arrays(np.float64, 2, elements=st.floats(-1e6, 1e6)),
    )
)
LINES = (RandomCoefficients(), LogVariance(), ConstantVariance())


@pytest.mark.filterwarnings("ignore:.* is left out")  # a member that cannot fit says so
@given(
    past=PASTS,
    sign=st.sampled_from([0.0, 1.0]),
    wild=st.tuples(st.sampled_from([0.0, -1e9, 1e9]), st.sampled_from([1e-9, 1.0, 1e9])),
    scales=st.sampled_from([[Plain()], [Plain(), Logarithmic()]]),
    calibrate=st.booleans(),
)
@example(  # a mean so small that another outcome, divided by it, overflows
    past=(np.zeros((2, 2)), np.array([[0.0, 1.1e-308], [0.0, 1.0]]), np.zeros(2)),
    sign=0.0,
    wild=(0.0, 1e-9),
    scales=[Plain(), Logarithmic()],
    calibrate=False,
)
@settings(max_examples=60, deadline=None)
def test_scenarios_are_within_reach_whatever_the_past(
    past: Any, sign: float, wild: Any, scales: Any, calibrate: bool
) -> None:
    x, xi, here = past
    xi = np.where(sign, np.abs(xi), xi)
    members = [*LINES, Wild(*wild)]
    mixture = plain(dim_xi=2, members=members, scales=scales, calibrate=calibrate, scenarios=64)
    drawn = mixture.sample(_learned(mixture, x, xi), here)[0]
    low, high = within_reach(xi.min(axis=0), xi.max(axis=0) + 1.0, np.array(len(xi)))
    slack = 1e-9 * np.abs(xi).max() + 1.0  # counts are cut down
    assert (drawn >= low - slack).all()
    assert (drawn <= high + slack).all()


def test_a_past_of_one_outcome_is_little_support_and_a_long_one_is_much() -> None:
    """Normal outcomes: with few, the reach holds nearly all that come next; with many, all."""
    rng, runs = np.random.default_rng(0), 20_000
    for n in (1, 2, 5, 20, 100):
        xi = 10.0 + 3.0 * rng.normal(size=(runs, n, 1))
        low, high = within_reach(xi.min(axis=1), xi.max(axis=1), np.full(runs, n))
        following = 10.0 + 3.0 * rng.normal(size=(runs, 1))
        missed = ((following < low) | (following > high)).mean()
        assert missed <= (0.01 if n < 20 else 0.0005)


def test_what_a_fleet_draws_is_within_reach_of_it() -> None:
    """Of a fleet in which some shops were closed on some days."""
    rng = np.random.default_rng(3)
    shops = [
        (
            np.empty((30, 0)),
            np.where(rng.random((30, 1)) < 0.1, 0.0, rng.lognormal(3, 0.3, (30, 1))),
        )
        for _ in range(6)
    ]
    model = informed(SharedPrior.of(shops))
    most = max(float(xi.max()) for _, xi in shops)
    for n in (0, 1, 5):
        state = _learned(model, np.empty((n, 0)), shops[0][1][:n])
        assert model.sample(state, np.empty(0))[0].max() <= (2.0 + 4.0 / 180) * most
