"""PAC-Bayes by betting: risks of all posteriors on fixed parameters, at all times at once.

For losses l_s(theta) in [0, C] of parameters that are fixed before the data, with prior pi_0, let
R_s(theta) be the expectation of l_s(theta) given the past. For a stake a in (0, 1),

    M_t(theta, a) = prod_s (1 - a l_s(theta) / C) / (1 - a R_s(theta) / C)

is a martingale that starts at 1, and so is its mean over pi_0 and any weights w of the stakes. By
Ville's inequality this mean stays below 1/delta at all t, but for a chance of delta. Then, by
Donsker and Varadhan, for all t and all q at once, q chosen after the data included,

    log sum_a w_a exp(E_q log M_t(theta, a)) <= KL(q || pi_0) + log(1/delta).

With S = sum_s E_q R_s, the concavity of the logarithm over stages and parameters gives

    E_q log M_t >= E_q sum_s log(1 - a l_s / C) - t log(1 - a S / (t C)),

which is the bet of `betting` with gains averaged over q: where it reaches KL + log(1/delta) ends
what S can be. Outcomes need not be independent: where they are, S / t is the risk itself.

Our samplers move their particles, so they have no q and pi_0 of this kind over a whole stream.
`UpdatedBeliefs` is what holds for them, a stage at a time.

Reference: Jang, Jun, Kuzborskij, Orabona (2023), Tighter PAC-Bayes bounds through coin-betting.
"""

from typing import NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.core import Array
from bocopt.guarantees import betting
from bocopt.guarantees.batch import log_weights
from bocopt.guarantees.certificate import Certificate, certificate
from bocopt.numeric.weights import normalised

_ROWS = 64  # stages that are folded at once
_STAKES = np.unique(betting.STAKES)  # both ways to place bets are one, where all ranges are [0, C]
_TWICE = np.searchsorted(_STAKES, betting.STAKES)


class Wealth(NamedTuple):
    """Sums of log gains of bets at each parameter, over stages: later ones can be added."""

    scale: Array  # () C
    t: Array  # ()
    lost: Array  # (N) sum of losses
    gain: Array  # (N, stakes) sum of log(1 - a l / C)
    outside: Array  # () stages with a loss that was not in [0, C]


def wealth(losses: Array, *, scale: float, before: Wealth | None = None) -> Wealth:
    """Return what bets made of n stages of losses (n, N), `before` included: the same however they
    are cut.
    """
    arguments.number("wealth", "scale", scale, "(0, inf)")
    losses = arguments.array("wealth", "losses", losses, (None, None))
    if before is not None and not (before.scale == scale).all():
        raise arguments.wrong("wealth", "scale", f"that of before, {before.scale.max():g}", scale)
    share = np.clip(losses / scale, 0.0, 1.0)
    found = before or _none(losses, scale)
    gain = found.gain
    for first in range(0, losses.shape[-2], _ROWS):
        some = share[..., first : first + _ROWS, :, None]
        gain = gain + np.log1p(-_STAKES * some).sum(axis=-3)
    outside = arguments.outside(losses, 0.0, scale).any(axis=-1).sum(axis=-1, dtype=float)
    return Wealth(
        scale=found.scale,
        t=found.t + losses.shape[-2],
        lost=found.lost + losses.sum(axis=-2),
        gain=gain,
        outside=found.outside + outside,
    )


def _none(losses: Array, scale: float) -> Wealth:
    lead, size = losses.shape[:-2], losses.shape[-1]
    zero, each = np.zeros(lead), np.zeros((*lead, size))
    return Wealth(zero + scale, zero, each, np.zeros((*each.shape, _STAKES.size)), zero)


def anytime(
    losses: Array,
    log_prior: Array,
    log_posterior: Array | None = None,
    *,
    scale: float,
    delta: float = 0.05,
) -> Certificate:
    """sum E_q R <= U_t for all t and all q at once: `offline` without lam, and for any outcomes.

    `losses` (n, N) of parameters with prior and posterior log weights (N) on the first n stages, in
    [0, C]. Without a posterior, that of `bettor`, which makes the bound least.

    >>> losses = np.tile([0.2, 0.6], (1000, 1))
    >>> found = anytime(losses, np.log([0.5, 0.5]), scale=1.0)
    >>> round(float(found.value), 3), round(float(found.bound), 3)
    (0.2, 0.204)
    """
    return bounded(wealth(losses, scale=scale), log_prior, log_posterior, delta=delta)


def bounded(
    found: Wealth, log_prior: Array, log_posterior: Array | None = None, *, delta: float = 0.05
) -> Certificate:
    """The certificate of `anytime` by what bets made of the stages so far."""
    arguments.number("bounded", "delta", delta, "(0, 1)")
    prior = log_weights("bounded", "log_prior", log_prior, found.lost)
    if log_posterior is None:
        log_posterior = bettor(found, prior, delta=delta)
    posterior = log_weights("bounded", "log_posterior", log_posterior, found.lost)
    t, kl = np.maximum(found.t, 1.0), divergence(posterior, prior)
    value = (np.exp(posterior) * found.lost).sum(axis=-1) / t
    scale = f"{float(found.scale.max()):g}"
    return certificate(
        "anytime PAC-Bayes",
        "average risk of one draw from the posterior",
        value=value,
        slack=_most(found, posterior, kl, delta) / t - value,
        trivial=found.scale + np.zeros(value.shape),
        delta=delta,
        assumptions=(
            f"losses are in [0, {scale}]",
            "parameters and prior were fixed before the data",
        ),
        broken={
            f"A loss was outside [0, {scale}]": found.outside,
            "The posterior has weight where the prior has none": np.isinf(kl) * 1.0,
        },
    )


def bettor(found: Wealth, log_prior: Array, *, delta: float = 0.05) -> Array:
    """Return the log weights (N) of the posterior with the least bound, among one for each stake a.

    q ~ pi_0 prod_s (1 - a l_s / C), which makes E_q log M_t - KL as large as it can be.
    """
    prior = log_weights("bettor", "log_prior", log_prior, found.lost)
    tried = normalised(prior[..., None, :] + np.swapaxes(found.gain, -1, -2))  # (stakes, N)
    each = Wealth(*(np.expand_dims(part, np.ndim(found.t)) for part in found))
    bound = _most(each, tried, divergence(tried, prior[..., None, :]), delta)
    best = bound.argmin(axis=-1)[..., None, None]
    chosen: Array = np.take_along_axis(tried, best, axis=-2)[..., 0, :]
    return chosen


def divergence(posterior: Array, prior: Array) -> Array:
    """Return KL(posterior || prior) () from log weights (N), (N)."""
    with np.errstate(invalid="ignore"):
        q = np.exp(posterior)
        kl: Array = np.where(q > 0, q * (posterior - prior), 0.0).sum(axis=-1)
    return np.maximum(kl, 0.0)


def _most(found: Wealth, posterior: Array, kl: Array, delta: float) -> Array:
    """Return the most () that sum_s E_q R_s can be: q's own bets, at a level raised by KL."""
    gain = np.matmul(np.exp(posterior)[..., None, :], found.gain)[..., 0, :]
    bets = betting.of_gains(gain[..., _TWICE], np.broadcast_to(found.t, gain.shape[:-1]))
    return np.asarray(found.scale * betting.most(bets, delta, kl))
