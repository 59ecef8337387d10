"""Load one truck for four shops each morning, before the demand of the day is known.

A function of the names of the shops declares the program; each shop has a law of its own, and the
laws become scenarios of all. Beside it: each shop decided by itself, and then all loads cut to what
the truck holds.

    python examples/truck.py
"""

import numpy as np

from bocopt import Coupled, CoupledAgent, maximise, pos, program, real

price = {"north": 3.0, "south": 1.5, "west": 2.0, "east": 5.0}
size = {"north": 60.0, "south": 25.0, "west": 40.0, "east": 15.0}


def truck(shops):
    gains = np.array([price[shop] for shop in shops])

    @program(xi=len(shops), load=real(len(shops), upper=200))
    def loads(xi, load):
        lost = pos(xi - load)  # demand that is not met
        return maximise(gains @ (xi - lost) - load.sum()), load.sum() <= 110

    return loads


four_shops = truck(list(size))


def days(many, seed=0):
    """Contexts (weekend) and demands of each shop; the weather is common to all."""
    rng = np.random.default_rng(seed)
    weekend = (np.arange(many) % 7 >= 5).astype(float)
    mean = np.array([*size.values()]) * (1 + 0.4 * weekend)[:, None]
    weather = np.exp(0.25 * rng.normal(size=(many, 1)))
    return weekend, rng.poisson(mean * weather).astype(float)


def main(many=120):
    weekend, demand = days(many)
    for name, together in (("one program", True), ("each, then cut", False)):
        agent, earned = CoupledAgent(Coupled(truck, scenarios=64, together=together)), []
        for day in range(many):
            agent.decide(list(size), np.full((len(size), 1), weekend[day]))
            earned.append(-agent.observe(list(size), demand[day]).cost)
        print(f"{name:14} earns {np.mean(earned[20:]):6.1f} a day")


if __name__ == "__main__":
    main()
