"""The light mixture: its kernel beside plain numpy, and its law beside the truth."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import kstest

from bocopt.core import Array
from bocopt.models import LightMixture
from bocopt.models.kernels.light import histogram, layout, tails
from bocopt.models.light import LightState

MODEL = LightMixture()


def learned(x: Array, y: Array, model: LightMixture = MODEL) -> LightState:
    """After outcomes (T) or (T, m) under contexts (T, k)."""
    state = model.init(np.array(0))
    for t, (row, outcome) in enumerate(zip(x, y.reshape(len(y), -1), strict=True)):
        state = model.step(state, t, row, outcome)
    return state


def regressions(memory: Array, k: int) -> tuple[Array, Array, Array]:
    """(M, q) coefficients, (M, q, q) their variance, and (M) the noise, from the flat array."""
    q, start = k + 1, layout.places(k)[1]
    parts = memory[start:].reshape(-1, layout.MANY).T
    covariance = np.zeros((layout.MANY, q, q))
    rows, columns = np.tril_indices(q)
    covariance[:, rows, columns] = covariance[:, columns, rows] = parts[:, q:-2]
    return parts[:, :q], covariance, parts[:, -2]


class Readable:
    """The regressions as they are written down, one after the other, with whole matrices."""

    def __init__(self, k: int) -> None:
        q = k + 1
        diagonal = [np.r_[layout.DIFFUSE, np.full(k, 1 / ridge)] for ridge in layout.RIDGES[:-1]]
        self.b, self.p = np.zeros((layout.MANY, q)), np.stack([np.diag(d) for d in diagonal])
        self.most = np.stack(diagonal)
        self.noise, self.count = np.zeros(layout.MANY), np.zeros(layout.MANY)
        self.x: list[Array] = []
        self.centre, self.width, self.unit = np.zeros(k), np.full(k, np.inf), 0.0

    def step(self, x: Array, y: float) -> None:
        if not self.x:
            self.unit = layout.BASE * abs(y)
            self.noise[:] = (layout.GUESS * np.where(self._plain, abs(y), 1.0)) ** 2
            self.count[:] = layout.GUESS_COUNTS
            self.b[:, 0] = self._seen(y)
        phi = np.r_[1.0, np.clip((x - self.centre) / self.width, -layout.FURTHEST, layout.FURTHEST)]
        for law, seen in enumerate(self._seen(y)):
            tail, discount = layout.TAILS[law], layout.DISCOUNTS[law]
            toward = self.p[law] @ phi
            leverage, rest = phi @ toward, seen - self.b[law] @ phi
            error = rest / np.sqrt(self.noise[law] * (1 + leverage))
            weight = (tail + 1) / (tail + error**2)
            gain = 1 / (1 / weight + leverage)
            self.b[law] += gain * toward * rest
            self.p[law] = (self.p[law] - gain * np.outer(toward, toward)) / discount
            self.count[law] = discount * self.count[law] + 1
            new = weight * rest**2 / (1 + leverage)
            self.noise[law] += (new - self.noise[law]) / self.count[law]
            for i, most in enumerate(self.most[law]):
                shrunk = np.sqrt(min(most / self.p[law, i, i], 1.0))
                self.p[law, i] *= shrunk
                self.p[law, :, i] *= shrunk
        self.x.append(x)
        if len(self.x) in (4, 8, 16, 32, 64):
            self._standardise(np.stack(self.x))

    def _standardise(self, x: Array) -> None:
        centre, width, turned = x.mean(axis=0), x.std(axis=0), np.eye(len(self.b[0]))
        for j in np.flatnonzero(np.isfinite(self.width)):
            turned[0, j + 1] = (centre[j] - self.centre[j]) / self.width[j]
            turned[j + 1, j + 1] = width[j] / self.width[j]
        self.centre, self.width = centre, width
        self.b, self.p = self.b @ turned.T, turned @ self.p @ turned.T

    @property
    def _plain(self) -> Any:
        return np.arange(layout.MANY) < layout.PLAIN

    def _seen(self, y: float) -> Any:
        return np.where(self._plain, y, np.log1p(max(y, 0.0) / self.unit))


@pytest.mark.parametrize("shift", [0.0, 40.0])
def test_regressions_are_those_that_are_written_down(shift: float) -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(130, 3)) * [1.0, 5.0, 0.2] + [0.0, 20.0, 1.0]
    y = shift + x @ [2.0, -1.0, 8.0] + rng.standard_t(3, size=130)
    readable = Readable(3)
    state = MODEL.init(np.array(0))
    for t in range(130):
        readable.step(x[t], y[t])
        state = MODEL.step(state, t, x[t], y[t : t + 1])
        if t in (0, 3, 4, 15, 64, 129):
            b, p, noise = regressions(state.memory[0], 3)
            assert b == pytest.approx(readable.b, rel=1e-7, abs=1e-9)
            assert p == pytest.approx(readable.p, rel=1e-7, abs=1e-12)
            assert noise == pytest.approx(readable.noise, rel=1e-9)


@pytest.mark.parametrize("tail", [2.0, 4.0, layout.MANY_DF])
def test_densities_and_levels_are_those_of_student(tail: float) -> None:
    from scipy.stats import norm, t

    law = norm if tail == layout.MANY_DF else t(tail)
    for error in (-30.0, -2.0, -0.1, 0.0, 1.3, 8.0):
        assert tails.density(tail, error) == pytest.approx(law.logpdf(error), abs=1e-12)
        assert tails.below(tail, error) == pytest.approx(law.cdf(error), abs=1e-12)
    found = tails.QUANTILES[list(layout.TAILS).index(tail)]
    assert found == pytest.approx(law.ppf(layout.MIDDLES), rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("lowest", [0.0, -50.0])
def test_a_histogram_has_all_outcomes_and_a_density(lowest: float) -> None:
    rng = np.random.default_rng(3)
    memory = np.zeros(layout.size_of(0))
    layout.begin(memory, 0)
    outcomes = np.abs(rng.standard_t(2, size=400)) * 7 + lowest
    for y in outcomes:
        histogram.binned(memory, y, False)
    origin, width = memory[layout.ORIGIN], memory[layout.WIDTH]
    edges = origin + width * np.arange(layout.BINS + 1)
    counts = memory[layout.COUNTS : layout.COUNTS + layout.BINS]
    assert (counts == np.histogram(outcomes, edges)[0]).all()
    middles = edges[:-1] + width / 2
    mass = [np.exp(histogram.bin_density(memory, y)) * width for y in middles]
    assert sum(mass) == pytest.approx(1.0)
    assert [histogram.bin_below(memory, y) for y in edges] == pytest.approx([0.0, *np.cumsum(mass)])
    walk = np.zeros(2)
    found = [histogram.bin_quantile(memory, level, walk) for level in layout.MIDDLES]
    assert [histogram.bin_below(memory, y) for y in found] == pytest.approx(layout.MIDDLES)


def _normal(rng: Any, x: Array) -> Array:
    return np.asarray(20 + 3 * x[:, 0] + rng.normal(size=len(x)))


def _counts(rng: Any, x: Array) -> Array:
    return np.asarray(rng.poisson(np.exp(1.0 + 0.3 * x[:, 0])).astype(float))


def _zeros(rng: Any, x: Array) -> Array:
    rain = rng.gamma(2.0, 3.0, size=len(x))
    return np.asarray(np.where(rng.random(len(x)) < 1 / (1 + np.exp(1.5 * x[:, 0])), 0.0, rain))


def _modes(rng: Any, x: Array) -> Array:
    return np.asarray(np.where(rng.random(len(x)) < 0.4, 10.0, 30.0) + rng.normal(size=len(x)))


LAWS = {"normal": _normal, "counts": _counts, "zeros": _zeros, "modes": _modes}


@pytest.mark.parametrize("name", LAWS)
def test_levels_are_uniform_and_quantiles_hold(name: str) -> None:
    """400 streams of one law; the last 60 of 300 stages are judged."""
    rng, streams, stages = np.random.default_rng(5), 400, 300
    x = rng.normal(size=(stages, streams, 2))
    y = np.stack([LAWS[name](rng, row) for row in x])
    state, levels, covered = MODEL.init(np.arange(streams)), [], []
    for t in range(stages):
        if t >= stages - 60:
            scenarios, w = MODEL.sample(state, x[t])
            under = (w * (scenarios[..., 0] < y[t][:, None])).sum(axis=-1)
            covered.append([under < u for u in (0.1, 0.5, 0.9)])
        state = MODEL.step(state, t, x[t], y[t][:, None])
        levels.append(state.info.probability[:, 0])
    seen = np.concatenate(levels[-60:])
    within = 0.03 if name in ("normal", "zeros") else 0.05  # no law of ours is theirs
    assert kstest(seen, "uniform").statistic < within
    below = np.mean(covered, axis=(0, 2))
    assert (below >= np.array([0.1, 0.5, 0.9]) - within).all()
    if name in ("normal", "modes"):  # others have atoms
        assert (below <= np.array([0.1, 0.5, 0.9]) + within).all()


def test_zeros_are_as_probable_as_they_are() -> None:
    rng = np.random.default_rng(7)
    x = rng.normal(size=(800, 2))
    y = _zeros(rng, x)
    state = learned(x, y)
    for value in (-1.5, 0.0, 1.5):
        scenarios, w = MODEL.sample(state, np.array([value, 0.0]))
        truth = 1 / (1 + np.exp(1.5 * value))
        assert w[scenarios[:, 0] == 0].sum() == pytest.approx(truth, abs=0.08)
        assert scenarios.min() >= 0


def test_scenarios_are_sorted_whole_where_outcomes_were_and_weigh_one() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=(50, 1))
    scenarios, w = MODEL.sample(learned(x, _counts(rng, x)), x[0])
    assert (np.diff(scenarios[:, 0]) >= 0).all()
    assert (scenarios == np.floor(scenarios)).all()
    assert w.min() >= 0
    assert w.sum() == pytest.approx(1.0)


def test_components_have_laws_of_their_own() -> None:
    rng = np.random.default_rng(4)
    model, x = LightMixture(dim_xi=2), rng.normal(size=(200, 1))
    y = np.stack([10 + x[:, 0] + rng.normal(size=200), 50 + 5 * rng.normal(size=200)], axis=1)
    scenarios, w = model.sample(learned(x, y, model), np.array([1.0]))
    assert (w == 1 / 256).all()
    assert scenarios.mean(axis=0) == pytest.approx([11.0, 50.0], abs=0.8)
    assert float(np.asarray(np.corrcoef(scenarios.T))[0, 1]) == pytest.approx(0.0, abs=0.1)


def test_a_stream_takes_less_than_ten_kilobytes() -> None:
    state = learned(np.ones((3, 12)), np.array([3.0, 4.0, 5.0]))
    assert state.memory.nbytes <= 10_000


@pytest.mark.parametrize(
    "outcomes",
    [
        np.zeros(40),
        np.full(40, 7.0),
        np.r_[np.full(20, 5.0), 1e120, np.full(20, 5.0)],
        np.r_[np.zeros(20), -3.0, np.zeros(20)],
        np.arange(40) * -1e-120,
        np.r_[1e-140, np.linspace(1, 2, 39)],
    ],
    ids=["zeros", "constant", "far", "negative at last", "tiny", "tiny, then not"],
)
def test_odd_outcomes_leave_finite_scenarios(outcomes: Array) -> None:
    rng = np.random.default_rng(6)
    x = rng.normal(size=(len(outcomes), 2))
    state = MODEL.init(np.array(0))
    for t, y in enumerate(outcomes):
        state = MODEL.step(state, t, x[t], np.array([y]))
        scenarios, w = MODEL.sample(state, x[t])
        assert np.isfinite(scenarios).all()
        assert np.isfinite(w).all()
        assert w.sum() == pytest.approx(1.0)


def test_a_context_of_another_length_is_an_error() -> None:
    state = learned(np.ones((2, 3)), np.array([1.0, 2.0]))
    with pytest.raises(ValueError, match="of the same length as before"):
        MODEL.step(state, 2, np.ones(2), np.ones(1))


@pytest.mark.parametrize("y", [-1e300, -1e19, -2.5, -0.5, 0.0, 0.99, 3.0, 2.0**52 + 1, 1e19, 1e300])
def test_whole_numbers_are_found_beyond_those_of_64_bits(y: float) -> None:
    assert layout.floored(y) == np.floor(y)
