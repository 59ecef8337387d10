"""Streams made of other streams."""

from collections.abc import Iterator
from dataclasses import dataclass

from bocopt import arguments
from bocopt.core import Array, IntArray, Stream


@dataclass(frozen=True)
class ChangePoint:
    """One stream until a stage, another from there on: what forgetting is tested on."""

    before: Stream
    after: Stream
    at: int

    def __post_init__(self) -> None:
        arguments.kind("ChangePoint", "before", self.before, Stream)
        arguments.kind("ChangePoint", "after", self.after, Stream)
        arguments.integer("ChangePoint", "at", self.at, "[0, inf)")

    def stages(self, seeds: IntArray) -> Iterator[tuple[Array, Array]]:
        """Both run from the start; the second is shown from stage `at` on, and ends it."""
        earlier = self.before.stages(seeds)
        for t, later in enumerate(self.after.stages(seeds)):
            try:
                yield next(earlier) if t < self.at else later
            except StopIteration:
                raise ValueError(f"The stream before the change ended at stage {t}.") from None
