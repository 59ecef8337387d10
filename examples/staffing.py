"""Staff six shifts so that demand is covered in every interval with a chance of 0.9.

`Predictive` decides under the learned law alone. A day that is not covered costs nothing extra
here: an `Ensemble` would charge its arms for such days.

python examples/staffing.py
"""

import numpy as np

from bocopt import Mixture, SampleAverage, backtest, integer, minimise, program
from bocopt.policies import Predictive

wage = np.array([10.0, 10.0, 11.0, 12.0, 13.0, 13.0])
intervals = np.arange(8)
on_duty = (intervals[:, None] >= np.arange(6)) & (intervals[:, None] < np.arange(6) + 3)


@program(xi=8, chance=0.9, start=integer(6, upper=60))
def staffing(xi, start):
    return minimise(wage @ start), on_duty.astype(float) @ start >= xi


def days(many, seed=0):
    """How busy the day is said to be, and the people needed in each interval."""
    rng = np.random.default_rng(seed)
    busy = rng.uniform(0.5, 1.5, (many, 1))
    return busy, rng.poisson(busy * [4, 8, 12, 14, 12, 9, 6, 3]).astype(float)


def main(many=80):
    x, demand = days(many)
    for policy in (Predictive(staffing, Mixture(dim_xi=8, scenarios=128)), SampleAverage(staffing)):
        trace = backtest(policy, x, demand)
        paid, covered = trace.cost[20:].mean(), trace.feasible[20:].mean()
        print(f"{type(policy).__name__:14} pays {paid:6.1f} a day and covers {covered:.0%} of days")


if __name__ == "__main__":
    main()
