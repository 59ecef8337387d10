"""Whether a policy was better on a series than what is done now."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from bocopt.compare import Compared, compared_of
from bocopt.core import Problem, is_ranged
from bocopt.guarantees import Comparison, Evidence, comparisons
from bocopt.guarantees.certificate import Shadow, nan_is_no_news
from bocopt.guarantees.monitor import range_of_difference
from bocopt.tables.findings import Played
from bocopt.tables.series import Series


def compared(
    problem: Problem,
    series: Series,
    now: Played,
    others: Mapping[str, Played],
    *,
    warm_up: int,
    scale: float | None,
    delta: float,
) -> dict[str, Compared]:
    """Each of the others beside it, after the warm-up, at stages whose outcome is known.

    All hold together but for a chance of delta, which they share. Nothing is said where fewer than
    two stages can be compared.
    """
    watched = comparisons(tuple(others), scale=scale, sense=problem.sense, delta=delta)
    found = {
        one.name: _with(one, problem, series, now, others[one.name], warm_up) for one in watched
    }
    return {name: verdict for name, verdict in found.items() if verdict is not None}


def _with(
    one: Comparison, problem: Problem, series: Series, now: Played, other: Played, warm_up: int
) -> Compared | None:
    known = np.isfinite(now.cost) & np.isfinite(other.cost)
    known[:warm_up] = False
    stages = np.flatnonzero(known)
    if len(stages) < 2:
        return None
    x, xi = series.x[stages], series.xi[stages]
    low, high = range_of_difference(problem, x, now.z[stages], other.z[stages])
    possible = np.ones(len(stages), bool)
    if is_ranged(problem):
        possible = np.broadcast_to(problem.possible(x, xi), possible.shape)
    late = series.arrives[stages] > stages + 1
    alone, state = replace(one, shadow=0), one.init(())
    for i, stage in enumerate(stages):
        evidence = Evidence(
            cost=now.cost[stage],
            possible=possible[i],
            shadows=(Shadow(other.cost[stage], low[i], high[i]),),
            late=late[i],
        )
        with nan_is_no_news():
            state = alone.step(state, evidence)
    paid = np.stack([now.cost[stages], other.cost[stages]], axis=-1)
    met = np.stack([now.feasible[stages], other.feasible[stages]], axis=-1)
    return compared_of(one, state, paid, met, problem.sense)
