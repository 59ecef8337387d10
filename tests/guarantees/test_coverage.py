"""Coverage by simulation, small; `bocopt reproduce guarantees-coverage` is the full one."""

import numpy as np
import pytest
from lengths import long
from scipy.stats import binomtest

from bocopt_studies.guarantees.cover import Cover, CoverBatch, used
from bocopt_studies.guarantees.simulated_decisions import NORMAL, PEEKING
from bocopt_studies.guarantees.simulations import SIMULATIONS
from bocopt_studies.work.task import Record


@pytest.fixture(scope="module", params=[100, long(500)])
def many(request: pytest.FixtureRequest) -> int:
    """How many runs."""
    return int(request.param)


@pytest.fixture(scope="module")
def runs(many: int) -> dict[str, Record]:
    """The share of the slack that each run used, by simulation and certificate."""
    seeds = tuple(range(many))
    found = {n: Cover(simulation=n, seeds=seeds, horizon=60).run() for n in SIMULATIONS}
    for coins, parameters in ((1, 5), (50, 50)):
        batch = CoverBatch(seeds=seeds, horizon=60, coins=coins, parameters=parameters)
        found[f"batch {coins}"] = batch.run()
    return found


def test_no_certificate_fails_more_often_than_it_may(runs: dict[str, Record], many: int) -> None:
    for simulation, record in runs.items():
        for name, shares in record.items():
            if not name.startswith("control"):
                delta = float(name.split("/")[1])
                low = binomtest(int((shares > 1).sum()), many).proportion_ci(0.99).low
                assert low <= delta, (simulation, name)


def test_each_certificate_would_fail_somewhere_with_less_slack(runs: dict[str, Record]) -> None:
    """So that the simulations can tell."""
    names = {name for record in runs.values() for name in record if "control" not in name}
    assert len(names) == 2 * (6 + 1 + 4 + 1 + 1)
    for name in names:
        delta = float(name.split("/")[1])
        most = max(np.quantile(r[name], 1 - delta) for r in runs.values() if name in r)
        assert most > 0.4, name


def test_a_bound_for_one_time_that_is_watched_all_the_time_does_fail() -> None:
    many, horizon, delta = 500, 200, 0.2  # fewer could not tell
    coin = SIMULATIONS["fair coin"]
    tried = coin.guarantees(horizon, delta)
    controls = {(name, delta): tried[name] for name in (PEEKING, NORMAL)}
    for shares in used(coin, controls, np.arange(many), horizon).values():
        assert binomtest(int((shares > 1).sum()), many).proportion_ci(0.95).low > delta
