"""How far particle averages may be from the posterior's."""

from typing import NamedTuple

import numpy as np

from bocopt.beliefs.belief import Belief, different
from bocopt.beliefs.moves import UNMIXED
from bocopt.core import Array


class Estimate(NamedTuple):
    """A posterior mean and its standard error; NaN where that cannot be told."""

    mean: Array
    standard_error: Array


def posterior_mean(belief: Belief, values: Array) -> Estimate:
    """(N, q) values of the particles -> their posterior mean (q) and its standard error (q).

        se^2 = sum over ancestors a of (sum of w_i (f_i - mean) over a's descendants)^2
               / (1 - sum of W_a^2) / (1 - left)

    Particles with one ancestor stand or fall together, so an ancestor counts as one observation,
    of weight W_a. Ancestors are looked up a fixed number of resamplings back. The theory is for
    multinomial resampling; ours is systematic, which varies less. A move hands on `left` of the
    squared error that it found (`info.left`), which adds up to 1 / (1 - left) over many moves.

    NaN where there are fewer than two ancestors, or more than half is left: such particles have
    not mixed, and how wrong they are does not show in them.

    Reference: Chan, Lai (2013), A general theory of particle filters in hidden Markov models;
    Lee, Whiteley (2018), Variance estimation in the particle filter; Olsson, Douc (2019),
    Numerically stable online estimation of variance in particle filters.
    """
    w = np.exp(belief.log_w)[..., None]
    mean = (w * values).sum(axis=-2)
    parts = np.append(w * (values - mean[..., None, :]), w, axis=-1)
    roots = belief.roots[..., 0]
    of_ancestors = np.zeros(parts.shape)
    for trial in np.ndindex(roots.shape[:-1]):
        np.add.at(of_ancestors[trial], roots[trial], parts[trial])
    squares = (of_ancestors**2).sum(axis=-2)
    left = belief.info.left
    known = (different(roots) > 1) & (left <= UNMIXED)
    room = np.where(known, (1 - squares[..., -1]) * (1 - left), np.nan)
    return Estimate(mean, np.sqrt(squares[..., :-1] / room[..., None]))
