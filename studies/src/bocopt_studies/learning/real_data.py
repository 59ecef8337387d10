"""Learners and rivals on eight real data sets."""

from collections.abc import Mapping

from bocopt_studies.learning.data import data_worlds
from bocopt_studies.learning.judged import judge, verdict
from bocopt_studies.learning.known_laws import at
from bocopt_studies.learning.rivals import learners
from bocopt_studies.learning.verdicts import coverages, of_world, overview
from bocopt_studies.report.blocks import Section
from bocopt_studies.study import Size, Summary
from bocopt_studies.work.task import Record, Task

_HOW = "Every trial sees the same series; intervals are for its stages, 95% by a block bootstrap."


def tasks(size: Size) -> dict[str, Task]:
    """Return the tasks of learners on all data sets, by `data set/policy`."""
    return {
        f"{place}/{name}": task
        for place, world in data_worlds().items()
        for name, task in judge(world, learners(world), size).items()
    }


def summarise(size: Size, records: Mapping[str, Record]) -> Summary:
    """Return the verdict on each of the data sets."""
    worlds = data_worlds()
    found = {place: verdict(world, at(place, records)) for place, world in worlds.items()}
    return {**size._asdict(), "worlds": found}


def show(summary: Summary) -> Section:
    """Return the section: an overview, a table for each data set, and the coverages."""
    each = (of_world(summary, place, _HOW) for place in summary["worlds"])
    return Section("Learning on real data", [overview(summary), *each, coverages(summary)])
