"""Small fleets with known laws, and mixtures that are quick."""

from typing import Any

import numpy as np
from mixtures import plain

from bocopt.core import Array
from bocopt.models import ConstantVariance, Informed, Mixture, SharedPrior

Rows = tuple[Array, Array]


def line(seed: int, level: float, slope: float, noise: float, n: int = 40) -> Rows:
    """xi = level + slope x + noise."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 1))
    return x, level + slope * x + noise * rng.normal(size=(n, 1))


def fleet(count: int = 8, n: int = 40) -> list[Rows]:
    """Levels around 20 and slopes around 3, each within 1; noise 1."""
    rng = np.random.default_rng(99)
    laws = rng.normal([20.0, 3.0], 1.0, (count, 2))
    return [line(seed, level, slope, 1.0, n) for seed, (level, slope) in enumerate(laws)]


def quick(**options: Any) -> Mixture:
    return plain(**{"dim_xi": 1, "members": [ConstantVariance()], "scenarios": 64, **options})


def informed(prior: SharedPrior, **options: Any) -> Informed:
    own = quick(dim_xi=prior.dim_xi)
    return Informed(prior, **{"own": own, "at_once": True, **options})


def learned(model: Any, rows: Rows, seed: int = 0) -> Any:
    """The state after these rows."""
    state = model.init(np.array(seed))
    for t, (x, xi) in enumerate(zip(*rows, strict=True)):
        state = model.step(state, t, x, xi)
    return state
