"""A bad network: it passes on what it is sent, and cuts connections at random."""

import random
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any


class Cutting:
    """Stands before a service. `cuts` counts answers that were lost, in whole or in part.

    How many of the first so many answers are cut does not depend on what comes between them.
    """

    def __init__(self, to: tuple[str, int], rate: float, seed: int = 0) -> None:
        self._to, self._rate = to, rate
        self._random = {answers: random.Random(seed + answers) for answers in (False, True)}
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self._lock = threading.Lock()
        self.cuts = 0
        self.address = f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    def accept(self) -> None:
        while True:
            try:
                client = self._listening.accept()[0]
            except OSError:  # it is closed
                return
            service = socket.create_connection(self._to)
            self._open += [client, service]
            for pair in ((client, service, False), (service, client, True)):
                threading.Thread(target=self._pass, args=pair, daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket, answers: bool) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                with self._lock:
                    rng = self._random[answers]
                    cut, share = rng.random() < self._rate, rng.random()
                    kept = int(share * len(data)) if cut else len(data)
                    self.cuts += cut and answers
                target.sendall(data[:kept])
                if cut:
                    break
        for each in (source, target):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        for each in (self._listening, *self._open):
            each.close()


@contextmanager
def cutting(*arguments: Any) -> Iterator[Cutting]:
    found = Cutting(*arguments)
    thread = threading.Thread(target=found.accept)
    thread.start()
    try:
        yield found
    finally:
        found.close()
        thread.join()
