"""The PAC-Bayes bound for a batch of outcomes."""

import numpy as np

from bocopt import arguments
from bocopt.core import Array
from bocopt.guarantees.certificate import Certificate, certificate
from bocopt.smc.weights import normalised


def gibbs(losses: Array, log_prior: Array, *, lam: float) -> Array:
    """(N), (N) -> (N) log weights ~ exp(-lam r) pi_0: of all posteriors, `offline`'s least bound.

    For mean losses r over a batch; `ResampleMove.fit` with lam / n per observation holds the same
    by particles of its own.
    """
    arguments.number("gibbs", "lam", lam, "(0, inf)")
    losses = arguments.array("gibbs", "losses", losses, (None,))
    return normalised(_log_weights("gibbs", "log_prior", log_prior, losses) - lam * losses)


def offline(
    losses: Array,
    log_prior: Array,
    log_posterior: Array | None = None,
    *,
    n: int,
    lam: float,
    scale: float,
    delta: float = 0.05,
) -> Certificate:
    """E_q R <= E_q r + (KL(q || pi_0) + log(1/delta)) / lam + lam C^2 / (8 n).

    `losses` (N) are mean losses over a batch of n independent outcomes, in [0, C], of parameters
    with prior and posterior log weights (N); without a posterior, that of `gibbs`.

    >>> found = offline(np.array([0.2, 0.6]), np.log([0.5, 0.5]), n=1000, lam=100.0, scale=1.0)
    >>> round(float(found.value), 3), round(float(found.bound), 3)
    (0.2, 0.249)

    Reference: Catoni (2007), PAC-Bayesian supervised classification; paper, section 2.
    """
    arguments.integer("offline", "n", n, "[1, inf)")
    arguments.number("offline", "scale", scale, "(0, inf)")
    arguments.number("offline", "delta", delta, "(0, 1)")
    best = gibbs(losses, log_prior, lam=lam)
    prior = _log_weights("offline", "log_prior", log_prior, losses)
    posterior = (
        best
        if log_posterior is None
        else _log_weights("offline", "log_posterior", log_posterior, losses)
    )
    q = np.exp(posterior)
    with np.errstate(invalid="ignore"):
        kl = np.where(q > 0, q * (posterior - prior), 0.0).sum(axis=-1)
    outside = np.asarray(((losses < 0) | (losses > scale)).any(axis=-1))
    value = (q * losses).sum(axis=-1)
    return certificate(
        "offline PAC-Bayes",
        "expected loss of one draw from the posterior",
        value=value,
        slack=(kl + np.log(1 / delta)) / lam + lam * scale**2 / (8 * n),
        trivial=np.full(value.shape, scale),
        delta=delta,
        assumptions=(
            f"losses in [0, {scale:g}]",
            "independent outcomes",
            "prior and lam fixed before the data",
        ),
        broken={},
        failed=outside,
        note=f"A mean loss was outside [0, {scale:g}]." * bool(outside.any()),
    )


def _log_weights(owner: str, name: str, log_w: Array, losses: Array) -> Array:
    """(N), with a sum of 1 up to rounding; -inf is allowed."""
    weights = arguments.array(owner, name, np.exp(log_w), (np.shape(losses)[-1],))
    if (np.abs(weights.sum(axis=-1) - 1) > 1e-6).any():
        raise arguments.wrong(owner, name, "logs of weights with sum 1", weights.sum(axis=-1))
    return np.asarray(log_w, float)
