"""Workers of another installation: a changed copy of the package, in processes of its own."""

import os
import pickle
import shutil
import subprocess
import sys
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import bocopt

_CALL = """
import pickle, sys
function, args = pickle.load(sys.stdin.buffer)
pickle.dump(function(*args), sys.stdout.buffer)
"""


def changed(folder: Path, file: str, old: str, new: str) -> Path:
    """A folder to import the package from, with other words in one of its files."""
    root = folder / "bocopt"
    shutil.copytree(Path(bocopt.__file__).parent, root, ignore=shutil.ignore_patterns("*.pyc"))
    text = (root / file).read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {file}"
    (root / file).write_text(text.replace(old, new), encoding="utf-8")
    return folder


class Elsewhere(Executor):
    """Each call in a new process, which imports the package from a folder."""

    def __init__(self, folder: Path) -> None:
        self.environment = {**os.environ, "PYTHONPATH": str(folder)}

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        called = subprocess.run(
            [sys.executable, "-c", _CALL],
            input=pickle.dumps((fn, args)),
            env=self.environment,
            capture_output=True,
            check=True,
        )
        future: Future[Any] = Future()
        future.set_result(pickle.loads(called.stdout))
        return future
