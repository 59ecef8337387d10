"""Scenarios to look at in place of all: some of them, or new ones that stand for many."""

import numpy as np

from bocopt.core import Array, IntArray

_LEVELS = 1e-12  # of cumulated weights: ten times 1/10 is less than 1

#: In the order in which they are tried. Up may be the safe side or the unsafe one: both are there.
#: With many independent parts, what is safe for their sum is a level not far from the middle.
_QUANTILES_AND_FACTORS = (
    *(("quantile", 0.75), ("quantile", 0.25)),
    *(("quantile", 0.6), ("quantile", 0.4)),
    *(("quantile", 0.9), ("quantile", 0.1)),
    *(("factor", 1.1), ("factor", 0.9)),
    *(("quantile", 0.68), ("quantile", 0.32)),
    *(("quantile", 1.0), ("quantile", 0.0)),
    *(("factor", 1.2), ("factor", 0.8)),
    *(("quantile", 0.82), ("quantile", 0.18)),
    *(("factor", 1.05), ("factor", 0.95)),
    *(("quantile", 0.54), ("quantile", 0.46)),
)


def merged(scenarios: Array, w: Array) -> tuple[Array, Array]:
    """Return scenarios (s', m) with their weights (s') > 0, each once, in the order of the first.

    >>> merged(np.array([[1.0], [2.0], [1.0]]), np.array([0.5, 0.0, 0.5]))
    (array([[1.]]), array([1.]))
    """
    if w.all() and (len(w) == 1 or _all_differ(scenarios)):
        return scenarios, w
    first: dict[bytes, int] = {}
    place = np.array([first.setdefault(row.tobytes(), len(first)) for row in scenarios + 0.0])
    weight = np.bincount(place, weights=w).astype(np.float64)
    some = np.unique(place, return_index=True)[1]
    return scenarios[some][weight > 0], weight[weight > 0]


def _all_differ(scenarios: Array) -> bool:
    """Return whether all scenarios (s, m) surely differ: equal ones have equal sums."""
    sums = (scenarios * np.sqrt(np.arange(2.0, scenarios.shape[1] + 2))).sum(axis=1)
    return len(np.unique(sums)) == len(sums)


def thin(many: int, wanted: int) -> IntArray:
    """Numbers below `many`, at most so many, all over: scenarios may come in a regular pattern."""
    if many <= wanted:
        return np.arange(many)
    golden = (np.arange(wanted) * 0.6180339887498949) % 1.0
    return np.unique((golden * many).astype(np.int64))


def synthetic(scenarios: Array, w: Array, wanted: int) -> Array:
    """(s, m), (s) -> (at most wanted, m): the mean, quantiles of each component, safety factors.

    Where a component is an integer in all scenarios, it is one here.

    >>> synthetic(np.array([[1.0], [2.0], [6.0]]), np.full(3, 1 / 3), 4).ravel().tolist()
    [3.0, 6.0, 1.0, 2.0]
    """
    mean = (w[:, None] * scenarios).sum(axis=0) / w.sum()
    order = scenarios.argsort(axis=0, kind="stable")
    ascending: Array = np.take_along_axis(scenarios, order, axis=0)
    below = w[order].cumsum(axis=0) / w.sum()

    def quantile(level: float) -> Array:
        """Return the weighted quantile (m) of each component at this level."""
        at = (below >= level - _LEVELS).argmax(axis=0)[None]
        taken: Array = np.take_along_axis(ascending, at, axis=0)[0]
        return taken

    made = [mean]
    for measure, amount in _QUANTILES_AND_FACTORS:
        made.append(amount * mean if measure == "factor" else quantile(amount))
    whole = (scenarios == np.rint(scenarios)).all(axis=0)
    return np.where(whole, np.rint(made), made)[:wanted]
