"""How far particle averages may be from the posterior's."""

from typing import NamedTuple

import numpy as np

from bocopt.beliefs.belief import Belief, different
from bocopt.core import Array


class Estimate(NamedTuple):
    """A posterior mean and its standard error; NaN where too few ancestors are left to tell."""

    mean: Array
    standard_error: Array


def posterior_mean(belief: Belief, values: Array) -> Estimate:
    """(N, q) values of the particles -> their posterior mean (q) and its standard error (q).

        se^2 = sum over ancestors a of (sum of w_i (f_i - mean) over a's descendants)^2

    Particles with one ancestor stand or fall together, so an ancestor counts as one observation.
    Ancestors are looked up a fixed number of resamplings back. The theory is for multinomial
    resampling; ours is systematic, which varies less.

    Reference: Chan, Lai (2013), A general theory of particle filters in hidden Markov models;
    Lee, Whiteley (2018), Variance estimation in the particle filter; Olsson, Douc (2019),
    Numerically stable online estimation of variance in particle filters.
    """
    w = np.exp(belief.log_w)[..., None]
    mean = (w * values).sum(axis=-2)
    parts = w * (values - mean[..., None, :])
    roots = belief.roots[..., 0]
    size = roots.shape[-1]
    lead = roots.shape[:-1]
    flat = np.zeros((*lead, size, values.shape[-1]))
    for trial in np.ndindex(lead):
        np.add.at(flat[trial], roots[trial], parts[trial])
    few = different(roots) < 2
    error = np.sqrt((flat**2).sum(axis=-2))
    return Estimate(mean, np.where(few[..., None], np.nan, error))
