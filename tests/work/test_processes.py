"""Killed and interrupted runs: they leave no processes, and go on to the same bytes."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import pytest
from lengths import long

from bocopt.processes import processes

RUN = "from bocopt.app.cli import app; app()"
# Stores one block, then waits while the workers go on: whenever a signal comes, it is under way.
RUN_TO_THE_FIRST_BLOCK = f"""
import time
from bocopt_studies.work.store import BlockStore

save = BlockStore.save

def save_and_wait(self, digest, block):
    save(self, digest, block)
    time.sleep(600)

BlockStore.save = save_and_wait
{RUN}
"""
RUN_SECTION = b'<section id="these-runs">'


@contextmanager
def started(out: Path, *options: str, code: str = RUN) -> Iterator["subprocess.Popen[str]"]:
    """A run in a session of its own; where a test fails, nothing of it stays behind."""
    with subprocess.Popen(
        [sys.executable, "-c", code, "reproduce", *options, "--out", str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as run:
        try:
            yield run
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(run.pid, signal.SIGKILL)
            raise


def finish(out: Path, *options: str) -> None:
    with started(out, *options) as run:
        output, _ = run.communicate()
    assert run.returncode == 0, output


def results(out: Path) -> dict[str, bytes]:
    """All that must not differ between runs."""
    return {
        path.name: path.read_bytes().partition(RUN_SECTION)[0]
        for path in sorted(out.iterdir())
        if path.is_file() and path.name != "run.json"
    }


def blocks(out: Path) -> int:
    return len(list(out.glob("blocks/*.block")))


def ended(session: int) -> bool:
    """Whether no process of a session is running any more."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                status = (entry / "stat").read_text().rpartition(")")[2].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(status[3]) == session and status[0] not in "ZX":
                return False
    return True


def wait_until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)


needs_proc = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(),
    reason="only /proc, which not all systems have, tells an ended process from one not waited for",
)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> tuple[tuple[str, ...], Path]:
    """The options of a run, and what it leaves when nobody stops it."""
    options = ("table1", "--trials", "4", "--horizon", "10", "--jobs", "2")
    whole = tmp_path_factory.mktemp("whole")
    finish(whole, *options)
    return options, whole


@needs_proc
@pytest.mark.parametrize("sent", [signal.SIGKILL, long(signal.SIGINT)])
def test_a_stopped_run_leaves_no_process_and_goes_on_to_the_same_bytes(
    sent: signal.Signals, table: tuple[tuple[str, ...], Path], tmp_path: Path
) -> None:
    (options, whole), cut = table, tmp_path / "cut"
    with started(cut, *options, code=RUN_TO_THE_FIRST_BLOCK) as run:
        wait_until(lambda: blocks(cut) > 0)
        if sent is signal.SIGKILL:
            os.kill(run.pid, sent)
        else:
            os.killpg(run.pid, sent)  # as a terminal does on Ctrl-C
        # before its output, which a process that is left holds open
        wait_until(partial(ended, run.pid))
        output, _ = run.communicate()
    assert blocks(cut) == 1 < blocks(whole)
    if sent is signal.SIGINT:
        assert run.returncode == 130
        assert "the same command goes on from there" in output
        assert "Traceback" not in output
    assert not (cut / "table1.json").exists()
    finish(cut, *options)
    assert results(cut) == results(whole)


def fail_beside_a_long_task() -> None:
    with processes(2) as executor:
        executor.submit(time.sleep, 60)
        raise ZeroDivisionError


def test_leaving_by_an_error_drops_what_is_running() -> None:
    started = time.monotonic()
    with pytest.raises(ZeroDivisionError):
        fail_beside_a_long_task()
    assert time.monotonic() - started < 30
    wait_until(lambda: not active_children())


def test_workers_are_deaf_to_interrupts_and_the_parent_is_not() -> None:
    before = signal.getsignal(signal.SIGINT)
    with processes(1) as executor:
        assert executor.submit(signal.getsignal, signal.SIGINT).result() == signal.SIG_IGN
    assert signal.getsignal(signal.SIGINT) == before


def test_workers_start_as_tasks_come_and_nobody_waits_for_them() -> None:
    before = len(active_children())
    with processes(4) as executor:
        assert len(active_children()) == before
        assert executor.submit(abs, -1).result() == 1
        assert len(active_children()) == before + 1


def test_an_interrupt_while_a_worker_starts_waits_until_it_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    submitted: list[Future[int]] = []
    submit = ProcessPoolExecutor.submit
    over = threading.Event()
    threading.Thread(target=over.wait).start()  # as of a numerical library: may take the signal

    def interrupted(pool: ProcessPoolExecutor, *args: Any) -> Future[int]:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.1)
        submitted.append(submit(pool, *args))
        return submitted[0]

    monkeypatch.setattr(ProcessPoolExecutor, "submit", interrupted)
    with pytest.raises(KeyboardInterrupt), processes(1) as executor:
        executor.submit(abs, -1)
    over.set()
    assert len(submitted) == 1
    assert signal.getsignal(signal.SIGINT) == signal.default_int_handler
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])
    wait_until(lambda: not active_children())


def test_systems_that_cannot_hold_back_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(signal, "pthread_sigmask")
    with processes(1) as executor:
        assert executor.submit(signal.getsignal, signal.SIGINT).result() == signal.SIG_IGN


def size_of(session: int) -> int:
    """How many processes a session has."""
    found = 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                found += int((entry / "stat").read_text().rpartition(")")[2].split()[3]) == session
            except (FileNotFoundError, ProcessLookupError):
                continue
    return found


@needs_proc
@pytest.mark.parametrize("moment", [0.2, long(0.0), long(0.5)])
def test_an_interrupt_while_workers_start_ends_the_run(moment: float, tmp_path: Path) -> None:
    jobs = 4 * len(os.sched_getaffinity(0)) if sys.platform == "linux" else 4
    options = ("table1", "--trials", "2000", "--horizon", "1000", "--jobs", str(jobs))
    with started(tmp_path, *options) as run:
        wait_until(lambda: size_of(run.pid) > 2)  # the parent, its resource tracker, a worker
        time.sleep(moment)
        os.killpg(run.pid, signal.SIGINT)
        output, _ = run.communicate(timeout=10)
        wait_until(partial(ended, run.pid))
    assert run.returncode == 130, output
    assert output.strip().endswith("the same command goes on from there.")
    assert "Traceback" not in output


@pytest.mark.full
@needs_proc
def test_ten_kills_at_random_moments_change_nothing(tmp_path: Path) -> None:
    options = ("all", "--trials", "20", "--horizon", "60")
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    begun = time.monotonic()
    finish(whole, *options)
    typical = time.monotonic() - begun
    moments = random.Random(0)
    stored = [0]
    for _ in range(10):
        with started(cut, *options) as run:
            wait_until(lambda: blocks(cut) > stored[-1] or run.poll() is not None)
            time.sleep(moments.uniform(0.0, typical / 8))
            run.kill()  # it may have ended by itself
            run.communicate()
            wait_until(partial(ended, run.pid))
        stored.append(blocks(cut))
    finish(cut, *options)
    print(f"stored after each kill: {stored}, in the end {blocks(cut)}")
    assert stored == sorted(stored)
    assert len({*stored, blocks(cut)}) > 5  # the kills did hit a run that was under way
    assert results(cut) == results(whole)
