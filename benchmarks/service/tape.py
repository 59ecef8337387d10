"""A disk that loses its power: what is left of files whose writes were taped by power.c.

What was synced is there. Of the rest, each sector of 512 bytes and each change of a length may be
there or not. Names that came or went since the folder was last synced are there up to some moment.
"""

import random
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

_HEAD = struct.Struct("=qqqq")
_SECTOR = 512


class Record(NamedTuple):
    """One call, and where it ends on the tape."""

    kind: str
    file: int
    place: int
    length: int
    data: bytes
    end: int


def records(tape: bytes) -> Iterator[Record]:
    at = 0
    while at + _HEAD.size <= len(tape):
        kind, file, place, length = _HEAD.unpack_from(tape, at)
        at += _HEAD.size
        size = length if chr(kind) in "wcu" else 0
        yield Record(chr(kind), file, place, length, tape[at : at + size], at + size)
        at += size


@dataclass
class File:
    """What is on the disk for certain, and what was written since."""

    sure: bytearray = field(default_factory=bytearray)
    since: list[Record] = field(default_factory=list)

    def sync(self) -> None:
        for record in self.since:
            _done(self.sure, record)
        self.since = []

    def left(self, rng: random.Random, share: float) -> bytes:
        """After a cut, where each sector of what was not synced is there with this chance."""
        data = bytearray(self.sure)
        for record in self.since:
            for part in _parts(record):
                if rng.random() < share:
                    _done(data, part)
        return bytes(data)


def _parts(record: Record) -> Iterator[Record]:
    if record.kind == "t":
        yield record
        return
    start = record.place
    while start < record.place + record.length:
        stop = min(start - start % _SECTOR + _SECTOR, record.place + record.length)
        data = record.data[start - record.place : stop - record.place]
        yield record._replace(place=start, length=len(data), data=data)
        start = stop


def _done(data: bytearray, record: Record) -> None:
    grown = record.length if record.kind == "t" else record.place
    if record.kind == "t":
        del data[grown:]
    data.extend(bytes(max(0, grown - len(data))))
    if record.kind == "w":
        data[record.place : record.place + record.length] = record.data


@dataclass
class Disk:
    """All files of a folder, as the tape goes on."""

    lies: bool = False  # whether a sync does nothing
    names: dict[str, File] = field(default_factory=dict)  # for certain
    came_or_went: list[tuple[str, File | None]] = field(default_factory=list)
    files: dict[int, File] = field(default_factory=dict)
    syncs: int = 0

    def play(self, record: Record) -> None:
        if record.kind == "c":
            self.files[record.file] = File()
            self.came_or_went.append((record.data.decode(), self.files[record.file]))
        elif record.kind == "u":
            self.came_or_went.append((record.data.decode(), None))
        elif record.kind in "wt":
            self.files[record.file].since.append(record)
        elif not self.lies:
            self.syncs += 1
            if record.kind == "d":
                self.names, self.came_or_went = self._names(len(self.came_or_went)), []
            else:
                self.files[record.file].sync()

    def _names(self, changes: int) -> dict[str, File]:
        names = dict(self.names)
        for name, file in self.came_or_went[:changes]:
            if file is None:
                names.pop(name, None)
            else:
                names[name] = file
        return names

    def cut(self, rng: random.Random) -> dict[str, bytes]:
        """Files by name. All of what was not synced is lost, some of it, or nothing."""
        share = rng.choice([0.0, 0.0, 1.0, rng.random()])
        names = self._names(rng.randint(0, len(self.came_or_went)))
        return {name: file.left(rng, share) for name, file in names.items()}
