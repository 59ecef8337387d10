"""One durable file: replaced at once or not at all, whoever else writes to it.

A file is written beside its target, flushed to the disk and renamed over it: whenever the power
fails, the target is the old file or the new. The writer holds a lock on what it writes, and two
things follow:

- a file beside the target that nobody has locked was left by a writer that was killed: the next
  one takes its place;
- once renamed, the lock is that of the target. An `Owner` keeps it, and no other owner can save to
  the same file as long as it lives.

Locks hold among the processes and containers of one machine. Where a system or a file system has
none, files are still replaced at once or not at all, but have no owners, and what killed writers
left stays. So on Windows, where an open file can be neither renamed nor replaced: files are closed
before that, and a replacement waits for those who read the target.
"""

import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from io import FileIO
from itertools import count
from pathlib import Path

_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_QUIET = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)


class NotAFileError(OSError):
    """A folder, a device or a pipe where a file belongs."""


class OwnedError(OSError):
    """Somebody else saves to the same file."""


def read(path: str | Path) -> bytes:
    """Return the content of a regular file; devices and pipes are refused, and not waited for."""
    with _opened(path) as file:
        return file.readall()


def _opened(path: str | Path) -> FileIO:
    handle = os.open(path, os.O_RDONLY | _NO_WAIT | _QUIET)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise NotAFileError(f"{path} is not a regular file.")
    return FileIO(handle, "rb")


def replace(path: str | Path, content: bytes | Iterable[bytes]) -> None:
    """Write the file at once or not at all; its mode and owner stay, and links are followed.

    A large content may come in parts, of which one at a time is in memory.
    """
    target = os.path.realpath(path)
    with _beside(target) as (name, file):
        _write(file, content, target)
        _rename(name, target, file)
    file.close()
    _sync_folder(target)


class Owner:
    """One who saves to a file again and again, and lets nobody else do so meanwhile.

    It owns the file from its first save until it is closed, or forgotten.
    """

    def __init__(self) -> None:
        self._target: str | None = None
        self._file: FileIO | None = None

    def replace(self, path: str | Path, content: bytes) -> None:
        """Replace the file as the function; an `OwnedError` where somebody else owns the file."""
        target = os.path.realpath(path)
        while True:
            if not (target == self._target and _same(self._file, target)):
                self.close()
                self._file = _taken(target)
            with suppress(FileExistsError):  # made by another meanwhile: it may be theirs
                self._replace(target, content)
                break
        _sync_folder(target)

    def _replace(self, target: str, content: bytes) -> None:
        with _beside(target) as (name, file):
            _write(file, content, target)
            if self._file is None:
                _create(name, target, file)
            else:
                _rename(name, target, file, self._file)
                self._file.close()
            self._target, self._file = target, file

    def close(self) -> None:
        """Let others have it."""
        if self._file is not None:
            self._file.close()
        self._target = self._file = None

    def __del__(self) -> None:
        with suppress(OSError, AttributeError):
            self.close()


def _create(name: str, target: str, file: FileIO) -> None:
    """Rename, but over nothing: a FileExistsError where there is a file by now."""
    _let_go(file)
    try:
        os.link(name, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        _rename(name, target)
    else:
        os.unlink(name)


def _taken(target: str) -> FileIO | None:
    """The file, opened and locked; None where there is none yet."""
    while True:
        try:
            file = _opened(target)
        except FileNotFoundError:
            return None
        free = _lock(file)
        if free is not False and _same(file, target):
            return file
        file.close()
        if free is False:
            raise OwnedError(
                f"Another agent saves to {target}: the later one would undo what the earlier one "
                "saved. Close it, or save elsewhere."
            )


@contextmanager
def _beside(target: str) -> Iterator[tuple[str, FileIO]]:
    """The name of a new file in the folder, and it, locked; removed if the block fails."""
    folder, name = os.path.split(target)
    short = blake2b(os.fsencode(name), digest_size=6).hexdigest()  # however long the name is
    names = (os.path.join(folder, f".{short}.{number}.tmp") for number in count())
    tried = ((beside, _created(beside)) for beside in names)
    beside, file = next((beside, file) for beside, file in tried if file is not None)
    try:
        yield beside, file
    except BaseException:
        _let_go(file)
        with suppress(OSError):  # while it is locked: else this could be the file of another
            os.unlink(beside)
        file.close()
        raise


def _created(name: str) -> FileIO | None:
    """A new file, locked; None where somebody is writing to one of that name."""
    while True:
        try:
            handle = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | _NO_LINK | _QUIET, 0o666)
        except FileExistsError:
            if not _removed(name):
                return None
            continue
        file = FileIO(handle, "r+b")
        if _lock(file) is not False and _same(file, name):
            return file
        file.close()  # removed by another who saw it before we could lock it


def _removed(name: str) -> bool:
    """Remove a file that a killed writer left; return whether it is gone."""
    try:
        handle = os.open(name, os.O_RDWR | _NO_LINK | _NO_WAIT | _QUIET)
    except FileNotFoundError:
        return True
    except OSError:  # a link, or not ours
        return False
    with FileIO(handle, "r+b") as file:
        left = _lock(file) is True and _same(file, name)
        if left:
            os.unlink(name)
        return left


def _write(file: FileIO, content: bytes | Iterable[bytes], target: str) -> None:
    with suppress(FileNotFoundError):
        before = os.stat(target)
        if hasattr(os, "fchown"):  # Windows has neither modes nor users of this kind
            os.fchmod(file.fileno(), stat.S_IMODE(before.st_mode))
            with suppress(PermissionError):
                os.fchown(file.fileno(), before.st_uid, before.st_gid)
    for part in [content] if isinstance(content, bytes) else content:
        rest = memoryview(part)
        while rest:
            rest = rest[file.write(rest) :]
    os.fsync(file.fileno())


def _same(file: FileIO | None, name: str) -> bool:
    """Return whether the file is open, and the one of that name."""
    if file is None or file.closed:
        return False
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.lstat(name))
    except FileNotFoundError:
        return False


def _sync_folder(target: str) -> None:
    """Make the renaming itself durable, where the system lets one open a folder."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(os.path.dirname(target), os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def alone(path: str | Path) -> Iterator[None]:
    """Nobody else on this machine is inside for this file meanwhile: whoever comes later waits."""
    with open(path, "ab") as file:
        _wait_for_lock(file.fileno())
        try:
            yield
        finally:
            _unlock(file.fileno())


if sys.platform == "win32":
    import errno
    import msvcrt
    import time

    _PATIENCE = 5.0  # seconds; whoever reads a checkpoint is done long before

    def _let_go(*files: FileIO) -> None:
        """Close files that are to be renamed or replaced."""
        for file in files:
            file.close()

    def _rename(name: str, target: str, *files: FileIO) -> None:
        """Rename over the target, these being open; wait while others have it open to read."""
        _let_go(*files)
        latest = time.monotonic() + _PATIENCE
        while True:
            try:
                return os.replace(name, target)
            except PermissionError:
                if time.monotonic() > latest:
                    raise
            time.sleep(0.01)

    def _lock(file: FileIO) -> bool | None:
        """Lock the file, and return whether nobody else has; None where there are no locks."""
        return None  # a file that is locked cannot be read there

    def _wait_for_lock(handle: int) -> None:
        """Wait until nobody else has it locked, however long: the system waits for ten seconds."""
        while True:
            try:
                return msvcrt.locking(handle, msvcrt.LK_LOCK, 1)
            except OSError as error:
                if error.errno not in (errno.EACCES, errno.EDEADLK):
                    raise

    def _unlock(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _let_go(*files: FileIO) -> None:
        """Keep them open, and so locked, while they are renamed or replaced."""

    def _rename(name: str, target: str, *files: FileIO) -> None:
        """Rename over the target, these being open."""
        os.replace(name, target)

    def _lock(file: FileIO) -> bool | None:
        """Lock the file, and return whether nobody else has; None where there are no locks."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            return None
        return True

    def _wait_for_lock(handle: int) -> None:
        """Wait until nobody else has it locked, however long."""
        fcntl.flock(handle, fcntl.LOCK_EX)

    def _unlock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)
