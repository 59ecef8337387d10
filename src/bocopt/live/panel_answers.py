"""What a panel answers: decisions, what came of them, and laws side by side."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bocopt.core import Array, IntArray
from bocopt.live.series_names import refuse


class PanelDecisions(NamedTuple):
    """Decisions of different series, in the order in which they were asked for."""

    number: IntArray  # (n) of each, among those of its series, from 0
    z: Array  # (n, d)
    status: IntArray  # (n)


class PanelOutcomes(NamedTuple):
    """What came of decisions of different series; NaN where nothing was learned."""

    number: IntArray  # (n)
    cost: Array  # (n)
    feasible: Array  # (n) 1 or 0


def side_by_side(names: Sequence[str], found: Sequence[tuple[Any, Any]]) -> tuple[Array, Array]:
    """Return the scenarios of parts of the series in one array, with weights of 0 at the end."""
    without = np.zeros(len(names), bool)
    for some, laws in found:
        without[some] = laws is None
    refuse(names, (without, "have no scenarios: no outcome came, or the policy has none"))
    most = max((laws[0].shape[-2] for _, laws in found), default=0)
    dim = found[0][1][0].shape[-1] if found else 0
    scenarios, w = np.zeros((len(names), most, dim)), np.zeros((len(names), most))
    for some, (own, weights) in found:
        size = own.shape[-2]
        scenarios[some] = own[..., :1, :]
        scenarios[some, :size], w[some, :size] = own, weights
    return scenarios, w
