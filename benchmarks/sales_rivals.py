"""What others do where sales hide the demand, for many streams at once; the first order is given.

None of them says what to do before anything was seen beyond what was ordered: orders double then.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import minimize
from scipy.stats import norm

from bocopt.core import Array, BoolArray

EVERY, EARLY = 25, 40  # Tobit is fitted again each so many days, and on each of the first


@dataclass
class KaplanMeier:
    """The quantile of Kaplan and Meier's estimate; twice the largest bound where it lies beyond.

    Reference: Huh, Levi, Rusmevichientong, Orlin (2011), Adaptive data-driven inventory control
    with censored demand based on Kaplan-Meier estimator.
    """

    ratio: float
    first: float
    seen: list[Array] = field(default_factory=list)
    cut: list[BoolArray] = field(default_factory=list)

    def order(self, t: int, x: Array) -> Array:
        """Return the smallest value at which at most 1 - ratio survive."""
        if not self.seen:
            return np.asarray(self.first)
        order = np.lexsort(
            (np.stack(self.cut), np.stack(self.seen)), axis=0
        )  # ties: the seen first
        values = np.take_along_axis(np.stack(self.seen), order, axis=0)
        cut = np.take_along_axis(np.stack(self.cut), order, axis=0)
        at_risk = np.arange(len(values), 0, -1)[:, None]
        survive = np.cumprod(1.0 - ~cut / at_risk, axis=0)
        enough = survive <= 1.0 - self.ratio + 1e-12
        found = np.take_along_axis(values, enough.argmax(axis=0)[None], axis=0)[0]
        return np.asarray(np.where(enough.any(axis=0), found, 2.0 * values[-1]))

    def see(self, t: int, x: Array, z: Array, sold: Array, out: BoolArray) -> None:
        """Keep it."""
        self.seen.append(sold)
        self.cut.append(out)


@dataclass
class Gradient:
    """Huh and Rusmevichientong's adaptive method: a step down where something was left over, or up.

    z <- clip(z - step upper / (max(ratio, 1 - ratio) sqrt(t)) h, 0, upper), where h is 1 - ratio
    where something was left over, else -ratio. It is told an upper end of demand.

    Reference: Huh, Rusmevichientong (2009), A nonparametric asymptotic analysis of inventory
    planning with censored demand.
    """

    ratio: float
    first: float
    upper: Array  # (S)
    step: float
    warm: list[Array] = field(default_factory=list)
    z: Array | None = None
    steps: int = 0

    def order(self, t: int, x: Array) -> Array:
        """Return where the steps led; after days that were seen in full, from their quantile."""
        if self.z is None:
            self.z = np.full(self.upper.shape, self.first)
        if self.warm:
            past = np.stack(self.warm)
            return np.quantile(past, self.ratio, axis=0, method="inverted_cdf")
        return self.z

    def see(self, t: int, x: Array, z: Array, sold: Array, out: BoolArray) -> None:
        """Take a step."""
        self.steps += 1
        slope = np.where(sold < z, 1.0 - self.ratio, -self.ratio)
        size = self.step * self.upper / (max(self.ratio, 1.0 - self.ratio) * np.sqrt(self.steps))
        self.z = np.clip(z - size * slope, 0.0, self.upper)


@dataclass
class Dropped:
    """The quantile of the days on which something was left over."""

    ratio: float
    first: float
    seen: list[Array] = field(default_factory=list)

    def order(self, t: int, x: Array) -> Array:
        """Return the quantile, or the first order."""
        if not self.seen:
            return np.asarray(self.first)
        values = np.sort(np.stack(self.seen), axis=0)  # NaN at the end
        many = (~np.isnan(values)).sum(axis=0)
        place = np.maximum(np.ceil(self.ratio * many - 1e-9).astype(int) - 1, 0)
        found = np.take_along_axis(values, place[None], axis=0)[0]
        return np.where(many > 0, found, self.first)

    def see(self, t: int, x: Array, z: Array, sold: Array, out: BoolArray) -> None:
        """Keep it, unless it was sold out."""
        self.seen.append(np.where(out, np.nan, sold))


@dataclass
class Tobit:
    """A regression on the context whose normal noise is cut off at the order, by likelihood.

    Reference: Tobin (1958), Estimation of relationships for limited dependent variables.
    """

    ratio: float
    first: float
    rows: list[tuple[Array, Array, BoolArray]] = field(default_factory=list)
    found: list[Array] = field(default_factory=list)

    def order(self, t: int, x: Array) -> Array:
        """Return the quantile of the law that was fitted last."""
        if not self.rows:
            return np.asarray(self.first)
        design, values, cut = (np.stack(part) for part in zip(*self.rows, strict=True))
        if not self.found or t < EARLY or t % EVERY == 0:
            start: list[Array | None] = [*self.found] or [None] * values.shape[1]
            self.found = [
                fitted(design, *pair) for pair in zip(values.T, cut.T, start, strict=True)
            ]
        line = np.concatenate([[1.0], x])
        level = norm.ppf(self.ratio)
        orders = [line @ fit[:-1] + np.exp(fit[-1]) * level for fit in self.found]
        twice = 2.0 * values.max(axis=0)
        kept = np.clip(orders, 0.0, np.maximum(twice, self.first))
        return np.asarray(np.where(cut.all(axis=0), twice, kept))

    def see(self, t: int, x: Array, z: Array, sold: Array, out: BoolArray) -> None:
        """Keep it."""
        self.rows.append((np.concatenate([[1.0], x]), sold, out))


def fitted(design: Array, values: Array, cut: BoolArray, start: Array | None) -> Array:
    """Return coefficients and log sd of the likeliest line; a little ridge where few are seen."""
    unit = max(float(values.max(initial=0.0)), 1e-9)
    y, k = values / unit, design.shape[1]

    def loss(theta: Array) -> tuple[float, Array]:
        """Return minus the log-likelihood, and its gradient."""
        sd = np.exp(theta[-1])
        e = (y - design @ theta[:-1]) / sd
        tail, density = norm.logsf(e), norm.logpdf(e)
        log = np.where(cut, tail, density - theta[-1])
        hazard = np.where(cut, np.exp(density - tail), e)
        slope = design.T @ hazard / sd
        scale = np.where(cut, hazard * e, e * e - 1.0).sum()
        pulled = 0.05 * theta[1:]
        gradient = -np.concatenate([slope, [scale]])
        gradient[1:] += pulled
        return float(-log.sum() + 0.5 * pulled @ theta[1:]), gradient

    first = np.zeros(k + 1) if start is None else start.copy()
    first[:-1] /= unit
    first[-1] = -1.0 if start is None else first[-1] - np.log(unit)
    bounds = [(-20.0, 20.0)] * k + [(-5.0, 3.0)]
    found = minimize(loss, first, jac=True, method="L-BFGS-B", bounds=bounds).x
    found[:-1] *= unit
    found[-1] += np.log(unit)
    return np.asarray(found)
