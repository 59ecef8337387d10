"""Calibrated priors, and bad input to the exact sampler."""

import re
from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np
import pytest
from posteriors import (
    PREDICTOR,
    REGRET,
    Quadratic,
    after,
    knapsack,
    learned,
    outcomes,
)

from bocopt.beliefs import (
    AdaHedge,
    Belief,
    CrankNicolson,
    EllipticalSlice,
    FittedCrankNicolson,
    Fixed,
    RandomWalk,
    SafeGrid,
    for_horizon,
)
from bocopt.core import Array
from bocopt.paper import Calibrated, GibbsPosterior, Linear, PaperStream

CALIBRATED: Any = Calibrated(PREDICTOR)
BATCH = np.array([0]), np.zeros((3, 3)), np.ones((3, 12))


def seen() -> Belief:
    """A belief after one stage."""
    sampler = knapsack()
    return sampler.step(sampler.init(np.array(0)), 0, np.zeros(3), np.ones(12))


def test_a_calibrated_prior_predicts_the_spread_of_the_outcomes() -> None:
    seeds = np.array([1, 2])
    sampler = knapsack(prior=Calibrated(PREDICTOR, warm_up=10), size=2000, lam=1e-9)
    belief, x, xi = after(sampler, 12, seeds)
    predicted = PREDICTOR.sample(
        belief.theta[:, :, None, :], x[:10].swapaxes(0, 1)[:, None], np.empty(0)
    )
    wanted = xi[:10].var(axis=0).mean(axis=-1)
    assert predicted.var(axis=(1, 2)).mean(axis=-1) == pytest.approx(wanted, rel=0.25)
    assert predicted.mean(axis=(1, 2)) == pytest.approx(xi[:10].mean(axis=0), abs=0.05)
    assert (belief.width < 0.5).all()


def test_calibration_ends_with_the_warm_up() -> None:
    sampler, seeds = knapsack(prior=Calibrated(PREDICTOR, warm_up=5)), np.array([1])
    widths = []
    belief = sampler.init(seeds)
    for t, (x, xi) in enumerate(islice(PaperStream().stages(seeds), 8)):
        belief = sampler.step(belief, t, x, xi)
        widths.append(float(belief.width[0]))
    assert widths[:2] == [0.15, 0.15]
    assert len(set(widths[2:5])) == 3
    assert len(set(widths[4:])) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lam": 0.0}, "'lam' parameter of ResampleMove must be a number in (0, inf)"),
        ({"size": 1}, "'size'"),
        ({"threshold": 1.0}, "'threshold'"),
        ({"sweeps": 0}, "'sweeps'"),
        ({"chain_length": 7}, "a divisor of size = 20"),
        ({"chain_length": 5, "kernel": RandomWalk()}, "at most size / 48 with RandomWalk"),
        ({"discount": 1.1}, "'discount'"),
        ({"threads": 0}, "'threads'"),
        ({"window": 0}, "'window'"),
        ({"switch_rate": 1.0}, "'switch_rate'"),
        ({"kernel": 3}, "'kernel'"),
        ({"threshold": 0.05}, "never moved"),
    ],
    ids=str,
)
def test_bad_arguments_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        knapsack(**options)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: AdaHedge(0.0), "'complexity' parameter of AdaHedge"),
        (lambda: AdaHedge(1.0, largest=np.inf), "'largest' parameter of AdaHedge"),
        (lambda: Fixed(-1.0), "'lam' parameter of Fixed"),
        (lambda: for_horizon(0, 1.0), "'horizon' parameter of for_horizon"),
        (lambda: for_horizon(10, 1.0, 1.0), "'delta' parameter of for_horizon"),
        (lambda: EllipticalSlice(tries=0), "'tries' parameter of EllipticalSlice"),
        (lambda: CrankNicolson(first_scale=2.0), "'first_scale' parameter of CrankNicolson"),
        (lambda: RandomWalk(wanted=np.nan), "'wanted' parameter of RandomWalk"),
        (lambda: FittedCrankNicolson(wanted=0), "'wanted' parameter of FittedCrankNicolson"),
        (lambda: GibbsPosterior(prior=CALIBRATED, loss=REGRET, lam=1.0), "'prior'"),
        (lambda: knapsack(lam=AdaHedge(1.0)).fit(*BATCH), "'lam' parameter of ResampleMove.fit"),
        (
            lambda: knapsack(switch_rate=0.1).fit(*BATCH),
            "'switch_rate' parameter of ResampleMove.fit",
        ),
        (lambda: knapsack().fit(np.array([0]), np.zeros((3, 3)), np.ones(12)), "'xi'"),
        (lambda: knapsack().step(seen(), 1, np.full(3, np.nan), np.ones(12)), "'x'"),
        (lambda: knapsack().step(seen(), 1, np.zeros(3), np.ones(1)), "'xi'"),
        (lambda: SafeGrid(knapsack(), []), "'lams' parameter of SafeGrid"),
        (lambda: SafeGrid(knapsack(), [0.0]), "'lams' parameter of SafeGrid"),
        (lambda: Calibrated(PREDICTOR, warm_up=2), "'warm_up' parameter of Calibrated"),
        (lambda: Calibrated(PREDICTOR, stretch=0.0), "'stretch' parameter of Calibrated"),
        (lambda: Calibrated(PREDICTOR, first=[np.nan]), "'first' parameter of Calibrated"),
        (lambda: knapsack().fit(np.array([0]), np.zeros((3, 3)), np.full((3, 12), np.nan)), "'xi'"),
        (lambda: knapsack().fit(np.array([0]), np.zeros((2, 3)), np.ones((3, 12))), "'x'"),
        (lambda: knapsack().fit(np.array([0]), np.zeros((0, 3)), np.ones((0, 12))), "'xi'"),
    ],
)
def test_bad_input_is_named(wrong: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        wrong()


def test_a_loss_that_is_not_finite_is_refused() -> None:
    class Broken(Quadratic):
        def __call__(self, theta: Array, x: Array, xi: Array, u: Array) -> Array:
            return np.full(theta.shape[:-1], np.nan)

    with pytest.raises(ValueError, match="The loss Broken must be finite"):
        learned(outcomes(1, 1, 2), lam=0.1, loss=Broken())


class Edge(Quadratic):
    """Not a number for proposals far out, which no first particle is."""

    def __call__(self, theta: Array, x: Array, xi: Array, u: Array) -> Array:
        loss = super().__call__(theta, x, xi, u)
        return np.where(theta[..., 0] > 3.5, np.nan, loss)


class Liar(Quadratic):
    """Below what it declares."""

    lower = 100.0


@pytest.mark.parametrize(
    ("loss", "message"), [(Edge(), "must be finite"), (Liar(), "below its declared lower bound")]
)
def test_a_loss_that_breaks_its_word_in_a_move_is_refused(loss: Quadratic, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        learned(outcomes(40, 1, 2) + 4.0, lam=1.0, size=50, loss=loss)


def test_calibration_does_not_depend_on_units() -> None:
    """The predictions of the prior spread as xi does, whatever xi is measured in."""
    rng = np.random.default_rng(1)
    x, xi = rng.normal(size=(20, 2)), rng.normal(5.0, 1.0, (20, 3))
    predictor = Linear(2, 3)
    widths = []
    for unit in (1e-4, 1.0, 1e4):
        _, width = Calibrated(predictor, stretch=2.0).fit(x, unit * xi)
        widths.append(float(width) / unit)
    assert widths == pytest.approx([widths[1]] * 3, rel=1e-3)
    _, half = Calibrated(predictor, stretch=1.0).fit(x, xi)
    assert widths[1] == pytest.approx(2 * half, rel=1e-3)


def test_a_first_guess_is_where_calibration_starts() -> None:
    guess = np.linspace(0.5, 1.5, 12)
    mean, _ = Calibrated(PREDICTOR, first=guess.tolist()).fit(np.zeros((0, 3)), np.zeros((0, 12)))
    assert PREDICTOR.sample(mean, np.ones(3), np.empty(0)) == pytest.approx(guess)


def test_a_batch_is_calibrated_on_its_first_outcomes() -> None:
    sampler, seeds = knapsack(prior=Calibrated(PREDICTOR, warm_up=5)), np.array([1])
    belief, x, xi = after(sampler, 12, seeds)
    fitted = sampler.fit(seeds, x.swapaxes(0, 1), xi.swapaxes(0, 1))
    assert fitted.width == pytest.approx(belief.width)
