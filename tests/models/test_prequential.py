"""The score and the levels of an outcome are those of what was predicted before it came."""

import numpy as np
import pytest
from mixtures import plain
from scipy.special import stdtr

from bocopt import Mixture
from bocopt.core import Array
from bocopt.models import ConstantVariance, Informed, Logarithmic, Plain, SharedPrior
from bocopt.models.mixture_state import MixtureState

BEFORE, LATE = 200, np.array([-0.5])


def _after(mixture: Mixture, outcomes: Array) -> MixtureState:
    state = mixture.init(np.array(0))
    for t, xi in enumerate(outcomes):
        state = mixture.step(state, t, np.zeros(0), xi)
    return state


def _lognormal(n: int = BEFORE, seed: int = 1) -> Array:
    return np.random.default_rng(seed).lognormal(1.0, 0.5, (n, 1))


def _two(**options: object) -> Mixture:
    """One law as outcomes are, and one of their logarithm."""
    return plain(
        dim_xi=1,
        members=[ConstantVariance()],
        discounts=[1.0],
        scales=[Plain(), Logarithmic()],
        **options,
    )


def test_laws_that_could_not_give_an_outcome_keep_their_weight_in_its_score() -> None:
    mixture = _two()
    before = _after(mixture, _lognormal())
    laws, _ = mixture._laws(before, np.zeros(0))
    w = np.exp(before.log_w)
    assert w[1] > 0.8  # of the logarithm, to which -0.5 is impossible
    found = mixture.step(before, BEFORE, np.zeros(0), LATE).info
    plain_density = laws.log_density(np.broadcast_to(LATE, (2, 1)))[0]
    assert found.mixture_score == pytest.approx(np.log(w[0]) + plain_density)
    below = stdtr(laws.df[0], (LATE[0] - laws.location[0, 0]) / laws.scale[0, 0])
    assert found.probability == pytest.approx([w[0] * below])
    assert found.weights == pytest.approx([0.995, 0.005])  # afterwards it has all but its share


def test_a_law_that_was_out_before_takes_no_part() -> None:
    """The past alone says so: what is left has a sum of 1."""
    outcomes = np.concatenate([_lognormal(), [LATE]])
    both, one = (
        _two(switch_rate=0.0),
        plain(dim_xi=1, members=[ConstantVariance()], discounts=[1.0]),
    )
    left, alone = _after(both, outcomes), _after(one, outcomes)
    xi = np.array([2.0])
    found, expected = (
        m.step(s, 201, np.zeros(0), xi).info for m, s in ((both, left), (one, alone))
    )
    assert found.mixture_score == pytest.approx(expected.mixture_score)
    assert found.probability == pytest.approx(expected.probability)


@pytest.mark.parametrize("calibrate", [False, True])
def test_scores_are_densities_whatever_comes(calibrate: bool) -> None:
    """Over all outcomes that could come next, below zero too, they add up to 1 at most.

    To a little less, as the little that a law has below the logarithm of 1 counts nowhere.
    """
    mixture = Mixture(dim_xi=1, scenarios=16, calibrate=calibrate)
    before = _after(mixture, _lognormal(60))
    edges = np.concatenate([-np.geomspace(1e4, 1e-6, 1500), np.geomspace(1e-6, 1e4, 1500)])
    middle = (edges[1:] + edges[:-1]) / 2
    scores = [
        mixture.step(before, 60, np.zeros(0), np.array([y])).info.mixture_score for y in middle
    ]
    total = float((np.exp(scores) * np.diff(edges)).sum())
    assert 0.99 < total < 1.0 + 1e-3


def test_levels_rise_with_the_outcome_across_zero() -> None:
    mixture = Mixture(dim_xi=1, scenarios=16)
    before = _after(mixture, _lognormal(60))
    outcomes = np.linspace(-5.0, 30.0, 400)
    levels = [
        mixture.step(before, 60, np.zeros(0), np.array([y])).info.probability[0] for y in outcomes
    ]
    assert (np.diff(levels) >= 0).all()


def test_an_outcome_that_no_law_could_give_is_an_error() -> None:
    mixture = plain(dim_xi=1, members=[ConstantVariance()], discounts=[1.0], scales=[Logarithmic()])
    with pytest.raises(RuntimeError, match="No member of the mixture can predict"):
        mixture.step(_after(mixture, _lognormal(20)), 20, np.zeros(0), LATE)


def test_what_a_fleet_adds_is_weighed_by_the_honest_score() -> None:
    """Of the stream's own mixture, and of the laws of the fleet that the past has ruled out."""
    prior = SharedPrior.of([(np.zeros((30, 0)), _lognormal(30, seed)) for seed in range(6)])
    own = _two()
    model, outcomes = Informed(prior, own), _lognormal()
    state = model.init(np.array(0))
    for t, xi in enumerate(outcomes):
        state = model.step(state, t, np.zeros(0), xi)
    after = model.step(state, BEFORE, np.zeros(0), LATE)
    honest = own.step(state.own, BEFORE, np.zeros(0), LATE).info.mixture_score
    assert after.info.log_score[0] == honest
    usable = np.isfinite(after.info.log_score)
    w = np.exp(state.log_w)
    joint = np.log(w[usable]) + after.info.log_score[usable]
    assert after.info.mixture_score == pytest.approx(np.logaddexp.reduce(joint))
    later = model.step(after, BEFORE + 1, np.zeros(0), np.array([1e9])).info
    assert later.probability == pytest.approx([1.0], abs=0.06)  # not short of what was ruled out
