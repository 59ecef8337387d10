"""HiGHS behind its module: the same answer to the same question, deadlines, and Ctrl-C."""

import gc
import os
import signal
import threading
import time

import numpy as np
import pytest
from staffing_cases import staffing

from bocopt.core import Array
from bocopt.problems.program import highs
from bocopt.problems.program.form import Sparse
from bocopt.problems.program.highs import LinearProgram, WatchedRun
from bocopt.problems.program.strategies import mixing


def _tied(seed: int) -> LinearProgram:
    """A knapsack with many optima."""
    rng = np.random.default_rng(seed)
    n = 8
    return LinearProgram(
        cost=-rng.integers(1, 3, n).astype(float),
        lower=np.zeros(n),
        upper=np.full(n, 2.0),
        rows=Sparse.of(rng.integers(1, 3, (3, n)).astype(float)),
        row_lower=np.full(3, -highs.INF),
        row_upper=np.full(3, 7.0),
        integer=np.ones(n, bool),
    )


def _points(seeds: range) -> dict[int, Array | None]:
    return {seed: highs.solve(_tied(seed)).point for seed in seeds}


def test_200_tied_questions_have_the_same_answers_in_any_order() -> None:
    forward, backward = _points(range(200)), _points(range(199, -1, -1))
    for seed, point in forward.items():
        other = backward[seed]
        assert point is not None
        assert other is not None
        assert np.array_equal(point, other)


@pytest.mark.parametrize(("coefficient", "tight"), [(0.0, False), (-1.0, True)])
def test_a_basis_also_where_no_row_has_a_coefficient(coefficient: float, tight: bool) -> None:
    limit = np.array([coefficient])
    program = LinearProgram(
        np.ones(1), np.zeros(1), np.full(1, 2.0), Sparse.of(limit[None]), -np.full(1, np.inf), limit
    )
    shifting = highs.Shifting(program)
    assert shifting.solve(program.row_lower, limit).point == -coefficient
    assert [part.tolist() for part in shifting.basis()] == [[tight], [tight]]


def test_a_deadline_counts_from_its_question() -> None:
    program = mixing.model(staffing(100, seed=0)).linear._replace(integer=None)
    limit = 0.2
    while highs._kept().getRunTime() < limit:
        highs.solve(program)
    assert highs.solve(program, deadline=time.perf_counter() + limit).point is not None


def _long() -> LinearProgram:
    """Minutes of work."""
    return mixing.model(staffing(1000, seed=0)).linear


def test_a_deadline_is_kept_and_leaves_what_was_found() -> None:
    program = _long()
    deadline = time.perf_counter() + 0.7
    found = highs.solve(program, deadline=deadline)
    assert time.perf_counter() < deadline + 0.5  # 50 ms on an idle machine
    assert found.point is not None
    assert found.value > found.bound > 100.0
    assert found.value == pytest.approx(float(program.cost @ found.point), abs=1e-6)


def test_a_run_that_does_not_stop_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    program = _long()
    monkeypatch.setattr("bocopt.problems.program.highs._GRACE", 0.0)
    deadline = time.perf_counter() + 0.7
    found = highs.solve(program, deadline=deadline)
    assert found.point is not None
    assert found.bound > 100.0
    assert highs.solve(_tied(0)).point is not None
    for thread in threading.enumerate():
        if thread.name == "highs":
            thread.join(10.0)
            assert not thread.is_alive()


def test_nothing_is_kept_of_a_run_that_has_ended() -> None:
    program = mixing.model(staffing(100, seed=0)).linear
    assert highs.solve(program, nodes=1).bound > -np.inf
    gc.collect()
    assert not any(type(thing) is WatchedRun for thing in gc.get_objects())


def test_a_deadline_in_the_past_asks_for_nothing() -> None:
    found = highs.solve(_tied(0), deadline=time.perf_counter())
    assert found.point is None
    assert found.bound == -np.inf


def test_ctrl_c_ends_a_long_run() -> None:
    program = _long()
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    began = time.perf_counter()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        highs.solve(program)
    assert time.perf_counter() - began < 5.0
    timer.join()


def test_a_start_is_used() -> None:
    program = _tied(3)
    best = highs.solve(program)
    assert best.point is not None
    again = highs.solve(program, nodes=0, start=best.point)
    assert again.value == best.value


def test_a_limit_of_nodes_gives_a_valid_bound() -> None:
    asked = staffing(30, seed=1)
    limited = highs.solve(mixing.model(asked).linear, nodes=1)
    whole = highs.solve(mixing.model(asked).linear)
    assert limited.bound <= whole.value + 1e-6
    assert limited.value >= whole.value - 1e-6


def test_linear_programs_have_duals() -> None:
    found = highs.solve(_tied(0)._replace(integer=None))
    assert found.value == pytest.approx(found.bound)
    assert (found.row_dual <= 1e-9).all()
    assert np.abs(found.row_dual).max() > 0
