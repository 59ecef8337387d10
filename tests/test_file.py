"""Durable files: many writers, links, modes, long names, owners, and what killed writers leave."""

import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from bocopt import file
from bocopt.file import NotAFileError, OwnedError, Owner

CONTENTS = [bytes([n]) * 50_000 for n in range(4)]
_WRITER = """
import sys
from bocopt import file
for n in range(150):
    file.replace(sys.argv[1], bytes([int(sys.argv[2])]) * 50_000)
"""


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def together(*actions: Callable[[], object]) -> list[BaseException]:
    """Run them in threads; what they raised."""
    raised: list[BaseException] = []

    def safely(action: Callable[[], object]) -> None:
        try:
            action()
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=safely, args=(action,)) for action in actions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised


def test_threads_and_processes_may_write_at_once_and_readers_see_whole_files(
    tmp_path: Path,
) -> None:
    path = tmp_path / "file"
    file.replace(path, CONTENTS[0])
    writers = [subprocess.Popen([sys.executable, "-c", _WRITER, str(path), str(n)]) for n in (1, 2)]

    def write(n: int) -> None:
        for _ in range(150):
            file.replace(path, CONTENTS[n])

    def read() -> None:
        while any(writer.poll() is None for writer in writers):
            assert file.read(path) in CONTENTS

    assert together(lambda: write(0), lambda: write(3), read) == []
    assert [writer.wait() for writer in writers] == [0, 0]
    assert names(tmp_path) == ["file"]


def test_what_killed_writers_left_is_removed_and_what_is_being_written_is_not(
    tmp_path: Path,
) -> None:
    path = tmp_path / "file"
    with file._beside(os.path.realpath(path)) as (busy, ours):
        with file._beside(os.path.realpath(path)) as (left, dead):
            assert left != busy
        dead.close()  # as when a process is killed: the file stays, the lock is gone
        assert len(names(tmp_path)) == 2
        file.replace(path, b"new")
        assert names(tmp_path) == sorted([os.path.basename(busy), "file"])
    ours.close()
    file.replace(path, b"newer")
    assert names(tmp_path) == ["file"]


def test_a_link_in_the_way_is_not_followed(tmp_path: Path) -> None:
    with file._beside(os.path.realpath(tmp_path / "file")) as (name, ours):
        pass
    ours.close()
    os.unlink(name)
    (tmp_path / "precious").write_bytes(b"precious")
    os.symlink(tmp_path / "precious", name)
    file.replace(tmp_path / "file", b"new")
    assert (tmp_path / "precious").read_bytes() == b"precious"
    assert (tmp_path / "file").read_bytes() == b"new"


def test_mode_and_links_of_the_file_stay(tmp_path: Path) -> None:
    real, link = tmp_path / "folder" / "real", tmp_path / "link"
    real.parent.mkdir()
    link.symlink_to(real)
    file.replace(link, b"one")
    real.chmod(0o640)
    file.replace(link, b"two")
    assert link.is_symlink()
    assert real.read_bytes() == b"two"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    before = os.umask(0o027)
    try:
        file.replace(tmp_path / "new", b"new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


@pytest.mark.skipif(os.getuid() != 0, reason="only root may give files away")
def test_the_user_and_group_of_the_file_stay(tmp_path: Path) -> None:
    file.replace(tmp_path / "file", b"one")
    os.chown(tmp_path / "file", 12345, 54321)
    file.replace(tmp_path / "file", b"two")
    found = (tmp_path / "file").stat()
    assert (found.st_uid, found.st_gid) == (12345, 54321)


def test_a_name_may_be_as_long_as_the_system_lets_it(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 255)
    file.replace(path, b"one")
    Owner().replace(path, b"two")
    assert path.read_bytes() == b"two"


def test_devices_pipes_and_folders_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path("/dev/zero")):
        with pytest.raises(NotAFileError, match="not a regular file"):
            file.read(path)
    for path in (tmp_path / "pipe", tmp_path):
        with pytest.raises(NotAFileError, match="not a regular file"):
            Owner().replace(path, b"new")


def test_a_file_has_one_owner_at_a_time(tmp_path: Path) -> None:
    path, one, other = tmp_path / "file", Owner(), Owner()
    one.replace(path, b"one")
    for _ in range(2):
        with pytest.raises(OwnedError, match=r"Another agent saves to .*file"):
            other.replace(path, b"other")
        one.replace(path, b"one")
    assert path.read_bytes() == b"one"
    one.close()
    other.replace(path, b"other")
    with pytest.raises(OwnedError):
        one.replace(path, b"one")
    del other
    one.replace(path, b"one again")
    assert names(tmp_path) == ["file"]


def test_an_owner_that_was_killed_owns_nothing(tmp_path: Path) -> None:
    code = (
        "import os, sys; from bocopt.file import Owner\n"
        "owner = Owner(); owner.replace(sys.argv[1], b'theirs')\n"
        "print('saved', flush=True); sys.stdin.read()"
    )
    path = tmp_path / "file"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"saved\n"
        with pytest.raises(OwnedError):
            Owner().replace(path, b"ours")
        other.kill()
    Owner().replace(path, b"ours")
    assert path.read_bytes() == b"ours"


def test_an_owner_may_save_elsewhere_and_survives_a_removed_file(tmp_path: Path) -> None:
    owner = Owner()
    owner.replace(tmp_path / "one", b"1")
    owner.replace(tmp_path / "two", b"2")
    Owner().replace(tmp_path / "one", b"free again")
    (tmp_path / "two").unlink()
    owner.replace(tmp_path / "two", b"3")
    assert (tmp_path / "two").read_bytes() == b"3"


def test_of_many_who_create_a_file_at_once_one_owns_it(tmp_path: Path) -> None:
    for attempt in range(20):
        owners = [Owner() for _ in range(4)]
        path = tmp_path / str(attempt)
        saves = [lambda o=owner, p=path: o.replace(p, b"x") for owner in owners]
        refused = together(*saves)
        assert [type(error) for error in refused] == [OwnedError] * 3


def test_a_write_that_fails_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError("No space left on device")

    file.replace(tmp_path / "file", b"old")
    monkeypatch.setattr(os, "fsync", full)
    for replace in (file.replace, Owner().replace):
        with pytest.raises(OSError, match="No space left"):
            replace(tmp_path / "file", b"new")
    assert (tmp_path / "file").read_bytes() == b"old"
    assert names(tmp_path) == ["file"]


#: A system on which open files can be neither renamed, nor replaced, nor removed.
_ON_WINDOWS = """
import importlib, os, sys, threading
from types import ModuleType

def is_open(path):
    found = {os.path.realpath(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd")}
    return os.path.realpath(path) in found

def refusing(real):
    def act(*paths):
        if any(map(is_open, paths)):
            raise PermissionError(13, "The process cannot access the file", *paths[:1])
        return real(*paths)
    return act

for name in ("replace", "link", "unlink"):
    setattr(os, name, refusing(getattr(os, name)))
for name in ("fchown", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK"):
    delattr(os, name)
from bocopt import file  # of which "win32" chooses how files are renamed
sys.modules |= {"fcntl": None, "msvcrt": ModuleType("msvcrt")}
before, sys.platform = sys.platform, "win32"
importlib.reload(file)
sys.platform = before

path = sys.argv[1]
file.replace(path, b"0")
one, other = file.Owner(), file.Owner()
for owner, content in ((one, b"1"), (one, b"2"), (other, b"3"), (one, b"4")):
    owner.replace(path, content)
    assert file.read(path) == content
one.replace(path + ".new", b"5")
one.close()
assert sorted(os.listdir(os.path.dirname(path))) == ["file", "file.new"]

reader = open(path)
threading.Timer(0.2, reader.close).start()
file.replace(path, b"6")  # waits for the reader
assert reader.closed and file.read(path) == b"6"

file._PATIENCE = 0.1
for act in (file.replace, file.Owner().replace):
    with open(path):
        try:
            act(path, b"7")
        except PermissionError:
            pass
        else:
            raise AssertionError("replaced an open file")
assert file.read(path) == b"6"
print(sorted(os.listdir(os.path.dirname(path))))
"""


def test_a_system_that_replaces_no_open_file_will_do(tmp_path: Path) -> None:
    """As Windows, by a stub: all is closed before; what fails leaves the old file, and no other."""
    command = [sys.executable, "-W", "error", "-c", _ON_WINDOWS, str(tmp_path / "file")]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (found.stdout, found.stderr) == ("['file', 'file.new']\n", "")


def test_a_file_system_without_hard_links_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(source: str, target: str) -> None:
        raise PermissionError("Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    owner = Owner()
    for content in (b"one", b"two"):
        owner.replace(tmp_path / "file", content)
        assert (tmp_path / "file").read_bytes() == content
    with pytest.raises(OwnedError):
        Owner().replace(tmp_path / "file", b"theirs")
    assert names(tmp_path) == ["file"]
