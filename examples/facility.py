"""Open stores before the demand is known, ship once it is: two stages.

python examples/facility.py
"""

import numpy as np

from bocopt import (
    Ensemble,
    Mixture,
    SampleAverage,
    backtest,
    binary,
    minimise,
    program,
    recourse,
)

rng = np.random.default_rng(0)
fixed, ship_cost, room = rng.uniform(50, 100, 4), rng.uniform(1, 5, (4, 6)), 60.0


@program(xi=6, opened=binary(4), ship=recourse((4, 6)), unmet=recourse(6))
def facility(xi, opened, ship, unmet):
    return (
        minimise(fixed @ opened + (ship_cost * ship).sum() + 25 * unmet.sum()),
        ship.sum(axis=1) <= room * opened,
        ship.sum(axis=0) + unmet >= xi,
    )


def seasons(many, seed=0):
    """A forecast, and what customers asked for."""
    rng = np.random.default_rng(seed)
    forecast = rng.uniform(0.5, 2, (many, 1))
    return forecast, rng.gamma(9, forecast * [1, 2, 1.5, 1, 2, 1])


def main(many=50):
    x, demand = seasons(many)
    for policy in (Ensemble(facility, Mixture(dim_xi=6, scenarios=32)), SampleAverage(facility)):
        trace = backtest(policy, x, demand)
        paid, best = trace.cost[15:].mean(), trace.hindsight[15:].mean()
        print(f"{type(policy).__name__:14} pays {paid:6.1f} a season; in hindsight {best:6.1f}")


if __name__ == "__main__":
    main()
