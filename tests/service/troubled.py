"""A fleet with all kinds of trouble, written to a log as if time had passed."""

import time
from collections.abc import Callable

import numpy as np
from shop import better, engine, learner, one, policy, problem

from bocopt.app.case_file import StreamLimits
from bocopt.app.service.commands import Create, Decide, Observe
from bocopt.app.service.stores import Store
from bocopt.app.service.stream_template import StreamTemplate, template_of
from bocopt.policies import Constant

HOUR = 3600.0
KINDS: tuple[StreamTemplate, ...] = (
    template_of("ensemble", problem, learner, shadows={"average": better}, names=("left", "right")),
    template_of("average", problem, policy, limits=StreamLimits(max_open=20)),
    template_of("reckless", problem, Constant([5, 5])),
    template_of("timid", problem, Constant([1, 1]), shadows={"average <b>": better}),
    template_of("fresh", problem, policy),
)


class Past:
    """Plays on streams at moments of one's choosing."""

    def __init__(self, store: Store) -> None:
        self.now = time.time()
        self.rng = np.random.default_rng(0)
        self.end = self.now
        self.engine = engine(store, *KINDS, clock=lambda: self.now)

    def begin(self, stream: str, kind: str, ago: float) -> None:
        self.now = self.end - ago
        one(self.engine, Create(stream, kind))

    def play(
        self, stream: str, many: int, ago: float, *, known: Callable[[int], bool] = lambda i: True
    ) -> None:
        """Evenly up to so long ago; outcomes come a minute later, if ever."""
        for i in range(many):
            self.now = self.end - ago * (many - i)
            x = float(self.rng.normal())
            number = one(self.engine, Decide(stream, [x])).body["id"]
            self.now += 60.0
            if known(i):
                xi = np.exp([0.3 * x, 0.1]) * self.rng.uniform(0.7, 1.3, 2)
                one(self.engine, Observe(stream, number, xi.tolist()))


def troubled(store: Store, streams: int, outcomes: int) -> None:
    """So many streams, most of which are well, and one with so many outcomes."""
    past = Past(store)
    past.play("ensemble", outcomes, HOUR / 4)
    past.play("reckless", 60, HOUR / 4)
    past.play("timid", 80, HOUR / 4)
    for i in range(streams):
        past.begin(f"shop-{i:03}", "average", 30 * HOUR)
        past.play(f"shop-{i:03}", 12 + i % 7, HOUR / 2)
    past.begin("late", "average", 40 * HOUR)
    past.play("late", 30, HOUR, known=lambda i: i not in (3, 4))
    past.begin("full", "average", 20 * HOUR)
    past.play("full", 19, HOUR, known=lambda i: False)
    past.begin("quiet", "average", 400 * HOUR)
    past.end -= 300 * HOUR
    past.play("quiet", 20, HOUR)
    past.end += 300 * HOUR
