"""The PAC-Bayes bound for a batch of outcomes."""

import numpy as np

from bocopt import arguments
from bocopt.core import Array
from bocopt.guarantees.certificate import Certificate, certificate
from bocopt.numeric.weights import normalised


def gibbs(losses: Array, log_prior: Array, *, lam: float) -> Array:
    """Return log weights (N) ~ exp(-lam mean loss) pi_0, from losses (n, N) and log pi_0 (N): the
    least bound of `offline`.

    `ResampleMove.fit` with lam / n per observation holds the same by particles of its own.
    """
    arguments.number("gibbs", "lam", lam, "(0, inf)")
    losses = arguments.array("gibbs", "losses", losses, (None, None))
    prior = log_weights("gibbs", "log_prior", log_prior, losses)
    return normalised(prior - lam * losses.mean(axis=-2))


def offline(
    losses: Array,
    log_prior: Array,
    log_posterior: Array | None = None,
    *,
    lam: float,
    scale: float,
    delta: float = 0.05,
) -> Certificate:
    """E_q R <= E_q r + (KL(q || pi_0) + log(1/delta)) / lam + lam C^2 / (8 n).

    `losses` (n, N) of parameters with prior and posterior log weights (N) on a batch of n
    independent outcomes, in [0, C]; r is their mean. Without a posterior, that of `gibbs`.

    >>> losses = np.tile([0.2, 0.6], (1000, 1))
    >>> found = offline(losses, np.log([0.5, 0.5]), lam=100.0, scale=1.0)
    >>> round(float(found.value), 3), round(float(found.bound), 3)
    (0.2, 0.249)

    Reference: Catoni (2007), PAC-Bayesian supervised classification; paper, section 2.
    """
    arguments.number("offline", "lam", lam, "(0, inf)")
    arguments.number("offline", "scale", scale, "(0, inf)")
    arguments.number("offline", "delta", delta, "(0, 1)")
    losses = arguments.array("offline", "losses", losses, (None, None))
    prior = log_weights("offline", "log_prior", log_prior, losses)
    if log_posterior is None:
        log_posterior = gibbs(losses, prior, lam=lam)
    posterior = log_weights("offline", "log_posterior", log_posterior, losses)
    q = np.exp(posterior)
    with np.errstate(invalid="ignore"):
        kl = np.where(q > 0, q * (posterior - prior), 0.0).sum(axis=-1)
    value = (q * losses.mean(axis=-2)).sum(axis=-1)
    outside = arguments.outside(losses, 0.0, scale).any(axis=-1)  # (n)
    return certificate(
        "offline PAC-Bayes",
        "expected loss of one draw from the posterior",
        value=value,
        slack=(kl + np.log(1 / delta)) / lam + lam * scale**2 / (8 * losses.shape[-2]),
        trivial=np.full(value.shape, scale),
        delta=delta,
        assumptions=(
            f"losses in [0, {scale:g}]",
            "independent outcomes",
            "prior and lam fixed before the data",
        ),
        broken={
            f"A loss was outside [0, {scale:g}]": outside.sum(axis=-1, dtype=float),
            "The posterior has weight where the prior has none": np.isinf(kl) * 1.0,
        },
    )


def log_weights(owner: str, name: str, log_w: Array, losses: Array) -> Array:
    """Return log weights (N), whose weights must sum to 1 up to rounding; -inf is allowed."""
    log_w = arguments.real(owner, name, log_w)
    weights = arguments.array(owner, name, np.exp(log_w), (losses.shape[-1],))
    if (np.abs(weights.sum(axis=-1) - 1) > 1e-6).any():
        raise arguments.wrong(owner, name, "logs of weights with sum 1", weights.sum(axis=-1))
    return normalised(log_w)
