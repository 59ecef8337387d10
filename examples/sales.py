"""Bake each morning, and see only what was sold: where all was, demand was at least that.

Two bakers who know nothing at first. One takes the sales for the demand, and never bakes more than
at first. The other says what was seen.

    python examples/sales.py
"""

import warnings

import numpy as np

from bocopt import Agent, SampleAverage, at_least, maximise, pos, program, real


@program(xi=1, bake=real(upper=400))
def bakery(xi, bake):
    return maximise(5 * (xi[0] - pos(xi[0] - bake)) - 2 * bake)


def demands(many, seed=0):
    """Loaves that are asked for each day: 96 on average."""
    return np.random.default_rng(seed).gamma(9, 96 / 9, many)


def baked(demand, told):
    """Loaves of each day, where `told` says what is told of the demand."""
    agent, loaves = Agent(SampleAverage(bakery)), []
    for asked in demand:
        ticket = agent.decide([])
        agent.observe(ticket.id, [told(ticket.z[0], asked)])
        loaves.append(ticket.z[0])
    return np.array(loaves)


def main(many=200):
    demand = demands(many)
    ways = {
        "sales": lambda loaves, asked: min(loaves, asked),
        "what was seen": lambda loaves, asked: at_least(loaves) if asked >= loaves else asked,
    }
    warnings.simplefilter("ignore")  # the agent asks whether these are sales
    for name, told in ways.items():
        loaves = baked(demand, told)
        earned = 5 * np.minimum(loaves, demand) - 2 * loaves
        mean = earned.mean()
        print(f"told {name:13} bakes {loaves[-1]:4.0f} at the end, earns {mean:6.1f} a day")


if __name__ == "__main__":
    main()
