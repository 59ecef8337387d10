"""Bets beside published confidence sequences: slack on coins and on small spreads.

python benchmarks/betting.py  writes benchmarks/results/betting.{md,json}

One-sided, delta = 0.05, mean over 100 series. All but the last two hold where the expectation
drifts; `predictable plug-in` needs one that does not change, and the best stake in hindsight, at
one time, is what nothing can beat: t KL(seen, bound) = log(1/delta) on coins.
"""

from collections.abc import Callable

import numpy as np
from results_file import write, write_markdown
from scipy.optimize import brentq
from scipy.special import betainc, betaln, gammainc, gammaln, xlogy

from bocopt.core import Array
from bocopt.guarantees import betting
from bocopt.guarantees.boundaries import empirical_bernstein, hoeffding

DELTA, TIMES, SERIES = 0.05, (100, 1000, 10_000), 100
LEVEL = np.log(1 / DELTA)
TUNED = 100.0 / (2 * LEVEL + np.log1p(2 * LEVEL))  # nearly best at v = 100
LAWS: dict[str, Callable[[np.random.Generator, tuple[int, int]], Array]] = {
    "Bernoulli(0.1)": lambda rng, shape: (rng.random(shape) < 0.1).astype(float),
    "Bernoulli(0.5)": lambda rng, shape: (rng.random(shape) < 0.5).astype(float),
    "Beta(10, 30)": lambda rng, shape: rng.beta(10, 30, shape),
}


def by_bets(x: Array) -> Array:
    """(series, T) -> (series) slack per stage."""
    bets, one = betting.no_bets(x.shape[:1], 1.0), np.ones(x.shape[:1])
    for column in x.T:
        bets = betting.update(bets, column, 0.0 * one, one)
    return np.asarray(betting.most(bets, DELTA) / x.shape[1] - x.mean(axis=1))


def errors(x: Array) -> Array:
    """(series) sum of squared errors of predicting by the running mean."""
    before = np.cumsum(x, axis=1) - x
    predicted = (0.5 + before) / (1.0 + np.arange(x.shape[1]))
    return np.asarray(((x - predicted) ** 2).sum(axis=1))


def gamma_exponential(v: float, rho: float) -> float:
    """Howard, Ramdas, McAuliffe, Sekhon (2021), the gamma-exponential mixture at scale 1."""

    def excess(s: float) -> float:
        top, bottom = s + v + rho, v + rho
        return float(
            rho * np.log(rho)
            - gammaln(rho)
            - np.log(gammainc(rho, rho))
            + gammaln(bottom)
            + np.log(gammainc(bottom, top))
            - bottom * np.log(top)
            + s
            + v
            - LEVEL
        )

    return float(brentq(excess, 0.0, 50.0 * (1 + np.sqrt(v)) + v))


def beta_binomial(ones: float, t: int) -> float:
    """The uniform mixture over chances below m (Robbins 1970), one-sided: coins alone."""

    def excess(m: float) -> float:
        tail = betaln(ones + 1, t - ones + 1) + np.log(betainc(ones + 1, t - ones + 1, m))
        return float(tail - np.log(m) - xlogy(ones, m) - xlogy(t - ones, 1 - m) - LEVEL)

    return float(brentq(excess, max(ones / t, 1e-6), 1 - 1e-9)) - ones / t


def plug_in(x: Array) -> Array:
    """Waudby-Smith, Ramdas (2024), theorem 2, one-sided: for a mean that does not change."""
    t = np.arange(1, x.shape[1] + 1)
    mean = (0.5 + np.cumsum(x, axis=1)) / (1 + t)
    spread = (0.25 + np.cumsum((x - mean) ** 2, axis=1)) / (1 + t)
    before = np.concatenate([np.full((len(x), 1), 0.25), spread[:, :-1]], axis=1)
    guess = np.concatenate([np.full((len(x), 1), 0.5), mean[:, :-1]], axis=1)
    rate = np.minimum(np.sqrt(2 * LEVEL / (before * t * np.log1p(t))), 0.5)
    price = ((x - guess) ** 2 * (-np.log1p(-rate) - rate)).sum(axis=1)
    centre = (rate * x).sum(axis=1) / rate.sum(axis=1)
    return np.asarray(centre + (LEVEL + price) / rate.sum(axis=1) - x.mean(axis=1))


def hindsight(seen: float, t: int) -> float:
    """Coins alone."""

    def excess(m: float) -> float:
        kl = xlogy(seen, seen / m) + xlogy(1 - seen, (1 - seen) / (1 - m))
        return float(t * kl - LEVEL)

    return float(brentq(excess, max(seen, 1e-9), 1 - 1e-12)) - seen


def row(x: Array, coins: bool) -> dict[str, float | None]:
    t, v, ones = x.shape[1], errors(x), x.sum(axis=1)
    found: dict[str, Array | None] = {
        "bets": by_bets(x),
        "empirical Bernstein (before)": empirical_bernstein(v, DELTA) / t,
        "Hoeffding mixture (before)": np.full(len(x), hoeffding(np.array(float(t)), DELTA) / t),
        "gamma-exponential, tuned to 100": np.array([gamma_exponential(a, TUNED) for a in v]) / t,
        "beta-binomial": np.array([beta_binomial(k, t) for k in ones]) if coins else None,
        "predictable plug-in": plug_in(x),
        "best stake in hindsight": np.array([hindsight(k / t, t) for k in ones]) if coins else None,
    }
    return {name: None if part is None else float(part.mean()) for name, part in found.items()}


def main() -> None:
    rows = {}
    for name, draw in LAWS.items():
        x = draw(np.random.default_rng(0), (SERIES, TIMES[-1]))
        for t in TIMES:
            rows[f"{name}, T = {t:,}"] = row(x[:, :t], name.startswith("Bernoulli"))
    write("betting", {"delta": DELTA, "series": SERIES, "slack": rows})
    names = list(next(iter(rows.values())))
    lines = [
        "# Bets beside published confidence sequences",
        "",
        "`python benchmarks/betting.py`: slack per stage of an upper bound on the average",
        f"expectation, delta = {DELTA:g}, mean over {SERIES} series; in brackets the ratio to that",
        "of bets. The last two columns are for comparison: *predictable plug-in* needs an",
        "expectation that does not change, and the best stake in hindsight is for one time alone.",
        "",
        f"| | {' | '.join(names)} |",
        "|---" + "|---:" * len(names) + "|",
        *(
            f"| {label} | {' | '.join(_cell(found[name], found['bets']) for name in names)} |"
            for label, found in rows.items()
        ),
    ]
    write_markdown("betting", lines)


def _cell(slack: float | None, ours: float | None) -> str:
    return "" if slack is None or ours is None else f"{slack:.4f} ({slack / ours:.2f})"


if __name__ == "__main__":
    main()
