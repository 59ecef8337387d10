"""Many comparisons at once: which shadows of a fleet may be called better.

A comparison stakes capital against the sum of its expected differences so far, S_t = nu_1 + ... +
nu_t, where nu_s is what the other decision was expected to cost more at stage s, given all that was
known in the fleet before its outcome. E_t(0) (`betting`) is no more than a martingale that starts
at 1 wherever S_t >= 0. So it is an e-value for "on average so far, the other one was no better":

    E[E_t(0) 1{S_t >= 0}] <= 1    at every stopping time t.

S_t is random, and so is whether that hypothesis holds: it says nothing of what comes next, and is
wider than "no better at any stage". Of hypotheses with e-values e_i and shares w_i that sum to 1 at
most, e-BH believes the largest k with w_i e_i >= 1 / (k q). It is wrong of a believed one only if
1 <= k q w_i e_i, so the share of those that are not better is

    E[sum_i 1{believed, wrong} / max(k, 1)] <= sum_i q w_i E[e_i 1{wrong}] <= q

at every stopping time, however the comparisons depend on each other. Where no shadow is better, the
chance that one is ever believed is q at most.

Shares have to be fixed before a comparison begins. With 1 / (how many there are so far), a shadow
under a new name would have a new chance: whoever declares fair bets of 2 or 0 until one wins would
have q (1/2 * 2 + 1/4 * 2/2 + 1/8 * 2/3 + ...) = 2 log(2) q = 1.39 q. So the n shadows that a
stream is given at the j-th time have 1 / (j (j + 1) n) of its share each, whatever became of those
before.

References: Wang, Ramdas (2022), False discovery rate control with e-values; Xu, Ramdas (2024),
Online multiple testing with e-values.
"""

import numpy as np

from bocopt import arguments
from bocopt.core import Array, BoolArray


def discoveries(log_e: Array, shares: Array, q: float = 0.05) -> BoolArray:
    """Return which hypotheses (n) e-BH believes, by log e-values (n) and shares (n): of these, a
    share of q is expected to be wrong.

    `log_e` are logarithms of e-values, -inf where there is no evidence. `shares` sum to 1 at most;
    what is missing belongs to hypotheses that are not shown.

    >>> discoveries(np.log([1.0, 90.0, 30.0]), np.full(3, 1 / 3))  # from 60, 30 and 20 on
    array([False,  True,  True])
    >>> discoveries(np.log([1.0, 90.0, 30.0]), np.full(3, 1 / 6))  # three more were given up
    array([False, False, False])
    """
    arguments.number("discoveries", "q", q, "(0, 1)")
    if not np.size(log_e) and not np.size(shares):
        return np.zeros(0, bool)
    shares = arguments.array("discoveries", "shares", shares, (None,))
    given, expected = log_e, f"logarithms {shares.shape}, none of them NaN"
    try:
        log_e = np.asarray(given, float)
    except (TypeError, ValueError) as error:
        raise arguments.wrong("discoveries", "log_e", expected, given) from error
    if log_e.shape != shares.shape or np.isnan(log_e).any():
        raise arguments.wrong("discoveries", "log_e", expected, given)
    if not (shares > 0).all() or not shares.sum() <= 1.0 + 1e-9:
        raise arguments.wrong("discoveries", "shares", "above 0, and 1 in all at most", shares)
    weighed = log_e + np.log(shares)
    enough = -np.log(q * np.arange(1.0, len(log_e) + 1.0))
    most = np.flatnonzero(np.sort(weighed)[::-1] >= enough)
    if not len(most):
        return np.zeros(log_e.shape, bool)
    found: BoolArray = weighed >= enough[most[-1]]
    return found


def share(generation: int, of: int) -> float:
    """Return the fraction of its stream's share for one shadow, of `of` that are declared together.

    `generation` counts the times that shadows were declared, from 1: a new name, another
    definition or another unit begins a new one.

    >>> share(1, of=2), share(2, of=1)
    (0.25, 0.16666666666666666)
    """
    arguments.integer("share", "generation", generation, "[1, inf)")
    arguments.integer("share", "of", of, "[1, inf)")
    return 1.0 / (generation * (generation + 1) * of)
