"""A small agent to test with."""

from typing import Any

import numpy as np

from bocopt import Agent, SampleAverage
from bocopt.problems import Knapsack

PROBLEM = Knapsack(value=[12.0] * 2, capacity=[8.0], salvage=[3.0], upper=9)
CONTEXT, OUTCOME = np.zeros(1), np.array([1.0, 2.0])


def small_agent() -> Agent[Any]:
    return Agent(SampleAverage(PROBLEM, initial_decision=[0, 0]), seed=3, max_open=5)
