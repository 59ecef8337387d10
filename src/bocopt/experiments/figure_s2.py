"""Supplementary figure 2: how the paper chose the learning rate of DFL."""

from functools import partial

from bocopt.experiments import rates

DFL = rates.Tuning(
    "figure-s2", "DFL", (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1), "reward", "reward", False
)

tasks = partial(rates.tasks, DFL)
summarise = partial(rates.summarise, DFL)
show = partial(rates.show, DFL)
