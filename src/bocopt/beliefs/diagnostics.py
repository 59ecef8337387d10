"""Standard errors of particle averages, as estimates of posterior means."""

from typing import NamedTuple

import numpy as np

from bocopt.beliefs.belief import Belief, different
from bocopt.beliefs.moves import UNMIXED
from bocopt.core import Array

_UNSEEN = 0.05  # of a squared error may be older than the ancestors that are looked up


class Estimate(NamedTuple):
    """A posterior mean and its standard error; NaN where that cannot be told."""

    mean: Array
    standard_error: Array


def posterior_mean(belief: Belief, values: Array) -> Estimate:
    """(N, q) values of the particles -> their posterior mean (q) and its standard error (q).

        se^2 = sum over ancestors a of (sum of w_i (f_i - mean) over a's descendants)^2
               / (1 - sum of W_a^2) / (1 - handed_on^g)

    Particles with one ancestor stand or fall together, so an ancestor counts as one observation,
    of weight W_a. Ancestors are looked up g resamplings back: as far as errors last, and no
    further, as there are the fewer of them. A move hands on a share of the squared error that it
    found, so handed_on^g is older than that; g is the first with which it is 5% at most. The theory
    is for multinomial resampling; ours is systematic, which varies less.

    NaN where there are fewer than two ancestors, or more than half is handed on: such particles
    have not mixed, and how wrong they are does not show in them.

    Reference: Chan, Lai (2013), A general theory of particle filters in hidden Markov models;
    Lee, Whiteley (2018), Variance estimation in the particle filter; Olsson, Douc (2019),
    Numerically stable online estimation of variance in particle filters.
    """
    w = np.exp(belief.log_w)[..., None]
    mean = (w * values).sum(axis=-2)
    parts = np.append(w * (values - mean[..., None, :]), w, axis=-1)
    handed_on = _handed_on(belief)
    few = np.clip(handed_on, 1e-12, UNMIXED)
    back = np.minimum(np.ceil(np.log(_UNSEEN) / np.log(few)).astype(int), belief.roots.shape[-1])
    roots = np.take_along_axis(belief.roots, -back[..., None, None], axis=-1)[..., 0]
    of_ancestors = np.zeros(parts.shape)
    for trial in np.ndindex(roots.shape[:-1]):
        np.add.at(of_ancestors[trial], roots[trial], parts[trial])
    squares = (of_ancestors**2).sum(axis=-2)
    known = (different(roots) > 1) & (handed_on <= UNMIXED)
    room = np.where(known, (1 - squares[..., -1]) * (1 - few**back), np.nan)
    return Estimate(mean, np.sqrt(squares[..., :-1] / room[..., None]))


def _handed_on(belief: Belief) -> Array:
    """() the share of a squared error of the mean that lives on through a move.

    That is `info.left` where only the last state of each chain is kept. Where all P are (waste-free
    chains), so is the first, which has forgotten nothing: with correlations rho^k after k sweeps,
    and rho^(2 (P - 1)) left of them, the mean of the states keeps the mean of rho^k.
    """
    left, chains = belief.info.left, belief.roots[..., -1].reshape(-1, belief.roots.shape[-2])
    states = max(int(np.bincount(of_trial).max()) for of_trial in chains)
    if states == 1:
        return left
    rho = left ** (0.5 / (states - 1))
    kept: Array = (rho[..., None] ** np.arange(states)).mean(axis=-1) ** 2
    return kept
