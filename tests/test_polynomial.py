"""The polynomial stream against its formula, and its noise against its law."""

from itertools import islice
from typing import Any

import numpy as np
import pytest

from bocopt.streams.polynomial import PolynomialCosts


@pytest.mark.parametrize("degree", [1, 4, 8])
def test_without_noise_it_is_the_formula(degree: int) -> None:
    stream = PolynomialCosts(degree=degree, dim_x=4, dim_xi=7)
    for x, xi in islice(stream.stages(np.arange(3)), 5):
        inner = x @ stream.matrix.T.astype(float) / 2.0 + 3
        assert xi == pytest.approx((inner**degree + 1) / 3.5**degree, rel=1e-12)


def test_contexts_are_normal_and_flips_are_fair() -> None:
    x = np.stack([x for x, _ in islice(PolynomialCosts().stages(np.arange(200)), 50)])
    assert x.mean() == pytest.approx(0, abs=0.02)
    assert x.std() == pytest.approx(1, abs=0.02)
    flips = [PolynomialCosts(law=law).matrix for law in range(50)]
    assert np.mean(flips) == pytest.approx(0.5, abs=0.02)
    assert (flips[0] != flips[1]).any()


def test_noise_multiplies_by_a_uniform_number_around_one() -> None:
    noisy, plain = PolynomialCosts(degree=3, half_width=0.5), PolynomialCosts(degree=3)
    pairs = zip(noisy.stages(np.arange(100)), plain.stages(np.arange(100)), strict=True)
    factor = np.sort(np.concatenate([a[1] / b[1] for a, b in islice(pairs, 5)], axis=None))
    assert np.abs(factor - np.linspace(0.5, 1.5, factor.size)).max() < 0.02


def test_the_law_is_that_of_the_outcomes_and_its_middle_is_the_mean() -> None:
    stream = PolynomialCosts(degree=5, half_width=0.5)
    x = np.array([0.3, -1.0, 0.5, 2.0, 0.1])
    u = np.random.default_rng(0).normal(size=(40_000, 40))
    middle = stream.sample_given(x, np.zeros(40))
    assert (stream.sample_given(x, u).mean(axis=0) / middle) == pytest.approx(np.ones(40), abs=0.01)


@pytest.mark.parametrize(
    "wrong", [{"degree": 0}, {"half_width": 1.5}, {"dim_x": 0}, {"dim_xi": 0.5}, {"law": -1}]
)
def test_bad_arguments_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"'{next(iter(wrong))}' parameter of PolynomialCosts"):
        PolynomialCosts(**wrong)
