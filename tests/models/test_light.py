"""The light mixture: its kernel beside plain numpy, and its law beside the truth."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import kstest

from bocopt.core import Array
from bocopt.models import LightMixture
from bocopt.models.kernels.light import given, histogram, layout, tails
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
    """The regressions as they are written down, one after the other, with whole matrices.

    The first of its contexts is a switch, the second like outcomes, others any numbers.
    """

    def __init__(self, k: int) -> None:
        q = k + 1
        self.switch = np.r_[True, np.zeros(k - 1, bool)]
        ridges = np.where(self.switch, layout.SWITCH_RIDGES[:, None], layout.RIDGES[:, None])
        self.most = np.concatenate([np.full((layout.MANY, 1), layout.LEVEL), 1 / ridges], axis=1)
        self.b, self.p = np.zeros((layout.MANY, q)), np.stack([np.diag(d) for d in self.most])
        self.noise, self.count = np.zeros(layout.MANY), np.full(layout.MANY, layout.GUESS_COUNTS)
        self.x: list[Array] = []
        self.centre, self.width, self.unit = np.zeros(k), np.full(k, np.inf), 0.0

    def contexts(self, law: int, x: Array) -> Array:
        """(1, x) as a regression sees it."""
        seen = (x - self.centre) / self.width
        if law >= layout.PLAIN and self.x:
            size = self.unit + self.centre[1]
            seen[1] = np.log((self.unit + x[1]) / size) * size / self.width[1]
        return np.asarray(np.r_[1.0, np.clip(seen, -layout.FURTHEST, layout.FURTHEST)])

    def step(self, x: Array, y: float) -> None:
        if not self.x:
            self.unit = layout.BASE * abs(y)
            self.noise[:] = (layout.GUESSES * np.where(self._plain, abs(y), 1.0)) ** 2
            self.b[:, 0] = self._seen(y)
        else:
            for law, seen in enumerate(self._seen(y)):
                self._learn(law, self.contexts(law, x), seen)
        self.x.append(x)
        if len(self.x) in (1, 2, 4, 8, 16, 32, 64):
            self._standardise(np.stack(self.x))

    def _learn(self, law: int, phi: Array, seen: float) -> None:
        tail, discount = layout.TAILS[law], layout.DISCOUNTS[law]
        toward = self.p[law] @ phi
        leverage, rest = phi @ toward, seen - self.b[law] @ phi
        error = rest / np.sqrt(self.noise[law] * (1 + leverage))
        weight = (tail + 1) / (tail + error**2)
        gain = 1 / (1 + (1 / weight - 1) / (1 + leverage) + leverage)
        self.b[law] += gain * toward * rest
        self.p[law] = (self.p[law] - gain * np.outer(toward, toward)) / discount
        self.count[law] = discount * self.count[law] + 1
        new = weight * rest**2 / (1 + leverage)
        self.noise[law] += (new - self.noise[law]) / self.count[law]
        for i, most in enumerate(self.most[law]):
            shrunk = np.sqrt(min(most / self.p[law, i, i], 1.0))
            self.p[law, i] *= shrunk
            self.p[law, :, i] *= shrunk

    def _standardise(self, x: Array) -> None:
        """Contexts in new units, and regressions that say the same."""
        n, mean, width = len(x), x.mean(axis=0), x.std(axis=0)
        unsure = max(layout.LAST_WIDTHS - n, 0) / (layout.LAST_WIDTHS + 8 * n)
        width[1] = np.sqrt(width[1] ** 2 + unsure * mean[1] ** 2)
        width[2:] = width[2:] if n >= layout.FIRST_WIDTHS else np.inf
        before, was = self.centre, self.width
        self.centre = np.where(self.switch, 0.0, mean)
        self.width = np.where(self.switch, 1.0, width)
        if n == 1:
            return
        known = np.isfinite(was)
        for law in range(layout.MANY):
            shift = np.where(known, (self.centre - before) / was, 0.0)
            stretch = np.where(known, self.width, 1.0) / np.where(known, was, 1.0)
            if law >= layout.PLAIN:
                old, new = self.unit + before[1], self.unit + self.centre[1]
                shift[1] = np.log(new / old) * old / was[1]
                stretch[1] = (self.width[1] / new) / (was[1] / old)
            turned = np.diag(np.r_[1.0, stretch])
            turned[0, 1:] = shift
            self.b[law] = turned @ self.b[law]
            self.p[law] = turned @ self.p[law] @ turned.T

    @property
    def _plain(self) -> Any:
        return np.arange(layout.MANY) < layout.PLAIN

    def _seen(self, y: float) -> Any:
        return np.where(self._plain, y, np.log1p(max(y, 0.0) / self.unit))


@pytest.mark.parametrize("shift", [65.0, 110.0])
def test_regressions_are_those_that_are_written_down(shift: float) -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(130, 3)) * [0.0, 5.0, 0.2] + [0.0, 20.0, -3.0]
    x[:, 0] = rng.integers(0, 2, 130)
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


@pytest.mark.parametrize("tail", sorted(set(layout.TAILS.tolist())))
def test_densities_and_levels_are_those_of_student(tail: float) -> None:
    from scipy.stats import t

    law = t(tail)
    for error in (-30.0, -2.0, -0.1, 0.0, 1.3, 8.0):
        assert tails.density(tail, error) == pytest.approx(law.logpdf(error), abs=1e-12)
        assert tails.below(tail, error) == pytest.approx(law.cdf(error), abs=1e-12)
        if error:  # an outcome counts as in a normal law by the slope of its log density
            slope = (law.logpdf(error + 1e-5) - law.logpdf(error - 1e-5)) / 2e-5
            assert tails.weight(tail, error) == pytest.approx(-slope / error, rel=1e-6)
    found = tails.QUANTILES[list(layout.TAILS).index(tail)]
    assert found == pytest.approx(law.ppf(layout.MIDDLES), rel=1e-6, abs=1e-12)


def test_a_tail_without_formulas_is_refused() -> None:
    """With 8 in `TAILS`, all formulas silently took it for 4."""
    with pytest.raises(ValueError, match=r"degrees of freedom of \(2.0, 4.0\).* Got \[8.0\]"):
        tails.checked(np.array([4.0, 8.0]))


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


def test_a_context_that_is_missing_stands_at_its_mean() -> None:
    rng = np.random.default_rng(8)
    x = rng.normal(size=(60, 2)) + np.array([30.0, 0.0])
    state = learned(x, x @ [2.0, 1.0] + rng.normal(size=60))
    missing = MODEL.sample(state, np.array([np.nan, 0.5]))
    mean = MODEL.sample(state, np.array([x[:, 0].mean(), 0.5]))
    assert missing[0] == pytest.approx(mean[0])
    later = MODEL.step(state, 60, np.array([np.nan, 0.5]), np.array([61.0]))
    assert np.isfinite(later.memory).all()
    assert MODEL.sample(later, x[0])[0] == pytest.approx(MODEL.sample(state, x[0])[0], rel=0.1)


def test_a_switch_that_is_seen_late_is_learned_at_once() -> None:
    """One day of a promotion tells that the next one will be like it."""
    rng = np.random.default_rng(9)
    x = np.c_[rng.integers(0, 2, 300), np.zeros(300)].astype(float)
    y = 50 + 5 * x[:, 0] + rng.normal(size=300)
    x[[250, 270], 1], y[[250, 270]] = 1.0, y[[250, 270]] + 100.0
    state = learned(x[:270], y[:270])
    scenarios, w = MODEL.sample(state, x[270])
    assert (w * scenarios[:, 0]).sum() == pytest.approx(y[270], abs=30)
    scenarios, w = MODEL.sample(state, x[269])
    assert (w * scenarios[:, 0]).sum() == pytest.approx(y[269], abs=4)


def test_scales_are_those_of_the_first_outcome_that_is_not_zero() -> None:
    """A product that is not sold at first, in millions or in millionths."""
    rng = np.random.default_rng(10)
    x, y = rng.normal(size=(60, 1)), np.r_[np.zeros(20), 10 + rng.normal(size=40)]
    _, w = MODEL.sample(learned(x, 1e6 * y), x[0])
    for size in (1e6, 1e-6):
        scenarios, found = MODEL.sample(learned(x, size * y), x[0])
        assert found == pytest.approx(w, abs=1e-6)
        assert (found * scenarios[:, 0]).sum() / size == pytest.approx(10.0, rel=0.5)


def test_what_a_context_is_may_turn_out_later() -> None:
    """It is 0 at first, then like outcomes, then negative: each time it is learned anew."""
    rng = np.random.default_rng(11)
    x = np.r_[np.zeros(10), rng.uniform(40, 60, 50), rng.normal(0, 300, 200)][:, None]
    y = 50 + 0.1 * x[:, 0] + rng.normal(size=260)
    state, kinds = MODEL.init(np.array(0)), []
    for t, (row, outcome) in enumerate(zip(x, y, strict=True)):
        state = MODEL.step(state, t, row, np.array([outcome]))
        kinds.append(state.memory[0, layout.CONTEXTS + 5])
    assert kinds[9] == layout.SWITCH
    assert kinds[10:60] == [layout.ALIKE] * 50
    assert kinds[-1] == layout.NUMBER
    for value in (-300.0, 300.0):
        scenarios, w = MODEL.sample(state, np.array([value]))
        assert (w * scenarios[:, 0]).sum() == pytest.approx(50 + 0.1 * value, abs=4)


LEVELS = (np.arange(9) + 0.5) / 9
GIVEN = LightMixture(given=9)


def told_by(law: Any, *own: float) -> Array:
    """A context with the quantiles of a law at its end."""
    return np.concatenate([own, law.ppf(LEVELS)])


def test_what_is_given_decides_before_the_first_outcome() -> None:
    from scipy.stats import norm

    law = norm(50, 10)
    scenarios, w = GIVEN.sample(GIVEN.init(np.array(0)), told_by(law, 1.0))
    assert w.sum() == pytest.approx(1.0)
    upto = np.cumsum(w)
    for level in (0.1, 0.3, 0.5, 0.7, 0.9):
        assert np.interp(level, upto - w / 2, scenarios[:, 0]) == pytest.approx(
            law.ppf(level), abs=1.0
        )
    nothing = np.r_[1.0, np.full(9, np.nan)]
    scenarios, w = GIVEN.sample(GIVEN.init(np.array(0)), nothing)
    assert (scenarios.min(), scenarios.max()) == pytest.approx((0.01, 100), rel=0.05)
    assert w.sum() == pytest.approx(1.0)


def test_a_law_that_is_given_has_all_its_levels() -> None:
    rng = np.random.default_rng(12)
    quantiles = np.sort(rng.normal(20, 5, 9))
    quantiles[4] = quantiles[5]
    for level in np.linspace(0.002, 0.998, 97):
        y = given.given_quantile(quantiles, level)
        below, upto = (given.given_below(quantiles, v) for v in (y - 1e-9, y))
        assert below - 1e-6 <= level <= upto + 1e-6
    for whole, places in ((True, np.arange(-40, 80.0)), (False, np.linspace(-40, 80, 4001))):
        seen = [given.given_seen(quantiles, y, 0.5, whole, 0.0) for y in places]
        step = places[1] - places[0]
        assert np.exp([density for density, _ in seen]).sum() * step == pytest.approx(1, abs=0.02)
        assert (np.diff([level for _, level in seen]) >= 0).all()


def test_a_good_law_is_followed_and_a_bad_one_is_left() -> None:
    from scipy.stats import norm

    rng = np.random.default_rng(13)
    truth = rng.normal(100, 20, size=200)
    y = truth + rng.normal(size=200)
    errors = {}
    for name, about in (("good", truth), ("bad", rng.permutation(truth) + 300)):
        state, found = GIVEN.init(np.array(0)), []
        for t in range(200):
            x = told_by(norm(about[t], 1.0), 1.0)
            scenarios, w = GIVEN.sample(state, x)
            found.append((w * scenarios[:, 0]).sum() - y[t])
            state = GIVEN.step(state, t, x, y[t : t + 1])
        errors[name] = np.abs(found[10:]).mean()
    assert errors["good"] < 1.1
    assert errors["bad"] < 1.2 * np.abs(y - 100).mean()


def test_without_what_is_given_all_is_as_if_there_were_none() -> None:
    """But for the context that its middle is: it was never seen."""
    rng = np.random.default_rng(14)
    x, y = rng.normal(size=(40, 2)), rng.normal(size=40) + 20
    nothing = np.full((40, 9), np.nan)
    scenarios, w = GIVEN.sample(learned(np.c_[x, nothing], y, GIVEN), np.r_[x[0], nothing[0]])
    alone, alone_w = MODEL.sample(learned(x, y), x[0])
    assert scenarios == pytest.approx(alone)
    assert w == pytest.approx(alone_w)


@pytest.mark.parametrize("quantiles", [[2.0, 1.0, 3.0], [1.0, np.nan, 2.0]])
def test_quantiles_that_fall_or_are_missing_in_part_are_an_error(quantiles: list[float]) -> None:
    model = LightMixture(given=3)
    with pytest.raises(ValueError, match="quantiles that do not fall, or NaN in all"):
        model.step(model.init(np.array(0)), 0, np.array([1.0, *quantiles]), np.ones(1))
    with pytest.raises(ValueError, match="at least 3 numbers"):
        model.step(model.init(np.array(0)), 0, np.ones(2), np.ones(1))
    with pytest.raises(ValueError, match="of one component"):
        LightMixture(dim_xi=2, given=3)
