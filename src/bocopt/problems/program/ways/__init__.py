"""Which way takes which program: the first that applies, from the most special to the general."""

from typing import Protocol

from bocopt.problems.program.form import Answer, Task
from bocopt.problems.program.ways import extensive, hinges, mean, mixing, partition, search, tail


class Way(Protocol):
    """A module with these two functions."""

    def applies(self, task: Task) -> bool:
        """Whether the structure is what it is made for."""
        ...

    def solve(self, task: Task) -> Answer: ...


WAYS: tuple[Way, ...] = (mean, hinges, tail, mixing, search, partition, extensive)


def solve(task: Task) -> Answer:
    """By the first way that applies; the last applies to all. One scenario needs no way."""
    if len(task.w) == 1:
        return extensive.solve(task)
    return next(way for way in WAYS if way.applies(task)).solve(task)
