"""One stage of the Gibbs posterior: what its losses do to the weights of the particles."""

from typing import NamedTuple

import numpy as np

from bocopt.abilities import BoundedAbove, IsRegret
from bocopt.core import Array, BeliefReport, Loss, LossBounds, LossReport
from bocopt.numeric.weights import log_total
from bocopt.wrappers import says


class Update(NamedTuple):
    """Log weights after one stage, and a report of its losses."""

    log_w: Array  # (N)
    losses: LossReport


def gibbs_update(log_w: Array, loss: Array, lam: float | Array) -> Update:
    """w~_i = w_i exp(-lam loss_i), normalised (E5: by the sum of the w~, not of the w).

    >>> from bocopt.numeric.weights import uniform
    >>> update = gibbs_update(uniform((), 2), np.array([0.0, np.log(3.0)]), lam=1.0)
    >>> np.exp(update.log_w).round(12)
    array([0.75, 0.25])
    """
    lam = np.asarray(lam)
    joint = log_w - lam[..., None] * loss
    total = log_total(joint)
    after = joint - total[..., None]
    posterior_loss = (np.exp(after) * loss).sum(axis=-1)
    losses = LossReport(
        mean_loss=(np.exp(log_w) * loss).sum(axis=-1),
        mix_loss=-total / lam,
        posterior_loss=posterior_loss,
        kl=np.maximum(-total - lam * posterior_loss, 0.0),
        least_loss=loss.min(axis=-1),
        largest_loss=loss.max(axis=-1),
    )
    return Update(after, losses)


def no_report(loss: Loss, lead: tuple[int, ...]) -> BeliefReport:
    """Before any stage: only what the loss says of itself is known."""
    nan, upper = np.full(lead, np.nan), says(loss, BoundedAbove)
    bounds = LossBounds(
        loss_lower=np.full(lead, float(loss.lower)),
        loss_upper=np.full(lead, float(np.inf if upper is None else upper)),
        loss_is_regret=np.full(lead, float(bool(says(loss, IsRegret)))),
    )
    return BeliefReport(LossReport(*(nan,) * 6), bounds, intact=nan)
