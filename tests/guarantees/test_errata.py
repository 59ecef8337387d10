"""What is wrong in the print of the guarantees, by what it does."""

import numpy as np
from scipy.stats import binomtest

from bocopt.beliefs.update import gibbs_update
from bocopt.core import BeliefReport, LossBounds
from bocopt.guarantees import Evidence, Theorem33, certify
from bocopt.numeric import noise
from bocopt.numeric.weights import uniform
from bocopt.problems import Knapsack
from bocopt.problems.hindsight import regret


def test_a_cost_that_is_bounded_from_above_only_makes_theorem_33_false() -> None:
    """E23: c = -reward is below any C > 0; what is true needs a range on both sides."""
    shop, x = Knapsack(value=[12], capacity=[8], salvage=[3]), np.zeros((20, 1))
    predicted, outcomes = np.linspace(0.8, 5.0, 20)[:, None], (1.0, 4.0)
    table = np.stack([regret(shop, x, predicted, np.full((20, 1), xi)) for xi in outcomes])
    runs, horizon, lam = 1000, 100, 1e-4
    log_w, seen, risk = uniform((runs,), 20), np.zeros(runs), np.zeros(runs)
    for t in range(horizon):
        which = (noise.uniform(np.arange(runs), t, "two outcomes", ()) < 0.5).astype(int)
        update = gibbs_update(log_w, table[which], lam)
        seen += update.losses.mean_loss
        risk += (np.exp(log_w) * table.mean(axis=0)).sum(axis=-1)
        log_w = update.log_w
    failed = {}
    for scale in (1.0, 96.0):  # any C above the cost; the largest less the least cost
        failed[scale] = int((risk > seen + scale * np.sqrt(horizon * np.log(20) / 2)).sum())
    assert table.max() > 50.0
    low = binomtest(failed[1.0], runs).proportion_ci(0.95).low
    assert low > 0.4, failed  # it may be wrong in 5%
    assert failed[96.0] == 0
    losses = gibbs_update(uniform((), 20), table[1], lam).losses
    zero = np.array(0.0)
    belief = BeliefReport(losses, LossBounds(zero, zero + 1.0, zero + 1.0), intact=zero + 1.0)
    below = certify(Theorem33(lam=1.0, scale=1.0), [Evidence(zero, belief=belief)])
    assert not below.applicable  # here C = 1 is refused
    assert "outside [0, 1]" in below.note
