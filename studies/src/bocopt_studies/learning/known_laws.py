"""Learners and rivals on nine synthetic worlds, beside who knows their laws."""

from collections.abc import Mapping

from bocopt_studies.learning.judged import judge, verdict
from bocopt_studies.learning.rivals import learners, optimum
from bocopt_studies.learning.synthetic import synthetic_worlds
from bocopt_studies.learning.table import members
from bocopt_studies.learning.verdicts import coverages, of_world, overview
from bocopt_studies.learning.worlds import LearningWorld
from bocopt_studies.report.blocks import Section
from bocopt_studies.study import Size, Summary
from bocopt_studies.work.task import Record, Task

_HOW = "Mean ± sd over trials; differences are paired, with 95% intervals (Student's t)."


def tasks(size: Size) -> dict[str, Task]:
    """Return the tasks of learners, members and optimum, by `world/policy`."""
    return {
        f"{place}/{name}": task
        for place, world in synthetic_worlds(size.horizon).items()
        for name, task in _tasks(world, size).items()
    }


def _tasks(world: LearningWorld, size: Size) -> dict[str, Task]:
    return judge(world, {**learners(world), **members(world), **optimum(world)}, size)


def summarise(size: Size, records: Mapping[str, Record]) -> Summary:
    """Return the verdict on each of the synthetic worlds."""
    worlds = synthetic_worlds(size.horizon)
    found = {place: verdict(world, at(place, records)) for place, world in worlds.items()}
    return {**size._asdict(), "worlds": found}


def at(place: str, records: Mapping[str, Record]) -> dict[str, Record]:
    """Return the records of one world, by policy."""
    first = f"{place}/"
    return {n.removeprefix(first): record for n, record in records.items() if n.startswith(first)}


def show(summary: Summary) -> Section:
    """Return the section: an overview, a table for each world, and the coverages."""
    each = (of_world(summary, place, _HOW) for place in summary["worlds"])
    return Section("Learning on nine worlds", [overview(summary), *each, coverages(summary)])
