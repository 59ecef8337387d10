"""Simulations with known conditional risk, to test certificates on."""

from collections.abc import Mapping

from bocopt_studies.guarantees.simulated_beliefs import FiniteBelief, Squared
from bocopt_studies.guarantees.simulated_decisions import (
    Coin,
    Duel,
    Gambler,
    Power,
    RisingChances,
    Stakes,
    Warehouse,
    Wide,
)
from bocopt_studies.guarantees.simulation import Simulation

SIMULATIONS: Mapping[str, Simulation] = {
    "fair coin": Coin(0.5),
    "rare cost": Coin(0.02),
    "skewed": Power(),
    "gambler": Gambler(),
    "drift": RisingChances(),
    "duel": Duel(),
    "stakes": Stakes(),
    "wide stakes": Wide(),
    "knapsack": Warehouse(),
    "one coin": FiniteBelief(),
    "a coin each": FiniteBelief(coins=5),
    "restless": FiniteBelief(restless=True),
    "squared error": Squared(),
    "low forecasts": Squared(highest=0.05, otherwise=0.5),
}
