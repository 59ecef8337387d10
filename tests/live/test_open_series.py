"""Programs of whichever series are open, as one problem."""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from test_coupled import NAMES, budget, truck

from bocopt import minimise, pos, program, real
from bocopt.checks import check_problem
from bocopt.core import Problem, judge
from bocopt.live import Coupled, CoupledAgent
from bocopt.live.open_series import OpenSeries
from bocopt.problems.hindsight import hindsight

RNG = np.random.default_rng(0)
OPEN = np.array([[1, 1, 1, 1], [1, 0, 1, 0], [0, 0, 0, 1], [1, 0, 1, 0]], bool)
XI = RNG.integers(5, 60, size=(4, 4)).astype(float)


def test_each_row_is_that_of_the_program_of_its_series() -> None:
    shops = OpenSeries(Coupled(truck, common=["trucks"]), NAMES, NAMES[:2])
    x = shops.seen(OPEN, np.zeros((4, 4, 0)))
    assert shops.dims == (4, 6, 4)
    found = shops.solve(XI[:, None], np.ones(1), x)
    best = hindsight(shops, x, XI)
    cost, violation = judge(shops, x, found.z, XI)
    for row, opened in enumerate(OPEN):
        names = [name for name, here in zip(NAMES, opened, strict=True) if here]
        alone = truck(names)
        own = alone.solve(XI[row, opened][None], np.ones(1), np.zeros(0))
        assert (found.z[row, :4][opened] == own.z[: len(names)]).all()
        assert (found.z[row, :4][~opened] == 0).all()
        assert (found.z[row, 4:] == own.z[len(names) :]).all()
        assert found.value[row] == own.value
        xi = XI[row, opened]
        assert cost[row] == alone.cost(np.zeros(0), own.z, xi) == best.cost[row]
        assert violation[row] == alone.violation(np.zeros(0), own.z, xi)


def test_it_is_a_problem_like_any_other() -> None:
    shops = OpenSeries(Coupled(budget), NAMES, NAMES)
    check_problem(shops, x=shops.seen(OPEN, np.zeros((4, 4, 0))), xi=XI)


def test_ranges_are_those_of_the_program() -> None:
    def ranged(shops: Sequence[str]) -> Problem:
        from bocopt.problems import Newsvendor

        many = len(shops)
        return Newsvendor(unit_cost=[1.0] * many, price=3.0, largest_demand=60.0)

    shops = OpenSeries(Coupled(ranged), NAMES, NAMES)
    x, z = shops.seen(OPEN, np.zeros((4, 4, 0))), np.full((4, 4), 20.0)
    low, high = shops.range(x, z)
    assert low.tolist() == [-160.0, -80.0, -40.0, -80.0]
    assert high.tolist() == [80.0, 40.0, 20.0, 40.0]
    least, most = shops.range_of_difference(x, z, z + 1.0)
    assert ((least <= 0) & (most >= 0)).all()
    assert shops.possible(x, XI).all()
    closed = np.where(OPEN, XI, 1e9)
    assert shops.possible(x, closed).all()
    assert not shops.possible(x, XI + 100.0).any()


def test_programs_may_read_contexts() -> None:
    """Each program is shown the contexts of the series that are open, one after the other."""

    def lifted(shops: Sequence[str]) -> Problem:
        many = len(shops)

        @program(x=2 * many, xi=many, load=real(many, upper=500))
        def loads(x: Any, xi: Any, load: Any) -> Any:
            price = 1.0 + x.reshape(many, 2)[:, 1]
            return minimise(load.sum() + (price * pos(xi - load)).sum()), load.sum() <= 90

        return cast(Problem, loads)

    shops = OpenSeries(Coupled(lifted), NAMES, NAMES, width=2)
    contexts = RNG.uniform(1.0, 3.0, size=(4, 4, 2))
    x = shops.seen(OPEN, contexts)
    found = shops.solve(XI[:, None], np.ones(1), x)
    cost = shops.cost(x, found.z, XI)
    for row, opened in enumerate(OPEN):
        names = [name for name, here in zip(NAMES, opened, strict=True) if here]
        own, seen = lifted(names), contexts[row, opened].ravel()
        z = own.solve(XI[row, opened][None], np.ones(1), seen).z
        assert (found.z[row][opened] == z).all()
        assert cost[row] == own.cost(seen, z, XI[row, opened])
    agent = CoupledAgent(Coupled(lifted))
    taken = agent.decide(NAMES, contexts[0])
    paid = agent.observe(NAMES, XI[0]).cost
    assert paid == lifted(NAMES).cost(contexts[0].ravel(), taken.z, XI[0])
