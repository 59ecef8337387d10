"""Supplementary figure 1: how the paper chose the learning rate of PtO."""

from functools import partial

from bocopt_studies.paper import learning_rates

PTO = learning_rates.Tuning(
    "figure-s1", "PtO", (0.01, 0.05, 0.1, 0.5, 1, 5, 10), "squared_error", "MSE", True
)

tasks = partial(learning_rates.tasks, PTO)
summarise = partial(learning_rates.summarise, PTO)
show = partial(learning_rates.show, PTO)
