"""One pass of a model across series over the times of a panel, before anybody decides.

Outcomes do not depend on decisions, so what the model expects at each decision is found once: then
blocks of series can be played side by side, each with its part. It is kept on disk, a row of
quantiles for each decision, series by series.

    across/POLICY.npy           the quantiles (R, L)
    across/POLICY.bin           of which study they are: it is written last
    agents/POLICY-across.bin    the model after all times
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from shutil import rmtree
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.format import open_memmap
from numpy.typing import NDArray

from bocopt import checkpoint
from bocopt.app.case import Case, file_name
from bocopt.app.features.series import Panel
from bocopt.app.panels.across import AcrossPanel
from bocopt.core import Array, IntArray
from bocopt.models import AcrossSeries
from bocopt.state import CheckpointError

_ROWS = 200_000  # of the decisions of several times that are laid out at once
_SHARE = 0.05  # of the time, at the most, goes into keeping


def file_across(folder: Path, policy: str) -> Path:
    """Return the file of the model across series beside the agents of a policy."""
    return folder / f"{file_name(policy)}-across.bin"


class Stretch(NamedTuple):
    """Decisions (r) of several times, series by series."""

    row: IntArray  # among all decisions of the panel
    place: IntArray  # of the series
    moment: IntArray
    x: Array  # (r, k)
    y: Array  # NaN where no outcome came
    due: IntArray  # as `arrives` of a `Series`


@dataclass(frozen=True)
class AcrossPass:
    """Quantiles by the model across series that a policy of a case is given."""

    case: Case
    policy: str
    keep_every: int = 200  # times
    keep_seconds: float = 5.0

    @property
    def panel(self) -> Panel:
        """Return the panel of the case, which must have one."""
        assert self.case.panel is not None
        return self.case.panel

    @property
    def model(self) -> AcrossSeries:
        """Return the model, which knows its lags."""
        found = self.case.across(self.policy)
        assert found is not None
        return found

    @cached_property
    def digest(self) -> str:
        """Return a digest of everything that the quantiles depend on."""
        return self.case.digest_across(self.policy, AcrossPanel.__module__, self._parts())

    @property
    def is_whole(self) -> bool:
        """Return whether the pass was made to its end."""
        return _digest_in(self._header) == self.digest and self._file.is_file()

    def quantiles(self, first: int, last: int) -> Array:
        """Return the quantiles (R, L) of the decisions of series from a number to another one."""
        if not self.is_whole:
            raise ValueError(f"{self._file} is not of this table. Run the command again.")
        rows = slice(int(self._begins[first]), int(self._begins[last]))
        return np.array(np.load(self._file, mmap_mode="r")[rows])

    def play(self, advance: Callable[[int], None] = lambda stages: None) -> None:
        """Ask and teach the model time by time, from where it stopped, unless that was done."""
        if self.is_whole:
            rmtree(self._progress, ignore_errors=True)  # of one that was killed at its end
            advance(self.panel.stages)
            return
        across, start, found = self._begun()
        advance(sum(int(np.searchsorted(at, start)) for at in self.panel.at))
        deadline = time.monotonic() + self.keep_seconds
        for first, stretch in self._stretches(start):
            found[stretch.row] = _asked(across, stretch, advance)
            if time.monotonic() > deadline or self.keep_every <= self._times:
                before = time.monotonic()
                found.flush()
                arrays = across.arrays()
                checkpoint.save(self._so_far, {"digest": self.digest, "next": first}, arrays)
                now = time.monotonic()
                deadline = now + max(self.keep_seconds, (now - before) / _SHARE)
        found.flush()
        del found
        self._end(across)

    def forget(self) -> None:
        """Delete all that is kept, so that the pass is made again."""
        for path in (self._header, self._file):
            path.unlink(missing_ok=True)
        rmtree(self._progress, ignore_errors=True)

    def _begun(self) -> tuple[AcrossPanel, int, Any]:
        """Return where it stopped: the model, the next time, and the quantiles (R, L) on disk."""
        across, names = AcrossPanel(self.model, self.case.seed), self.panel.names
        if self._kept.is_file() and _digest_in(self._so_far) == self.digest:
            header, arrays = checkpoint.load(self._so_far)
            return (
                across.restored(names, arrays),
                int(header["next"]),
                open_memmap(self._kept, "r+"),
            )
        rmtree(self._progress, ignore_errors=True)  # of another study: before its file is ours
        self._progress.mkdir(parents=True)
        across.places(names)
        shape = int(self._begins[-1]), self.model.levels
        return across, 0, open_memmap(self._kept, "w+", float, shape)

    def _end(self, across: AcrossPanel) -> None:
        """Put everything in its place; the header last, as it says that all is there."""
        across.end()
        agents, folder = self.case.results / "agents", self._file.parent
        for each in (agents, folder):
            each.mkdir(parents=True, exist_ok=True)
        self._header.unlink(missing_ok=True)
        across.save(file_across(agents, self.policy))
        self._kept.replace(self._file)
        checkpoint.save(self._header, {"digest": self.digest}, {})
        rmtree(self._progress, ignore_errors=True)

    @property
    def _times(self) -> int:
        """Return how many times are laid out at once."""
        return max(1, min(self.keep_every, _ROWS // len(self.panel.names)))

    def _stretches(self, start: int) -> Iterator[tuple[int, Stretch]]:
        """Yield the time after some, and the decisions at these."""
        end = len(self.panel.time)
        for first in range(start, end, self._times):
            last = min(first + self._times, end)
            yield last, self._stretch(first, last)

    def _stretch(self, first: int, last: int) -> Stretch:
        panel = self.panel
        parts = []
        for place, (one, at) in enumerate(zip(panel.series, panel.at, strict=True)):
            some = slice(*np.searchsorted(at, (first, last)).tolist())
            if some.start < some.stop:
                row = np.arange(some.start, some.stop) + self._begins[place]
                own = row, np.full(len(row), place), at[some]
                parts.append((*own, one.x[some], one.xi[some, 0], one.arrives[some]))
        return Stretch(*(np.concatenate(part) for part in zip(*parts, strict=True)))

    @cached_property
    def _begins(self) -> IntArray:
        """Return the number (n + 1) of the first decision of each series; last, of all."""
        return np.cumsum([0, *(len(at) for at in self.panel.at)])

    def _parts(self) -> Iterator[NDArray[Any]]:
        yield self._begins
        for one, at in zip(self.panel.series, self.panel.at, strict=True):
            yield from (one.x, one.xi, one.arrives, at)

    @property
    def _file(self) -> Path:
        return self.case.results / "across" / f"{file_name(self.policy)}.npy"

    @property
    def _header(self) -> Path:
        return self._file.with_suffix(".bin")

    @property
    def _progress(self) -> Path:
        return self.case.results / "progress" / f"{file_name(self.policy)}-across"

    @property
    def _kept(self) -> Path:
        return self._progress / "quantiles.npy"

    @property
    def _so_far(self) -> Path:
        return self._progress / "so-far.bin"


def _asked(across: AcrossPanel, stretch: Stretch, advance: Callable[[int], None]) -> Array:
    """Return the quantiles (r, L) of decisions: all of a time are asked before it is over."""
    order = np.argsort(stretch.moment, kind="stable")
    ends = np.flatnonzero(np.diff(stretch.moment[order])) + 1
    found = np.empty((len(order), across.model.levels))
    for some in np.split(order, ends):
        place, x = stretch.place[some], stretch.x[some]
        found[some] = across.decide(place, x, stretch.y[some], stretch.due[some])
        advance(len(some))
    return found


def _digest_in(path: Path) -> str | None:
    """Return the digest that a file says; None where there is none, or it is broken."""
    try:
        header, _ = checkpoint.load(path)
    except (CheckpointError, OSError):
        return None
    found: str | None = header.get("digest")
    return found
