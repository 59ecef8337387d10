"""Who asks when: a Poisson process over streams of which few are asked for much."""

from typing import NamedTuple

import numpy as np

from bocopt.core import Array, IntArray


class Burst(NamedTuple):
    """For so many seconds, so many times as many requests: all shops decide at 6 am."""

    start: float
    seconds: float
    factor: float


class Traffic(NamedTuple):
    """Requests for decisions and with outcomes, alike in number."""

    rate: float  # requests a second
    seconds: float
    streams: int
    zipf: float = 1.0  # the stream of rank r is asked for as often as r^-zipf says
    burst: Burst | None = None

    @property
    def hottest(self) -> float:
        """The share of the stream that is asked for most."""
        return float(1 / (np.arange(1.0, self.streams + 1) ** -self.zipf).sum())


def arrivals(traffic: Traffic, rng: np.random.Generator) -> Array:
    """(n) in order: as many as a Poisson law says, each anywhere in what is expected until then."""
    at, expected = np.array([0.0, traffic.seconds]), np.array([0.0, traffic.rate * traffic.seconds])
    if traffic.burst is not None:
        start, seconds, factor = traffic.burst
        at = np.array([0.0, start, start + seconds, traffic.seconds])
        rates = traffic.rate * np.array([1.0, factor, 1.0])
        expected = np.concatenate([[0.0], np.cumsum(rates * np.diff(at))])
    n = rng.poisson(expected[-1])
    return np.asarray(np.interp(np.sort(rng.uniform(0, expected[-1], n)), expected, at))


def asked_for(traffic: Traffic, n: int, rng: np.random.Generator) -> IntArray:
    """(n) the ranks of the streams, from 0."""
    weight = np.arange(1.0, traffic.streams + 1) ** -traffic.zipf
    below = np.cumsum(weight)
    return np.searchsorted(below, rng.uniform(0, below[-1], n)).astype(np.int64)
