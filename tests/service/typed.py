"""Commands as a user types them, on a small shop in a folder."""

from pathlib import Path

import numpy as np
from shop import engine, one
from typer.testing import CliRunner

from bocopt.app.cli import app
from bocopt.app.service.commands import Decide, Forget, Observe
from bocopt.app.service.config import load_config
from bocopt.app.service.machine import numeric_fingerprint
from bocopt.app.service.stores import open_store

SHOP = """\
from bocopt import SampleAverage
from bocopt.problems import Knapsack

problem = Knapsack(value=[12, 9], capacity=[8], salvage=[1], upper=8)
policy = SampleAverage(problem, initial_decision=[1, 1])
"""


CONFIG = """\
[service]
port = 0

[cases.shop]
problem = "shop:problem"
policies = ["policy"]
snapshot = 6
"""


def bocopt(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(words))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


def play(folder: Path, stages: int = 8) -> None:
    """All but the last outcome; the first decision is given up."""
    config = load_config(folder / "bocopt.toml")
    store = open_store(config.store, folder)
    ours = engine(store, *config.templates.values(), numeric=numeric_fingerprint())
    rng = np.random.default_rng(0)
    for i in range(stages):
        one(ours, Decide("shop", [round(float(rng.normal()), 3)]))
        if i == 0:
            one(ours, Forget("shop", 0))
        elif i < stages - 1:
            one(ours, Observe("shop", i, rng.uniform(0.5, 1.5, 2).round(3).tolist()))
    store.close()
