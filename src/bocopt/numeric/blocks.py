"""Averages over stages that resemble their neighbours: the block bootstrap."""

import numpy as np

from bocopt.core import Array
from bocopt.numeric import noise

_RESAMPLED = 1000
FEWEST = 20  # stages, of which an interval for one look says anything
_ALIKE = 1e-9  # of the largest: so far apart is rounding


def block_length(series: Array) -> int:
    """Return how many stages of a series (T) belong together, by how long they are alike.

    Lags are cut where two times as many autocorrelations in a row are within chance.

    >>> alone = np.random.default_rng(0).normal(size=400)
    >>> block_length(alone), block_length(np.repeat(alone[:40], 10))
    (1, 28)

    Reference: Politis, White (2004), Automatic block-length selection for the dependent bootstrap,
    for circular blocks; corrected by Patton, Politis, White (2009).
    """
    stages = len(series)
    unit = np.frexp(np.abs(series).max())[1]  # a power of two: squares of squares stay finite
    series = np.ldexp(series, -unit)
    around = series - series.mean()
    if stages < 4 or not np.any(around):
        return 1
    some = max(5, int(np.sqrt(np.log10(stages))))
    furthest = min(int(np.ceil(np.sqrt(stages))) + some, stages - 1)
    covariance = np.array([around[lag:] @ around[: stages - lag] for lag in range(furthest + 1)])
    covariance = covariance / stages
    chance = 2.0 * np.sqrt(np.log10(stages) / stages)
    small = np.abs(covariance[1:] / covariance[0]) < chance
    runs = [lag for lag in range(len(small) - some + 1) if small[lag : lag + some].all()]
    cut = runs[0] if runs else int(np.max(np.flatnonzero(~small) + 1, initial=0))
    last = min(2 * max(cut, 1), furthest)
    lags = np.arange(1, last + 1)
    window = np.clip(2.0 * (1.0 - lags / last), 0.0, 1.0)
    at_zero = covariance[0] + 2.0 * (window * covariance[1 : last + 1]).sum()
    slope = 2.0 * (window * lags * covariance[1 : last + 1]).sum()
    wanted = (2.0 * slope**2 / (4.0 / 3.0 * max(at_zero, 1e-100) ** 2)) ** (1 / 3)
    wanted = wanted * stages ** (1 / 3)
    longest = min(int(np.ceil(3 * np.sqrt(stages))), stages // 3)
    return int(np.clip(np.ceil(wanted), 1, max(longest, 1)))


def one_look(series: Array, length: int) -> tuple[float, float]:
    """Return the `block_interval` of a series (T); NaN where it is short, or all of it is alike.

    >>> one_look(np.arange(5.0), 1), one_look(np.ones(60), 1)
    ((nan, nan), (nan, nan))
    """
    alike = np.ptp(series) <= _ALIKE * np.abs(series).max()
    if len(series) < FEWEST or alike:
        return np.nan, np.nan
    return block_interval(series, length)


def block_interval(series: Array, length: int, coverage: float = 0.95) -> tuple[float, float]:
    """Return the middle of the means of resampled series (T), in blocks that go around the end.

    Asymptotic, and for one look.

    Reference: Politis, Romano (1992), A circular block-resampling procedure for stationary data.
    """
    stages = len(series)
    length = min(length, stages)
    blocks = -(-stages // length)
    draws = noise.uniform(np.array(0), 0, "judged.blocks", (_RESAMPLED, blocks))
    first = (draws * stages).astype(int)
    around = np.concatenate([series, series[: length - 1]])
    which = (first[..., None] + np.arange(length)).reshape(_RESAMPLED, -1)[:, :stages]
    means = around[which].mean(axis=-1)
    tail = (1.0 - coverage) / 2.0
    low, high = np.quantile(means, [tail, 1.0 - tail]).tolist()
    return low, high
