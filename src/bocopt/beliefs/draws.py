"""Draws from a posterior that was learned in one go, and how far their averages may be off."""

from typing import NamedTuple

import numpy as np

from bocopt.core import Array, IntArray


class DrawsInfo(NamedTuple):
    """Diagnostics of a fit: acceptance, step size, cost, and the loss allowed."""

    acceptance: Array  # () share of proposals accepted while draws were kept
    scale: Array  # () of the steps
    evaluated: Array  # () losses computed
    level: Array  # () the largest total loss allowed; infinite where there is no limit


class Draws(NamedTuple):
    """Parameters of equal weight: a belief that policies can decide from, as `BMA.decide` does."""

    seeds: IntArray  # ()
    theta: Array  # (N, p)
    log_w: Array  # (N)
    total: Array  # (N) loss on the whole batch
    score: Array  # (N) log density, up to a constant
    batch: IntArray  # (N) draws with one number stand or fall together
    info: DrawsInfo


class Average(NamedTuple):
    """A posterior mean; the rest is NaN where there is only one batch of draws."""

    mean: Array
    standard_error: Array
    effective_size: Array  # as many independent draws would have this standard error


def average(draws: Draws, values: Array) -> Average:
    """(N, q) values of the draws -> their posterior mean (q), and how sure it is, by batch means.

        se^2 = B / (B - 1) sum over B batches of (sum of w_i (f_i - mean) over the batch)^2

    It is too small where a chain forgets more slowly than over the length of a batch.

    >>> none = np.zeros(4)
    >>> info = DrawsInfo(*np.zeros(4))
    >>> draws = Draws(np.array(0), none, np.log(none + 0.25), none, none, np.arange(4), info)
    >>> found = average(draws, np.array([[1.0], [2.0], [3.0], [6.0]]))
    >>> float(found.mean[0]), round(float(found.standard_error[0]), 3)
    (3.0, 1.08)

    Reference: Flegal, Jones (2010), Batch means and spectral variance estimators in Markov chain
    Monte Carlo.
    """
    w = np.exp(draws.log_w)[..., None]
    mean = (w * values).sum(axis=-2)
    around = values - mean[..., None, :]
    many = int(draws.batch.max()) + 1
    sums = np.zeros((*mean.shape[:-1], many, mean.shape[-1]))
    for trial in np.ndindex(mean.shape[:-1]):
        np.add.at(sums[trial], draws.batch[trial], (w * around)[trial])
    used = np.zeros((*mean.shape[:-1], many))
    np.put_along_axis(used, draws.batch, 1.0, axis=-1)
    batches = used.sum(axis=-1)[..., None]
    with np.errstate(divide="ignore", invalid="ignore"):
        square = np.where(batches > 1, batches / (batches - 1), np.nan) * (sums**2).sum(axis=-2)
        return Average(mean, np.sqrt(square), (w * around**2).sum(axis=-2) / square)
