"""Coverage by simulation, small; `bocopt reproduce guarantees-coverage` is the full one."""

import pytest
from scipy.stats import binomtest

from bocopt.experiments.chances import DELTAS, Cover, CoverBatch
from bocopt.experiments.simulations import NORMAL, PEEKING, SIMULATIONS

RUNS = 500


@pytest.mark.parametrize("simulation", SIMULATIONS)
def test_no_certificate_fails_more_often_than_it_may(simulation: str) -> None:
    found = Cover(simulation=simulation, seeds=tuple(range(RUNS)), horizon=60).run()
    assert all(f"/{delta:g}" in "".join(found) for delta in DELTAS)
    for name, failed in found.items():
        if not name.startswith("control"):
            delta = float(name.split("/")[1])
            assert binomtest(int(failed.sum()), RUNS).proportion_ci(0.99).low <= delta, name


def test_the_offline_bound_holds() -> None:
    for name, failed in CoverBatch(seeds=tuple(range(RUNS)), horizon=60).run().items():
        assert failed.mean() <= float(name.split("/")[1])


def test_a_bound_for_one_time_that_is_watched_all_the_time_does_fail() -> None:
    """So that the simulations can tell."""
    found = Cover(simulation="fair coin", seeds=tuple(range(RUNS)), horizon=200).run()
    for control in (PEEKING, NORMAL):
        failed = int(found[f"{control}/0.2"].sum())
        assert binomtest(failed, RUNS).proportion_ci(0.95).low > 0.2
    assert found["direct/0.2"].mean() > 0.05  # and that the direct one is nearly tight
