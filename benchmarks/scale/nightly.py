"""A nightly batch of many series on some machines: simulated with what one night takes on one.

Series are split into parts, each of which is a case of its own: a table, a command, a folder. A
core does one part after the other. A machine may die: what it was doing is begun again by others,
once that is noticed. That a part that is killed and begun again ends in the same bytes is what
`panel_kills.py` shows.
"""

import heapq
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

SERIES = 10_000_000
CORES, MEMORY = 8, 32.0  # of a machine: cores, gigabytes of which parts take at most 3/4
PART = 100_000  # series of a part, at most
NOTICE = 60.0  # seconds until it is known that a machine has died
MACHINES = 1, 4, 16


class Part(NamedTuple):
    """One part: what it takes."""

    series: int
    seconds: float  # of a core
    gigabytes: float  # of memory
    kept: float  # bytes on the disk after a night
    read: float  # bytes of a night's table


class Batch(NamedTuple):
    """What a night of all parts came to."""

    seconds: float  # by the clock, from the first to the last
    cpu: float  # seconds of cores, those that were lost included
    begun: int  # parts, those that were begun again included


def part_of(inputs: Mapping[str, Any], series: int = PART) -> Part:
    """Return what a part takes: the line through two nights that were measured.

    A part has fewer series where one a core would not fit into the memory of a machine.
    """
    line = inputs["nights"]["line"]

    def at(key: str, many: int) -> float:
        """Return a number at so many series."""
        return float(line[key]["fixed"] + line[key]["a series"] * many)

    room = 0.75 * MEMORY / CORES
    each, fixed = line["gigabytes"]["a series"], line["gigabytes"]["fixed"]
    if each > 0:
        series = max(1, min(series, int((room - fixed) / each)))
    keys = "seconds of CPU", "gigabytes", "bytes kept", "bytes read"
    return Part(series, *(at(key, series) for key in keys))


def simulated(seconds: float, parts: int, machines: int, dies: float = math.inf) -> Batch:
    """Return a batch of equal parts on machines, of which the first may die at a time."""
    lanes = [(0.0, machine, core) for machine in range(machines) for core in range(CORES)]
    heapq.heapify(lanes)
    waiting = [0.0] * parts  # when each may begin
    cpu, last, begun = 0.0, 0.0, 0
    while waiting:
        free, machine, core = heapq.heappop(lanes)
        start = max(free, heapq.heappop(waiting))
        if machine == 0 and start >= dies:
            heapq.heappush(waiting, start)
            continue  # this core is gone
        begun += 1
        if machine == 0 and start + seconds > dies:
            cpu += dies - start
            heapq.heappush(waiting, dies + NOTICE)
            continue
        cpu, last = cpu + seconds, max(last, start + seconds)
        heapq.heappush(lanes, (start + seconds, machine, core))
    return Batch(last, cpu, begun)


def found(inputs: Mapping[str, Any]) -> list[dict[str, float]]:
    """Return what a night of all series comes to, by the number of machines."""
    part = part_of(inputs)
    many = math.ceil(SERIES / part.series)
    rows = []
    for machines in MACHINES:
        calm = simulated(part.seconds, many, machines)
        row = {"machines": machines, "hours": calm.seconds / 3600, "CPU-hours": calm.cpu / 3600}
        row["hours, where one dies"] = math.nan
        if machines > 1:
            row["hours, where one dies"] = (
                simulated(part.seconds, many, machines, calm.seconds / 2).seconds / 3600
            )
        row["gigabytes of memory a machine"] = CORES * part.gigabytes
        row["gigabytes kept, of two nights"] = 2 * many * part.kept / 1e9
        row["gigabytes read"] = many * part.read / 1e9
        rows.append(row)
    return rows


def table(inputs: Mapping[str, Any]) -> list[str]:
    """Return the lines of the tables of docs/scale.md."""
    from scale.tables import grid, number

    part, nights = part_of(inputs), inputs["nights"]
    measured = [
        [
            f"{int(series):,}",
            *(number(row[key]) for key in ("seconds of CPU", "gigabytes")),
            *(number(row[key] / 1e6) for key in ("bytes kept", "bytes read")),
        ]
        for series, row in nights["nights"].items()
    ]
    header = ["measured: a night of so many series", "s of CPU", "GB", "MB kept", "MB read"]
    rows = [
        [str(row["machines"]), *(number(row[key]) for key in [*row][1:])] for row in found(inputs)
    ]
    first = f"simulated: {SERIES:,} series on so many machines"
    keys = ["hours", "CPU-hours", "hours, where one dies", "GB of memory a machine"]
    keys += ["GB kept, of two nights", "GB read"]
    load = nights["load before"]
    return [
        *grid(header, measured),
        "",
        *grid([first, *keys], rows),
        "",
        f"Parts of {part.series:,} series. Load of the machine before: {load:.1f}.",
    ]
