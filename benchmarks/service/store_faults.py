"""What is seen of a service whose store fails, and a disk that is easily filled."""

import re
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from subject import Subject, ask, bocopt, scratch

NAMES = ("north", "south")


class Step(NamedTuple):
    """What was done, and what was seen."""

    done: str
    status: str
    message: str
    fine: bool

    def shown(self) -> "Step":
        """Without the names of folders of this machine."""
        return self._replace(message=re.sub(rf"{tempfile.gettempdir()}/\S*/", "", self.message))


def decide(made: Subject, stream: str = "north", key: str = "") -> tuple[int, str]:
    path, headers = f"/v1/streams/{stream}/decisions", {"Idempotency-Key": key} if key else {}
    status, told = ask(made, "POST", path, {"x": [0.5]}, headers)
    return status, told.get("error", f"decision {told.get('id')}")


def asked(done: str, made: Subject, wanted: int, stream: str = "north") -> Step:
    status, message = decide(made, stream)
    return Step(done, str(status), message, status == wanted)


def doctor(done: str, made: Subject, wanted: int, word: str = "") -> Step:
    code, text = bocopt("doctor", made.config)
    lines = text.strip().splitlines()
    told = next((line for line in lines if word in line), lines[-1])
    return Step(done, f"exit code {code}", told, code == wanted and word in text)


def played(made: Subject, stages: int = 30) -> None:
    for name in NAMES:
        for i in range(stages):
            assert ask(made, "POST", f"/v1/streams/{name}/decisions", {"x": [0.1]})[0] == 201
            path = f"/v1/streams/{name}/decisions/{i}/outcome"
            assert ask(made, "PUT", path, {"xi": [1.0, 1.1]})[0] == 201


@contextmanager
def small_disk(size: str) -> Iterator[Path]:
    """A file system in memory with little room."""
    with scratch("disk") as folder:
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder],
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise NotImplementedError(f"A small disk cannot be mounted: {done.stderr.strip()}")
        try:
            yield folder
        finally:
            subprocess.run(["umount", "--lazy", folder], check=False)


def filled(path: Path) -> None:
    """Take all the room that is left."""
    with suppress(OSError), open(path, "wb", buffering=0) as ballast:
        while True:
            ballast.write(bytes(4096))
