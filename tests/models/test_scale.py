"""Scales: there and back, volumes, and outcomes that they are not meant for."""

import numpy as np
import pytest
from mixtures import plain

from bocopt.core import Array
from bocopt.models import ConstantVariance
from bocopt.models.scale import Logarithmic, Plain, Scale

RNG = np.random.default_rng(0)
X, XI = RNG.normal(size=(50, 3)), RNG.lognormal(2.0, 0.5, size=(50, 2))


@pytest.mark.parametrize("scale", [Plain(), Logarithmic(), Logarithmic(base=2.0)])
def test_there_and_back(scale: Scale) -> None:
    params = scale.fit(X, XI)
    for xi in XI:
        assert scale.inverse(params, scale.outcome(params, xi)) == pytest.approx(xi)


@pytest.mark.parametrize("scale", [Plain(), Logarithmic()])
def test_the_slope_is_that_of_the_outcome(scale: Scale) -> None:
    params, step = scale.fit(X, XI), 1e-6
    rise = (scale.outcome(params, XI[0] + step) - scale.outcome(params, XI[0])) / step
    assert scale.log_abs_det_jacobian(params, XI[0]) == pytest.approx(np.log(rise).sum(), abs=1e-5)


def test_contexts_are_bent_only_where_none_is_negative() -> None:
    x = np.abs(X)
    x[:, 1] = X[:, 1]
    scale = Logarithmic()
    seen = scale.context(scale.fit(x, XI), x[0])
    assert seen[1] == x[0, 1]
    assert (seen[[0, 2]] != x[0, [0, 2]]).all()


def test_scenarios_do_not_explode() -> None:
    scale = Logarithmic()
    params = scale.fit(X, XI)
    assert scale.inverse(params, np.full(2, 1e3)).max() < 1e3 * XI.max()


def _pairs(low: float) -> list[tuple[Array, Array]]:
    rng = np.random.default_rng(1)
    xs = rng.normal(size=(120, 1, 1))
    return [(x, np.exp(2.0 + x + 0.3 * rng.normal(size=(1, 2))) + low) for x in xs]


def _weights(low: float, late: float) -> Array:
    mixture = plain(
        dim_xi=2, members=[ConstantVariance()], discounts=[1.0], scales=[Plain(), Logarithmic()]
    )
    state = mixture.init(np.zeros(1, int))
    pairs = [*_pairs(low), (np.zeros((1, 1)), np.array([[late, 5.0]]))]
    for t, (x, xi) in enumerate(pairs):
        state = mixture.step(state, t, x, xi)
    assert np.isfinite(mixture.sample(state, np.zeros(1))[0]).all()
    weights: Array = state.info.weights[0]
    return weights


def test_outcomes_that_multiply_are_seen_as_such() -> None:
    assert _weights(low=0.0, late=5.0)[1] > 0.98


def test_a_negative_outcome_ends_the_logarithm() -> None:
    assert _weights(low=0.0, late=-1.0)[1] == pytest.approx(0.005)
    assert _weights(low=-50.0, late=-1.0)[1] == pytest.approx(0.005)


def test_names_say_the_scale() -> None:
    mixture = plain(
        dim_xi=1, members=[ConstantVariance()], discounts=[0.98], scales=[Plain(), Logarithmic()]
    )
    assert mixture.law_names[1] == "ConstantVariance, logarithmic, discount 0.98"


@pytest.mark.parametrize("base", [0.0, -1.0, np.inf])
def test_bad_bases_are_named(base: float) -> None:
    with pytest.raises(ValueError, match="'base' parameter of Logarithmic"):
        Logarithmic(base=base)
