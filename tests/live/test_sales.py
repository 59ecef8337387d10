"""Whether outcomes are called sales: where they are, soon; where they are demand, hardly ever."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from bocopt.bounds import at_least, bounds_of, exactly
from bocopt.core import Array
from bocopt.live.sales import Sales, after, begin, suspicions

_STREAMS, _STAGES = 400, 300
LAWS: dict[str, Any] = {
    **{f"poisson {mean:g}": stats.poisson(mean) for mean in (0.1, 0.5, 1.0, 2.0, 5.0, 90.0)},
    "negative binomial": stats.nbinom(2, 0.2),
    "geometric": stats.nbinom(1, 0.5),
}


def _first(law: Any, ratio: float, *, cut: bool, zeros: float = 0.0) -> Array:
    """Return at which outcome each of many streams was called sales; inf where it never was.

    Decisions are whole, as where equality by chance is common: that quantile, or the one below.
    """
    rng = np.random.default_rng(7)
    sales, found = begin(1, (_STREAMS,)), np.full(_STREAMS, np.inf)
    order = float(law.ppf(ratio))
    for t in range(_STAGES):
        demand = law.rvs(_STREAMS, random_state=rng) * (rng.random(_STREAMS) >= zeros)
        z = np.full((_STREAMS, 1), max(order - (t % 7 == 0), 0.0))
        xi = np.minimum(demand[:, None], z) if cut else demand[:, None].astype(float)
        sales = after(sales, z, exactly(xi))
        for i in np.flatnonzero(np.isinf(found) & (sales.capital.mean(axis=-1)[:, 0] > 100)):
            if suspicions(_one(sales, int(i))):
                found[i] = t
    return found


def _one(sales: Sales, i: int) -> Sales:
    return Sales(*(part[i] for part in sales))


@pytest.mark.parametrize("ratio", [0.5, 0.8, 0.95, 0.99])
@pytest.mark.parametrize("law", LAWS)
def test_demand_is_hardly_ever_called_sales(law: str, ratio: float) -> None:
    """The promise is one stream of 1,000, however long one looks."""
    assert np.isfinite(_first(LAWS[law], ratio, cut=False)).sum() <= 2
    assert np.isfinite(_first(LAWS[law], ratio, cut=False, zeros=0.6)).sum() <= 2


@pytest.mark.parametrize(
    ("law", "ratio"), [("poisson 2", 0.5), ("poisson 5", 0.8), ("poisson 90", 0.8)]
)
def test_sales_are_called_so_within_a_season(law: str, ratio: float) -> None:
    assert np.median(_first(LAWS[law], ratio, cut=True)) < 120


def test_a_day_above_or_a_bound_begins_anew_and_costs_more_the_next_time() -> None:
    demand = np.array([7.0, 3.0, 9.0, 8.0, 4.0] * 8)
    z = np.array([6.0])
    sales = begin(1)
    for xi in np.minimum(demand, 6.0):
        sales = after(sales, z, exactly(np.array([xi])))
    [suspicion] = suspicions(sales)
    assert (suspicion.n, suspicion.equal) == (40, 24)
    for end in (exactly(np.array([9.0])), bounds_of("test", "xi", [at_least(6)], 1)):
        ended = after(sales, z, end)
        assert suspicions(ended) == []
        assert (ended.runs.item(), ended.n.item(), ended.capital.max()) == (2, 0, 1.0)


def test_components_are_judged_by_themselves_and_together_as_alone() -> None:
    rng = np.random.default_rng(3)
    streams = begin(2, (5,))
    alone = [begin(2) for _ in range(5)]
    for _ in range(80):
        demand, z = rng.poisson(6.0, (5, 2)).astype(float), np.full((5, 2), 6.0)
        xi = np.stack([np.minimum(demand[:, 0], 6.0), demand[:, 1]], axis=-1)
        streams = after(streams, z, exactly(xi))
        alone = [after(one, z[i], exactly(xi[i])) for i, one in enumerate(alone)]
    for i, one in enumerate(alone):
        for part, own in zip(_one(streams, i), one, strict=True):
            np.testing.assert_array_equal(part, own)
        assert [each.component for each in suspicions(one)] == [0]


def test_amounts_that_never_differ_and_orders_of_nothing_say_nothing() -> None:
    for z, xi in ((5.0, 5.0), (0.0, 0.0)):
        sales = begin(1)
        for _ in range(500):
            sales = after(sales, np.array([z]), exactly(np.array([xi])))
        assert suspicions(sales) == []
