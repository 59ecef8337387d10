"""Rows of series that are decided together: all of one time by one call."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import NoReturn

import numpy as np

from bocopt.app.case import Case, file_name
from bocopt.app.panels.asked import AskedRow, turns_of
from bocopt.app.panels.memory import PanelMemory
from bocopt.app.reading.columns import Table
from bocopt.core import Array, IntArray
from bocopt.live import CoupledAgent
from bocopt.live.series_names import some_of


class Together:
    """The agent of all series of a case, asked as agents of blocks are."""

    def __init__(self, case: Case, policy: str, file: Path) -> None:
        self.case, self.policy = case, policy
        self.agent = CoupledAgent.load(file, case.coupled[policy])

    def decide(self, names: Sequence[str], x: Array) -> tuple[Array, IntArray]:
        """Return the parts (n, a + c) of one decision for all series of a time, and its status.

        They are asked in the order of their names, as by a backtest, however the rows stand.
        """
        order = np.argsort(np.array(names), kind="stable")
        found = self.agent.decide([names[i] for i in order.tolist()], x[order])
        each = np.empty(found.each.shape)
        each[order] = found.each
        common = np.tile(found.common, (len(names), 1))
        return np.hstack([each, common]), np.full(len(names), found.status)

    def observe(self, names: Sequence[str], stages: IntArray, xi: Array) -> None:
        """Learn outcomes (n, m) of different series; NaN for one that never comes."""
        numbers = self.agent.numbers(names, stages)
        for number in np.unique(numbers).tolist():
            some = numbers == number
            self.agent.observe(some_of(names, some), xi[some], number)

    def save(self, folder: Path) -> None:
        """Write the file of the agent."""
        self.agent.save(folder / f"{file_name(self.policy)}-0.bin")
        self.agent.close()


def times_of_rows(rows: Table, memory: PanelMemory) -> Iterator[Sequence[AskedRow]]:
    """Yield the rows of each time, the earliest first."""
    asked = [one for turn in turns_of(rows, memory.featuriser) for one in turn]
    asked.sort(key=lambda one: (one.time, one.place))
    for _, group in groupby(asked, key=lambda one: one.time):
        yield list(group)


def check_whole(fresh: Sequence[AskedRow], memory: PanelMemory) -> None:
    """Refuse new rows of a time at which others were decided already: it has one decision."""
    if fresh and any(fresh[0].time <= found.state.time for found in memory.known.values()):
        _refuse(fresh[0], "was decided already, or a later one, and without it")
    names = [one.name for one in fresh]
    if len({*names}) < len(names):
        twice = next(one for one in fresh if names.count(one.name) > 1)
        _refuse(twice, "has several rows of it")


def _refuse(one: AskedRow, why: str) -> NoReturn:
    raise ValueError(
        f"Series that share a program are decided together: the time of the row of '{one.name}' "
        f"(row {one.place + 1} by time) {why}. Give all rows of a time in one file."
    )
