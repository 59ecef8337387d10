"""Supplementary figure 2: how the paper chose the learning rate of DFL."""

from functools import partial

from bocopt_studies.paper import learning_rates

DFL = learning_rates.Tuning(
    "figure-s2", "DFL", (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1), "reward", "reward", False
)

tasks = partial(learning_rates.tasks, DFL)
summarise = partial(learning_rates.summarise, DFL)
show = partial(learning_rates.show, DFL)
