"""Slow solvers in other processes: the same answers, time-outs, deaths, and what cannot be sent."""

import os
import pickle
import signal
import subprocess
import sys
import time
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from trees import same_bits

from bocopt import Status, from_callables
from bocopt.core import Array, Dims
from bocopt.fingerprint import fingerprint

X, W = np.zeros(1), np.full(3, 1 / 3)
SCENARIOS = np.array([[1.0], [2.0], [6.0]])


def order(x: Array, xi: Array) -> Any:
    """What will be asked for; some outcomes are trouble."""
    if xi[0] == 7.0:
        os._exit(3)
    if xi[0] == 8.0:
        time.sleep(60)
    if xi[0] == 9.0:
        raise ZeroDivisionError("the simulator fell over")
    if xi[0] == 10.0:
        return lambda: 0
    return None if xi[0] == 11.0 else xi / 3


def paid(x: Array, z: Array, xi: Array) -> float:
    return float(9 * max(xi[0] - 3 * z[0], 0) + max(3 * z[0] - xi[0], 0))


def problem(**options: Any) -> Any:
    return from_callables(order, paid, dims=Dims(1, 1, 1), fallback=[5], **options)


@pytest.fixture(scope="module")
def two() -> Any:
    """Processes take a while to start: tests share them."""
    return problem(workers=2, timeout=60.0)


def alone(asked: Any, outcome: float) -> Any:
    return asked.solve(np.array([[outcome]]), np.ones(1), X)


def test_answers_are_the_same_bits_as_without_workers(two: Any) -> None:
    here, batch = problem(), np.random.default_rng(0).uniform(1, 5, (4, 3, 1))
    assert same_bits(here.solve(SCENARIOS, W, X), two.solve(SCENARIOS, W, X))
    assert same_bits(here.solve(batch, W, X), two.solve(batch, W, X))
    assert same_bits(
        here.solve(batch[:, :1], np.ones(1), X), two.solve(batch[:, :1], np.ones(1), X)
    )
    assert int(alone(two, 11.0).status) == int(alone(here, 11.0).status) == Status.INFEASIBLE


def test_an_error_is_the_same_as_without_workers_and_work_goes_on(two: Any) -> None:
    for asked in (problem(), two):
        with pytest.raises(ValueError, match="solve raised ZeroDivisionError: the simulator fell"):
            alone(asked, 9.0)
        made_up = np.array([[8.5], [9.5]])  # their mean is trouble
        with pytest.raises(ValueError, match="fell over It was asked for a made-up scenario"):
            asked.solve(made_up, np.full(2, 0.5), X)
    with pytest.raises(ValueError, match="What the user's solve returned cannot be sent"):
        alone(two, 10.0)
    assert alone(two, 6.0).z.tolist() == [2.0]


def test_a_dead_worker_is_an_error_and_the_next_question_is_answered(two: Any) -> None:
    with pytest.raises(RuntimeError, match=r"died while it ran the user's solve \(exit code 3\)"):
        alone(two, 7.0)
    assert alone(two, 6.0).z.tolist() == [2.0]


def test_what_takes_too_long_is_left_out() -> None:
    asked = problem(workers=1, timeout=0.5, synthetic=False)
    start = time.perf_counter()
    pooled = asked.solve(np.array([[1.0], [8.0], [6.0]]), W, X)
    assert int(pooled.status) == Status.POOL
    assert pooled.z.tolist() == [2.0]
    late = alone(asked, 8.0)
    assert int(late.status) == Status.FALLBACK  # one may exist: nobody knows
    assert late.z.tolist() == [5.0]
    assert time.perf_counter() - start < 40


def test_processes_end_with_their_problem() -> None:
    before = set(active_children())
    asked = from_callables(order, paid, dims=Dims(1, 1, 1), fallback=[0], workers=1)
    alone(asked, 1.0)
    (mine,) = set(active_children()) - before
    copied = pickle.loads(pickle.dumps(asked))
    assert alone(copied, 6.0).z.tolist() == [2.0]
    del asked
    mine.join(5)
    assert not mine.is_alive()


def test_a_function_that_cannot_be_sent_is_refused() -> None:
    def inside(x: Array, xi: Array) -> Array:
        return xi

    for function in (inside, lambda x, xi: xi):
        with pytest.raises(ValueError, match=r"'solve' parameter .* can be sent .* not a lambda"):
            from_callables(function, paid, dims=Dims(1, 1, 1), fallback=[0], workers=1)


def test_the_number_of_workers_is_no_part_of_the_fingerprint() -> None:
    assert fingerprint(problem(workers=2)) == fingerprint(problem())
    assert fingerprint(problem(workers=2, timeout=1.0)) != fingerprint(problem())


SCRIPT = """
import sys, time
import numpy as np
from bocopt import from_callables
from bocopt.core import Dims

def order(x, xi):
    if xi[0] == 8.0:
        print("asked", flush=True)
        time.sleep(60)
    return xi

def paid(x, z, xi):
    return 0.0

def main():
    problem = from_callables(order, paid, dims=Dims(None, 1, 1), fallback=[0], workers=1)
    print(problem.solve(np.array([[float(sys.argv[1])]]), np.ones(1), np.zeros(0)).z)
"""
GUARDED = SCRIPT + "\nif __name__ == '__main__':\n    main()\n"


def started(folder: Path, text: str, outcome: float) -> "subprocess.Popen[str]":
    path, pipe = folder / "mine.py", subprocess.PIPE
    path.write_text(text)
    command = [sys.executable, str(path), str(outcome)]
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True)


@pytest.mark.full
def test_a_script_ends_and_so_do_its_processes(tmp_path: Path) -> None:
    script = started(tmp_path, GUARDED, 6.0)
    shown, errors = script.communicate(timeout=60)  # until nobody holds its output
    assert (script.returncode, shown, errors) == (0, "[6.]\n", "")


@pytest.mark.full
def test_a_script_without_a_guard_is_told_so(tmp_path: Path) -> None:
    _, errors = started(tmp_path, SCRIPT + "\nmain()\n", 6.0).communicate(timeout=60)
    assert "died before it could start" in errors
    assert "must stand under: if __name__ == '__main__'." in errors


def test_processes_end_when_the_program_is_killed(tmp_path: Path) -> None:
    script = started(tmp_path, GUARDED, 8.0)
    assert script.stdout is not None
    assert script.stdout.readline() == "asked\n"
    script.send_signal(signal.SIGKILL)
    script.communicate(timeout=20)  # until nobody holds its output: the worker is gone too
    assert script.returncode == -signal.SIGKILL
