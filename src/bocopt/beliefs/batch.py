"""A batch of stages, for samplers that learn it at once."""

import numpy as np

from bocopt import arguments
from bocopt.beliefs.past import Ledger, Past
from bocopt.core import Array, IntArray, Loss
from bocopt.numeric.history import History


def ledger_of(owner: str, loss: Loss, seeds: IntArray, x: Array, xi: Array) -> Ledger:
    """What parameters lose on a batch, (n, k) and (n, m); trials are one leading axis.

    The noise of the loss is that of stages 0, 1, ..., as in `ResampleMove`.
    """
    xi = arguments.array(owner, "xi", xi, (None, None))
    x = arguments.array(owner, "x", x, (xi.shape[-2], ...))
    lead, many = seeds.shape, xi.shape[-2]
    arguments.lead(owner, seeds=lead, x=x.shape[:-2], xi=xi.shape[:-2])
    stages = np.broadcast_to(np.arange(float(many))[:, None], (many, 1))
    rows = (
        np.broadcast_to(a, (*lead, *a.shape[-2:])).reshape(seeds.size, *a.shape[-2:])
        for a in (x, xi, stages)
    )
    past = Past(*(_history(a) for a in rows))
    return Ledger(loss, seeds.reshape(-1), past, discount=1.0, early_rejection=True, threads=1)


def _history(rows: Array) -> History:
    many = np.array(rows.shape[-2])
    return History(rows.copy(), many, np.array(0), many, np.zeros(rows.shape[:-2], np.int64))
