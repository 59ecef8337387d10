"""Stages a second of a core: a decision and its lesson, for many series in one call."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from panel_made import CONTEXTS, days_of

from bocopt import PanelAgent, SampleAverage
from bocopt.core import Policy
from bocopt.models import AcrossSeries, LightMixture
from bocopt.numeric.blas import one_thread
from bocopt.policies import Predictive
from bocopt.problems import Newsvendor

SHOP = Newsvendor(unit_cost=[1.0], price=[2.5], upper=1e5, largest_demand=1e5)
BEGIN = 40  # days, that are not counted
LAGS = (7, 8, 9, 10, 11)  # places of contexts in units of outcomes
#: A policy, and the model across series beside it.
POLICIES: dict[str, tuple[Policy[Any], AcrossSeries | None]] = {
    "LightMixture": (Predictive(SHOP, LightMixture()), None),
    "LightMixture, with the model across series": (
        Predictive(SHOP, LightMixture(given=15)),
        AcrossSeries(lags=LAGS),
    ),
    "SampleAverage": (SampleAverage(SHOP), None),
}


def measured(before: Any, small: bool) -> Iterator[dict[str, Any]]:
    """Yield the numbers of each policy."""
    series, days = (50, 20) if small else (1000, 100)
    with one_thread():
        for policy, across in POLICIES.values():
            played(policy, across, 20, 2)  # compile
        yield {name: played(*one, series, days) for name, one in POLICIES.items()}


def played(
    policy: Policy[Any], across: AcrossSeries | None, series: int, days: int
) -> dict[str, float]:
    """CPU seconds of decisions and lessons after the first days, and the state of a series."""
    agent, names = PanelAgent(policy, across=across), [f"s{i}" for i in range(series)]
    x, spent = np.zeros((series, CONTEXTS)), np.zeros(2)
    recent = np.zeros((28, series))
    for day, (promotion, sold, _) in enumerate(days_of(series, BEGIN + days, seed=1)):
        x[:, :6] = np.eye(7)[day % 7, :6]
        x[:, 6], x[:, 7], x[:, 8] = promotion, recent[-1], recent[-7]
        x[:, 9], x[:, 10], x[:, 11] = recent[-7:].mean(0), recent.mean(0), recent[-28]
        start = process_time()
        agent.decide(names, x)
        between = process_time()
        agent.observe(names, sold[:, None])
        if day >= BEGIN:
            spent += between - start, process_time() - between
        recent = np.concatenate([recent[1:], sold[None]])
    with tempfile.TemporaryDirectory() as folder:
        agent.save(Path(folder) / "panel.bin")
        size = (Path(folder) / "panel.bin").stat().st_size
    stages = series * days
    return {
        "series": series,
        "days": days,
        "contexts": CONTEXTS,
        "microseconds a decision": 1e6 * spent[0] / stages,
        "microseconds a lesson": 1e6 * spent[1] / stages,
        "series-stages a second of a core": stages / spent.sum(),
        "bytes a series, saved": size / series,
    }
