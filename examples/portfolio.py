"""Hold ten assets so that the mean of the worst 5% of losses is small, with a cost of trading.

The context is what is held: the last decision. So the stages are played by hand, as a live system
would, with an `Agent`.

    python examples/portfolio.py
"""

import numpy as np

from bocopt import Agent, CVaR, SampleAverage, absolute, minimise, program, real


@program(x=10, xi=10, risk=CVaR(0.95), hold=real(10, upper=0.4))
def portfolio(x, xi, hold):
    return minimise(0.002 * absolute(hold - x).sum() - xi @ hold), hold.sum() == 1


def returns(many, seed=0):
    """Of one market and ten assets."""
    rng = np.random.default_rng(seed)
    market = 0.005 + 0.03 * rng.standard_t(4, (many, 1))
    return market * np.linspace(0.2, 1.8, 10) + 0.02 * rng.normal(size=(many, 10))


def main(months=150):
    even = np.full(10, 0.1)
    agent, held, earned = Agent(SampleAverage(portfolio)), even, []
    outcomes = returns(months)
    for xi in outcomes:
        ticket = agent.decide(held)
        agent.observe(ticket.id, xi)
        earned.append(xi @ ticket.z - 0.002 * np.abs(ticket.z - held).sum())
        held = ticket.z
    for name, series in (("CVaR", np.array(earned)), ("even", outcomes @ even)):
        series = series[months // 3 :]
        worst = np.sort(series)[: len(series) // 20 + 1].mean()
        print(f"{name}: {series.mean():.2%} a month, {worst:.2%} in the worst of twenty")


if __name__ == "__main__":
    main()
