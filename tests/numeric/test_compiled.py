"""Machine code: never that of other sources, kept where only we can write, never deaf for long."""

import ast
import os
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lengths import long

import bocopt
from bocopt import Status
from bocopt.interrupts import held_back
from bocopt.numeric import compiled
from bocopt.problems import Knapsack
from bocopt.problems.knapsack import lattice

PACKAGE = Path(bocopt.__file__).parent
_JUDGED = """
import numpy as np
from bocopt.problems.knapsack.certain import feasible
from bocopt.problems.knapsack.judge import KnapsackInstance
one = np.ones(1)
one_item = KnapsackInstance(one[:, None, None], one, one, one, one, one, one, 1.0, one, False)
print(feasible(one_item, one))
"""


def run(code: str, **environment: str) -> str:
    found = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return found.stdout.strip()


def test_a_change_in_a_callee_is_seen_by_a_warm_cache(tmp_path: Path) -> None:
    shutil.copytree(PACKAGE, tmp_path / "bocopt", ignore=shutil.ignore_patterns("__pycache__"))
    here = {"PYTHONPATH": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    assert run(_JUDGED, **here) == "True"
    judge = tmp_path / "bocopt" / "problems" / "knapsack" / "judge.py"
    text = judge.read_text()
    judge.write_text(text.replace("    total = 0.0\n", "    total = 0.5\n", 1))
    assert judge.read_text() != text
    assert run(_JUDGED, **here) == "False"
    assert len(list((tmp_path / "cache" / "bocopt").iterdir())) == 2
    assert not list(tmp_path.glob("bocopt/**/*.nb?"))


DECORATORS = {"compiled", "inlined", "reordered", "gufunc"}


def test_kernels_import_nothing_that_the_digest_leaves_out() -> None:
    hashed = tuple(name.removesuffix(".py") for name in compiled.KERNEL_SOURCES)
    kernels = []
    for path in PACKAGE.rglob("*.py"):
        found = [
            (node.module.removeprefix("bocopt.").replace(".", "/"), {a.name for a in node.names})
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("bocopt.")
            if node.module is not None
        ]
        imported = [module for module, _ in found]
        if any(module == "numeric/compiled" and names & DECORATORS for module, names in found):
            kernels.append(path.relative_to(PACKAGE).as_posix())
            assert all(module.startswith(hashed) for module in imported), path
    assert "problems/knapsack/judge.py" in kernels
    assert all(name.startswith(hashed) for name in kernels)


_FOLDER = "from bocopt.numeric.compiled import folder; print(folder())"


def test_where_the_home_cannot_be_written_to_a_private_temporary_folder_is_used(
    tmp_path: Path,
) -> None:
    nowhere = {"HOME": "/dev/null/nobody", "XDG_CACHE_HOME": "", "TMPDIR": str(tmp_path)}
    found = Path(run(_FOLDER, **nowhere))
    assert found.parent == tmp_path / f"bocopt-{os.getuid()}"
    assert stat.S_IMODE(found.parent.stat().st_mode) == 0o700
    assert run(_FOLDER, **nowhere) == str(found)  # and used again


def test_a_folder_that_others_can_write_to_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "cache" / "bocopt").mkdir(parents=True)
    (tmp_path / "cache" / "bocopt").chmod(0o777)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / f"bocopt-{os.getuid()}").symlink_to(tmp_path / "elsewhere")
    found = Path(run(_FOLDER, XDG_CACHE_HOME=str(tmp_path / "cache"), TMPDIR=str(tmp_path)))
    assert found.parent.parent == tmp_path
    assert found.parent.name.startswith("bocopt-")
    assert not found.parent.is_symlink()
    assert stat.S_IMODE(found.parent.stat().st_mode) == 0o700


def test_a_folder_that_the_user_names_is_taken(tmp_path: Path) -> None:
    assert Path(run(_FOLDER, NUMBA_CACHE_DIR=str(tmp_path))).parent == tmp_path / "bocopt"


def test_old_machine_code_is_removed_and_new_is_not(tmp_path: Path) -> None:
    cache = tmp_path / "bocopt"
    for name, age in (("old", 1e7), ("new", 60.0)):
        (cache / name).mkdir(parents=True)
        then = (cache / name).stat().st_mtime - age
        os.utime(cache / name, (then, then))
    kept = Path(run(_FOLDER, XDG_CACHE_HOME=str(tmp_path))).name
    assert {path.name for path in cache.iterdir()} == {"new", kept}


def test_an_interrupt_waits_for_the_end_of_what_it_would_break() -> None:
    done = []

    def interrupted() -> None:
        with held_back():
            signal.raise_signal(signal.SIGINT)
            done.append(True)

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert done == [True]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


_INTERRUPTED = """
import os, signal, sys
import numpy as np
from bocopt.problems import Knapsack
problem = Knapsack(value=[12.0] * 4, capacity=[8.0] * 3, salvage=[3.0] * 3)
def solve():
    return problem.solve(np.ones((1, 12)), np.ones(1), np.zeros(1)).z.tolist()
signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
signal.setitimer(signal.ITIMER_REAL, float(sys.argv[1]))
try:
    solve()
    signal.pause()  # it was quicker
except KeyboardInterrupt:
    print("interrupted", solve())
"""


@pytest.mark.parametrize("after", [0.1, *map(long, (0.02, 0.2))])
def test_an_interrupt_while_kernels_are_loaded_for_the_first_time_breaks_nothing(
    after: float,
) -> None:
    found = subprocess.run(
        [sys.executable, "-c", _INTERRUPTED, str(after)],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert found.stdout.startswith("interrupted [")


LARGE = Knapsack(value=list(range(5, 15)), capacity=[80.0] * 3, salvage=[0.1] * 3)
SCENARIOS = np.random.default_rng(0).uniform(0.2, 2.0, (3, 1024, 30))
ALIKE = np.full(1024, 1 / 1024)


def test_by_default_a_search_stops_after_about_a_second_of_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lattice, "ONE_SECOND", 1e7)
    solution = LARGE.solve(SCENARIOS[0], ALIKE, np.zeros(1))
    assert solution.status == Status.LIMIT
    assert 0 < solution.gap < np.inf
    counted = Knapsack(
        value=LARGE.value,
        capacity=LARGE.capacity,
        salvage=LARGE.salvage,
        node_limit=lattice.nodes_in_a_second(1024, 3, 10, readably=False),
    )
    assert (counted.solve(SCENARIOS[0], ALIKE, np.zeros(1)).z == solution.z).all()


def test_a_batch_comes_back_to_python_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    small = Knapsack(value=[12.0] * 4, capacity=[8.0], salvage=[3.0])
    scenarios = np.random.default_rng(1).uniform(0.3, 2.0, (40, 1, 4))
    whole = small.solve(scenarios, np.ones(1), np.zeros(1))
    calls, solve_each = [], lattice.solve_each

    def counted(*arguments: Any) -> int:
        calls.append(solve_each(*arguments))
        return calls[-1]

    monkeypatch.setattr(lattice, "solve_each", counted)
    monkeypatch.setattr(lattice, "nodes_in_a_second", lambda *_: 7)
    parts = Knapsack(value=[12.0] * 4, capacity=[8.0], salvage=[3.0], node_limit=10**9).solve(
        scenarios, np.ones(1), np.zeros(1)
    )
    assert len(calls) > 5
    assert calls == sorted(set(calls))
    assert all((a == b).all() for a, b in zip(whole, parts, strict=True))


GUFUNCS = """
import numpy as np
from bocopt.numeric.compiled import compiled, gufunc

@compiled
def dot(a, b):
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total

@gufunc("void(f8[:],f8[:],f8[:])", "(n),(n)->()")
def one(a, b, out):
    out[0] = dot(a, b)

@gufunc("void(f8[:],f8[:],f8[:])", "(n),(n)->()")
def two(a, b, out):
    out[0] = 2 * dot(a, b)

print(one(np.ones(3), np.ones(3)) + two(np.ones(3), np.ones(3)))
"""


_ON_WINDOWS = """
import errno, importlib, sys
from types import ModuleType

held, refused = [], [errno.EDEADLK, errno.EACCES]  # another process has it, for twenty seconds

def locking(handle, mode, size):
    if mode == msvcrt.LK_LOCK and refused:
        raise OSError(refused.pop(), "in use")
    held.append(mode)

msvcrt = ModuleType("msvcrt")
msvcrt.LK_LOCK, msvcrt.LK_UNLCK, msvcrt.locking = 1, 0, locking
import bocopt.file  # of which "win32" chooses the locks
sys.modules |= {"fcntl": None, "msvcrt": msvcrt}  # "import fcntl" fails from here on
before, sys.platform = sys.platform, "win32"
importlib.reload(bocopt.file)
sys.platform = before

import numpy as np
from bocopt import Agent, Ensemble
from bocopt.problems import Newsvendor
problem = Newsvendor(unit_cost=[1.0], price=[3.0])
agent = Agent(Ensemble(problem))
for _ in range(3):
    agent.observe(agent.decide([0.5]).id, [4.0])
assert held == [1, 0] * (len(held) // 2), held
print(agent.decide([0.5]).z.tolist(), len(refused), len(held) > 0)
"""


def test_a_system_without_fcntl_decides_all_the_same() -> None:
    """As on Windows, by a stub: its lock is tried again while another process has it."""
    assert run(_ON_WINDOWS) == "[4.0] 0 True"


@pytest.mark.full
@pytest.mark.parametrize("trial", range(6))
def test_processes_that_compile_at_once_leave_nothing_broken(tmp_path: Path, trial: int) -> None:
    """Without a lock, one in four such starts ended in a crash, and all later ones too."""
    script = tmp_path / "kernels.py"
    script.write_text(GUFUNCS)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, str(script)]
    started = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    assert [process.communicate()[0] for process in started] == ["9.0\n"] * 4
    assert [process.returncode for process in started] == [0] * 4
    later = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert later.stdout == "9.0\n"
