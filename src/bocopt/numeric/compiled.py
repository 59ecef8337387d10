"""The numba decorators we use, typed once, and the folder where their machine code is kept.

numba notices when a file changes, but not when another file changes that it calls into. So machine
code is kept under a digest of *all* kernel sources and of the versions that compile them: other
sources, another folder, and nothing old is ever run. The folder is the first of these that can be
written to by this user alone:

    $NUMBA_CACHE_DIR/bocopt (taken as it is), the user's cache folder, a folder of temporary files

What is cached is pickled: whoever can write there owns the process that reads it.
"""

import hashlib
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar

from bocopt import file
from bocopt.interrupts import held_back

with held_back():
    import numba

F = TypeVar("F", bound=Callable[..., Any])
Gufunc = Callable[..., Any]

#: Sources that the digest covers. Files in which something is compiled import no others.
KERNEL_SOURCES = (
    "core.py",
    "guarantees/kernels",
    "models/kernels",
    "numeric/compiled.py",
    "problems/knapsack",
    "problems/library/kernels",
    "problems/program/strategies/kernels",
    "problems/risk.py",
)
_KEPT_SECONDS = 30 * 24 * 3600  # machine code of other sources, since it was last used
_GUARD = RLock()

_config: Any = numba.config
_njit: Callable[..., Any] = numba.njit
_guvectorize: Callable[..., Any] = numba.guvectorize


def compiled(function: F) -> F:
    """A function that runs as machine code and lets other threads run meanwhile."""
    with _caching():
        result: F = _njit(cache=True, nogil=True, error_model="numpy")(function)
    return result


def inlined(function: F) -> F:
    """The same for a small function on a hot path: copied into its callers."""
    with _caching():
        result: F = _njit(cache=True, error_model="numpy", forceinline=True)(function)
    return result


def reordered(function: F) -> F:
    """The same, but sums may be reordered and vectorised: for bounds, never for what is kept."""
    with _caching():
        result: F = _njit(cache=True, error_model="numpy", fastmath={"reassoc"})(function)
    return result


def gufunc(types: str, shapes: str) -> Callable[[Callable[..., None]], Gufunc]:
    """A function of one instance that broadcasts over leading axes; compiled when decorated.

    It is numpy's own kind of function: what numba puts around it costs half a microsecond a call.
    """

    def decorate(function: Callable[..., None]) -> Gufunc:
        """Return the function as a compiled gufunc."""
        with held_back(), _caching(), alone():
            result: Gufunc = _guvectorize([types], shapes, cache=True)(function).ufunc
        return result

    return decorate


@contextmanager
def _caching() -> Iterator[None]:
    """Cache what is decorated meanwhile in our folder; numba asks for it at decoration."""
    with _GUARD:
        before = _config.CACHE_DIR
        _config.CACHE_DIR = str(folder())
        try:
            yield
        finally:
            _config.CACHE_DIR = before


@contextmanager
def alone(name: str = "lock") -> Iterator[None]:
    """No other process that shares the machine code is inside meanwhile.

    A gufunc must be compiled so: it is kept in two files, and those of two processes do not fit
    together.
    """
    with file.alone(folder() / name):
        yield


@cache
def folder() -> Path:
    """Return the folder where the machine code of these sources is kept."""
    mine = _first_private() / digest()
    mine.mkdir(exist_ok=True)
    os.utime(mine)
    _remove_old(mine)
    return mine


def digest() -> str:
    """Return a digest of all that machine code depends on."""
    root = Path(__file__).parents[1]
    versions = [version(name) for name in ("numba", "llvmlite", "numpy")]
    found = hashlib.sha256(" ".join(versions).encode())
    for path in sorted(f for name in KERNEL_SOURCES for f in _python_files(root / name)):
        found.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()[:32]


def _python_files(path: Path) -> list[Path]:
    return list(path.rglob("*.py")) if path.is_dir() else [path]


def _first_private() -> Path:
    if _config.CACHE_DIR:
        chosen = Path(_config.CACHE_DIR) / "bocopt"
        if _usable(chosen, private=False):
            return chosen
    for candidate in (_user_cache(), Path(tempfile.gettempdir()) / f"bocopt-{_user()}"):
        if candidate is not None and _usable(candidate, private=True):
            return candidate
    return Path(tempfile.mkdtemp(prefix="bocopt-"))  # ours alone, and compiled anew next time


def _user_cache() -> Path | None:
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        if os.environ.get(name):
            return Path(os.environ[name]) / "bocopt"
    try:
        return Path.home() / ".cache" / "bocopt"
    except RuntimeError:  # nobody's home
        return None


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0


def _usable(path: Path, private: bool) -> bool:
    """Return whether we can write there and, if it is to be private, nobody else can."""
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        found = path.lstat()
        if private and hasattr(os, "getuid"):
            shared = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
            if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or shared:
                return False
        tempfile.TemporaryFile(dir=path).close()
    except OSError:
        return False
    return True


def _remove_old(current: Path) -> None:
    """Remove machine code of other sources that nobody has used for a month."""
    for other in current.parent.iterdir():
        with suppress(OSError):  # another process may be doing the same
            if other != current and other.stat().st_mtime < time.time() - _KEPT_SECONDS:
                shutil.rmtree(other)
