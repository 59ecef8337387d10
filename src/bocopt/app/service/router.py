"""All engines of a service: each stream has one of them, and always the same."""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from threading import Thread

from bocopt.app.service.commands import Command, Reply
from bocopt.app.service.engine import Engine
from bocopt.app.service.metrics import Metrics
from bocopt.app.service.registry import Registry
from bocopt.app.service.shard import Decider, place_of
from bocopt.app.service.stores import Row, Store


class Router:
    """Hands each command to the engine of its stream."""

    def __init__(
        self,
        store: Store,
        registry: Registry,
        deciders: Sequence[Decider],
        *,
        queue: int = 1000,
        at_once: int = 64,
        clock: Callable[[], float] = time.time,
        committed: Callable[[Sequence[Row]], None] = lambda rows: None,
    ) -> None:
        self.metrics = Metrics(self._gauges)
        self.engines = [
            Engine(
                store,
                registry,
                decider,
                queue=max(1, queue // len(deciders)),
                at_once=at_once,
                clock=clock,
                committed=committed,
                metrics=self.metrics,
            )
            for decider in deciders
        ]
        self._registry, self._clock = registry, clock
        self._opening = Thread(target=self._open, daemon=True)
        self._failure: Exception | None = None

    def start(self) -> None:
        """Adopt the streams of the log, and answer from then on."""
        self._opening.start()

    def _open(self) -> None:
        try:
            self._registry.open(self._clock())
        except Exception as error:
            self._failure = error
            return
        for engine in self.engines:
            engine.start()

    def wait(self, seconds: float) -> bool:
        """Until it is ready, but no longer than that."""
        until = time.monotonic() + seconds
        return all(engine.wait(max(0.0, until - time.monotonic())) for engine in self.engines)

    def stop(self) -> None:
        """Answer what was accepted, refuse what comes, and leave snapshots for the next start."""
        self._opening.join()
        for engine in self.engines:
            engine.refuse()
        with ExitStack() as all_of_them:  # also where one of them fails
            for engine in self.engines:
                all_of_them.callback(engine.stop)

    @property
    def ready(self) -> bool:
        return all(engine.ready for engine in self.engines)

    @property
    def failure(self) -> Exception | None:
        """Why it could not start."""
        return self._failure or next((e.failure for e in self.engines if e.failure), None)

    def submit(self, command: Command) -> Future[Reply]:
        """The answer, some time; a RefusedError where too many wait already."""
        return self.engines[place_of(command.stream, len(self.engines))].submit(command)

    def _gauges(self) -> Mapping[str, float]:
        total: Counter[str] = Counter()
        for engine in self.engines:
            total.update(engine.gauges())
        return total
