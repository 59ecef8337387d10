"""Ends that outcomes lie between: said to the mixture, or declared by the problem."""

from typing import Any

import numpy as np
import pytest
from mixtures import plain

from bocopt import Ensemble, minimise, program, real
from bocopt.models import ConstantVariance, Mixture

OUTCOMES = np.random.default_rng(0).normal([1.0, 3.0], 1.0, (40, 2))


def _scenarios(**options: Any) -> np.ndarray:
    mixture = plain(dim_xi=2, members=[ConstantVariance()], **options)
    state = mixture.init(np.array(0))
    for t, xi in enumerate(OUTCOMES):
        state = mixture.step(state, t, np.zeros(0), xi)
    return mixture.sample(state, np.zeros(0))[0]


def test_scenarios_lie_in_the_support() -> None:
    free, bound = _scenarios(), _scenarios(support=(0, [2, np.inf]))
    assert (bound == np.clip(free, 0.0, [2.0, np.inf])).all()
    assert free[:, 0].min() < 0.0
    assert free[:, 0].max() > 2.0


def test_a_support_may_be_wider_than_the_past() -> None:
    """Without one, scenarios keep the sign that outcomes had."""
    assert _scenarios()[:, 1].min() >= 0.0
    assert _scenarios(support=(-np.inf, np.inf))[:, 1].min() < 0.0


def test_an_ensemble_is_told_by_the_problem() -> None:
    @program(xi=2, support=([0, 1], 8), order=real(2, upper=9))
    def shop(xi: Any, order: Any) -> Any:
        return minimise(order.sum()), order >= xi

    assert shop.support == ((0.0, 1.0), (8.0, 8.0))
    model = Ensemble(shop).model
    assert isinstance(model, Mixture)
    assert model.support == shop.support


@pytest.mark.parametrize(
    "support", [(1, 0), (0, 0), (0,), 3, (0, np.nan), ([0, 0, 0], 1), ("a", "b"), (0, 1, 2)]
)
def test_bad_ends_are_named(support: Any) -> None:
    with pytest.raises(ValueError, match="'support' parameter of Mixture must be two ends"):
        plain(dim_xi=2, support=support)
    with pytest.raises(ValueError, match="'support' parameter of program must be two ends"):
        program(xi=2, support=support, z=real())
