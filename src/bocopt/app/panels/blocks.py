"""Blocks of series, each played in lock step by one process, and kept once it is whole."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from shutil import rmtree
from typing import Any, Protocol

import numpy as np

from bocopt import checkpoint
from bocopt.app.case import Case, file_name
from bocopt.app.features.series import Panel
from bocopt.app.findings import Played
from bocopt.app.panels.lockstep import KeptRows, agent_of, can_play_in_rows, play_rows
from bocopt.app.panels.rows import PanelRows, rows_of_panel, split_by_series
from bocopt.app.playing.in_hindsight import KeptCosts, least_costs
from bocopt.app.playing.play import paid
from bocopt.compared import NOW
from bocopt.core import Array, IntArray
from bocopt.state import CheckpointError

_SERIES = 256  # of a block, at the most: their states are played by one call


def stages_of_blocks(panel: Panel) -> list[int]:
    """Return the number of decisions of each block of the series of a panel."""
    sizes = [len(one.x) for one in panel.series]
    return [sum(sizes[first : first + _SERIES]) for first in range(0, len(sizes), _SERIES)]


def series_of_block(panel: Panel, number: int) -> tuple[int, int]:
    """Return the number of the first series of a block, and of that after its last."""
    first = number * _SERIES
    return first, min(first + _SERIES, len(panel.names))


def rows_of_block(panel: Panel, number: int) -> PanelRows:
    """Return the decisions of the series of a block."""
    return rows_of_panel(panel, *series_of_block(panel, number))


def agents_file(case: Case, policy: str, number: int) -> Path:
    """Return the file of the agent of a block after the last stage of the backtest."""
    return case.results / "agents" / f"{file_name(policy)}-{number}.bin"


class Beside(Protocol):
    """Numbers that a policy sees beside the contexts, whoever found them before it plays."""

    @property
    def digest(self) -> str:
        """Return a digest of everything that they depend on."""
        ...

    def quantiles(self, first: int, last: int) -> Array:
        """Return those (R, L) of the decisions of series from a number to another one."""
        ...


@dataclass(frozen=True)
class Block:
    """Some series of a case, side by side."""

    case: Case
    number: int
    make: Callable[[], PanelRows]  # its rows, which are a copy
    beside: Mapping[str, Beside] = field(default_factory=dict)  # by policy, which has some
    keep_every: int = 200  # steps
    keep_seconds: float = 5.0

    @cached_property
    def rows(self) -> PanelRows:
        """Return the decisions of its series."""
        return self.make()

    def plays(self, policy: str) -> bool:
        """Return whether a policy can be played in lock step."""
        return can_play_in_rows(self.case.everyone[policy], self.rows)

    def play(
        self, policies: Iterable[str], advance: Callable[[int], None] = lambda stages: None
    ) -> list[Mapping[str, Played]]:
        """Play what has not been played: by series, what each policy decided and paid."""
        rows, problem = self.rows, self.case.problem
        least = least_costs(problem, rows, self._kept_costs)
        found = {} if rows.now is None else {NOW: paid(problem, rows, rows.now, least)}
        found |= {name: self._played(name, least, advance) for name in policies}
        parts = {name: split_by_series(rows, one[:5]) for name, one in found.items()}
        return [
            {name: _of_series(parts[name][place]) for name in found}
            for place in range(len(rows.names))
        ]

    def whole(self, policies: Iterable[str]) -> int:
        """Count the policies that are played to the end."""
        return sum(self._file(name).is_file() for name in policies)

    def forget(self, policies: Iterable[str]) -> None:
        """Delete all that is kept, so that it is played again."""
        self._kept_costs.forget()
        for name in policies:
            self._file(name).unlink(missing_ok=True)
            rmtree(self._progress(name), ignore_errors=True)

    def digest(self, policy: str) -> str:
        """Return a digest of everything that the results of a policy depend on."""
        rows, beside = self.rows, self.beside.get(policy)
        own = self.case.digest_in_rows(policy, play_rows.__module__, rows.names, _parts(rows))
        return own if beside is None else f"{own} {beside.digest}"

    def digests(self, policies: Iterable[str]) -> str:
        """Return a digest of everything that the results of several policies depend on."""
        return " ".join(map(self.digest, policies))

    def is_played(self, policies: Iterable[str]) -> bool:
        """Return whether the results of all policies are kept."""
        return all(_loaded(self._file(name), self.digest(name)) is not None for name in policies)

    def _played(self, policy: str, least: Array, advance: Callable[[int], None]) -> Played:
        rows, problem, digest = self.rows, self.case.problem, self.digest(policy)
        file = self._file(policy)
        known = _loaded(file, digest)
        if known is None:
            kept = KeptRows(self._progress(policy), digest, self.keep_seconds, self.keep_every)
            who, shown = self.case.alone(policy), self._shown(policy)
            whole = play_rows(who, problem, shown, self.case.seed_of, kept, advance)
            agent = agent_of(whole, shown, self.case.seed)
            agents = agents_file(self.case, policy, self.number)
            agents.parent.mkdir(parents=True, exist_ok=True)
            agent.save(agents)
            agent.close()
            known = whole.taken.z, whole.taken.status
            file.parent.mkdir(parents=True, exist_ok=True)
            checkpoint.save(file, {"digest": digest}, {"z": known[0], "status": known[1]})
            rmtree(kept.folder, ignore_errors=True)  # all of it is in what was saved
        else:
            advance(len(rows.x))
        return paid(problem, rows, known[0], least)._replace(status=known[1], hindsight=least)

    def _shown(self, policy: str) -> PanelRows:
        """Return the rows with what a policy sees beside their contexts."""
        rows, beside = self.rows, self.beside.get(policy)
        if beside is None:
            return rows
        first = self.number * _SERIES
        quantiles = beside.quantiles(first, first + len(rows.names))
        return rows._replace(x=np.concatenate([rows.x, quantiles], axis=1))

    def _file(self, policy: str) -> Path:
        return self.case.results / "blocks" / f"{file_name(policy)}-{self.number}.bin"

    def _progress(self, policy: str) -> Path:
        return self.case.results / "progress" / f"{file_name(policy)}-{self.number}"

    @property
    def _kept_costs(self) -> KeptCosts:
        rows, module = self.rows, least_costs.__module__
        digest = self.case.digest_in_rows(None, module, rows.names, [rows.x, rows.xi])
        path = self.case.results / "blocks" / f"hindsight-{self.number}.bin"
        return KeptCosts(path, digest)  # always: what is left is not a matter of time


def _parts(rows: PanelRows) -> list[Array | IntArray]:
    return [rows.x, rows.xi, rows.arrives, rows.begins, rows.moment]


def _loaded(path: Path, digest: str) -> tuple[Array, IntArray] | None:
    """Return the decisions and statuses that are kept; None if there are none, or of other data."""
    try:
        header, arrays = checkpoint.load(path)
    except (CheckpointError, OSError):
        return None
    return (arrays["z"], arrays["status"]) if header.get("digest") == digest else None


def _of_series(parts: list[Any]) -> Played:
    z, cost, feasible, best, status = parts
    return Played(z, cost, feasible, best, status, {}, ())
