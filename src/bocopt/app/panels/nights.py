"""Decisions for today's rows of all series, night after night.

A night that learns leaves a folder with all that the next one needs, and then says in one small
file which folder counts. So whatever is killed, the night before counts, or this one: and the same
rows again get what was decided for them, with the same bytes.

    nights/current.json        which folder counts, of which backtest, and after which rows
    nights/N/                  panel.bin, an agent a block, and the decisions of night N
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from shutil import rmtree
from typing import Any, NamedTuple

import numpy as np

from bocopt import checkpoint, file
from bocopt.app.case import Case, agents_of_blocks, file_name
from bocopt.app.features.split import refuse_repeated_rows
from bocopt.app.findings import Decisions
from bocopt.app.kept_features import in_days
from bocopt.app.panels.agents import Blocks, OneByOne
from bocopt.app.panels.asked import AskedRow, turns_of
from bocopt.app.panels.memory import PanelMemory, outcomes_of
from bocopt.app.panels.together import Together, check_whole, times_of_rows
from bocopt.app.reading.columns import Table
from bocopt.core import Array, IntArray, Status

#: Who decided a row of a panel: an agent that a backtest or a night left, or one that begins.
KNOWN, OF_A_NIGHT, NEW = "of the backtest", "of a night", "new"
Agents = Blocks | OneByOne | Together


class Night(NamedTuple):
    """Where a night begins."""

    folder: Path  # of agents and memory
    number: int  # 0 after the backtest
    rows: str  # the digest of the rows that led there; empty after the backtest
    backtest: str  # the digest of what the backtest left


def decide_panel(case: Case, rows: Table, policy: str, *, learn: bool) -> Decisions:
    """Return the decisions of a policy for rows of several series, in the order of their times.

    With `learn`, a row that has an outcome is learned from: one of a time that was decided before,
    or a new one, which is decided for that. The other rows are decided, and all is kept.
    """
    if not learn:
        memory, agents, decided = _opened(case, policy, _latest(case, policy))
        for turn in _turns(case, rows, memory):
            if case.coupled:
                check_whole(turn, memory)
            decided.add(turn, agents)
        return decided.table()
    folder = _nights(case, policy)
    folder.mkdir(parents=True, exist_ok=True)
    with file.alone(folder / "lock"):
        night, digest = _latest(case, policy), _digest(rows)
        if night.rows == digest:
            _tidy(folder, night.number)
            return _kept(night.folder)
        return _learned(case, policy, night, rows, digest)


def _opened(case: Case, policy: str, night: Night) -> tuple[PanelMemory, Agents, "_Decided"]:
    """Return all that a night begins with."""
    memory = PanelMemory.load(night.folder / "panel.bin")
    known = frozenset(memory.known)
    agents: Agents
    if case.coupled:
        agents = Together(case, policy, night.folder / f"{file_name(policy)}-0.bin")
    elif agents_of_blocks(night.folder, policy):
        agents = Blocks(case, policy, night.folder, known)
    else:
        agents = OneByOne(case, policy, known)
    return memory, agents, _Decided(case, memory, known)


def _turns(case: Case, rows: Table, memory: PanelMemory) -> Iterator[Sequence[AskedRow]]:
    """Yield rows that are decided by one call: one of each series, or all of one time.

    An error tells where a series has two rows of one time.
    """
    spec = memory.featuriser.spec
    rows = in_days(case, rows, spec)
    refuse_repeated_rows(rows, spec)
    return times_of_rows(rows, memory) if case.coupled else turns_of(rows, memory.featuriser)


def _learned(case: Case, policy: str, night: Night, rows: Table, digest: str) -> Decisions:
    """Return the decisions of a night that is kept."""
    memory, agents, decided = _opened(case, policy, night)
    if isinstance(agents, OneByOne):
        raise ValueError(
            f"'{policy}' is not played in lock step: it has an agent a series, which learns in a "
            "service. Learn by a policy whose states are rows, or leave out --learn."
        )
    for turn in _turns(case, rows, memory):
        _lived(turn, memory, agents, decided)
    found = decided.table()
    _keep(case, policy, night, digest, memory, agents, found)
    return found


def _lived(
    turn: Sequence[AskedRow], memory: PanelMemory, agents: Blocks | Together, decided: "_Decided"
) -> None:
    """Learn from the rows of a turn that have an outcome, and decide the others."""
    fresh = [one for one in turn if not memory.is_past(one)]
    if isinstance(agents, Together):
        check_whole(fresh, memory)
    decided.add(fresh, agents, lambda one: not one.has_outcome)
    waited = [one for one in turn if one.has_outcome and memory.stage(one) is not None]
    stages = [memory.stage(one) or 0 for one in waited]
    if waited:
        agents.observe([one.name for one in waited], np.array(stages), outcomes_of(waited))
    for one, stage in zip(waited, stages, strict=True):
        memory.learn(one, stage)


class _Decided:
    """Rows that were decided, in any order."""

    def __init__(self, case: Case, memory: PanelMemory, known: frozenset[str]) -> None:
        self.case, self.memory, self.known = case, memory, known
        self.rows: list[tuple[AskedRow, int]] = []
        self.z: list[Array] = []
        self.status: list[IntArray] = []

    def add(
        self,
        asked: Sequence[AskedRow],
        agents: Agents,
        tells: Callable[[AskedRow], bool] = lambda one: True,
    ) -> None:
        """Decide rows of different series; those that it tells of are among the decisions."""
        if not asked:
            return
        pairs = [self.memory.decide(one) for one in asked]
        z, status = agents.decide([one.name for one in asked], np.array([x for _, x in pairs]))
        told = [place for place, one in enumerate(asked) if tells(one)]
        self.rows += [(asked[place], pairs[place][0]) for place in told]
        self.z.append(z[told])
        self.status.append(status[told])

    def table(self) -> Decisions:
        """Return all of them, in the order of the rows."""
        spec, names = self.memory.featuriser.spec, self.case.decision_names
        order = sorted(range(len(self.rows)), key=lambda i: self.rows[i][0].place)
        rows = [self.rows[i] for i in order]
        z = np.concatenate([np.zeros((0, len(names))), *self.z])[order]
        status = np.concatenate([np.zeros(0, np.int64), *self.status])[order]
        shown = [*spec.series, *([spec.time] if spec.time else [])]
        columns: dict[str, list[Any]] = {
            name: [one.fields.fields[name] for one, _ in rows] for name in shown
        }
        columns |= dict(zip(names, z.T.tolist(), strict=True))
        columns["status"] = [Status(int(one)).name.lower() for one in status]
        columns["agent"] = [self._agent(one.name) for one, _ in rows]
        return Decisions(tuple(stage for _, stage in rows), columns)

    def _agent(self, name: str) -> str:
        assert self.case.panel is not None
        if name not in self.known:
            return NEW
        return KNOWN if name in self.case.panel.names else OF_A_NIGHT


def _nights(case: Case, policy: str) -> Path:
    return case.results / "nights" / file_name(policy)


def _latest(case: Case, policy: str) -> Night:
    """Return the latest night of a policy after the latest backtest, or the backtest itself."""
    left = case.results / "agents"
    backtest = _digest_of_file(left / "panel.bin")
    folder = _nights(case, policy)
    try:
        found = json.loads((folder / "current.json").read_text())
        if found["backtest"] == backtest:
            number = int(found["night"])
            return Night(folder / str(number), number, str(found["rows"]), backtest)
    except (FileNotFoundError, KeyError, ValueError):
        pass
    return Night(left, 0, "", backtest)


def _keep(
    case: Case,
    policy: str,
    night: Night,
    digest: str,
    memory: PanelMemory,
    agents: Blocks | Together,
    found: Decisions,
) -> None:
    """Write all that the next night needs, and then that it counts."""
    folder, number = _nights(case, policy), night.number + 1
    rmtree(folder / str(number), ignore_errors=True)  # of one that was killed
    own = folder / str(number)
    own.mkdir(parents=True)
    memory.save(own / "panel.bin")
    agents.save(own)
    header = {"stages": found.stages, "columns": found.columns}
    checkpoint.save(own / "decisions.bin", header, {})
    said = {"night": number, "rows": digest, "backtest": night.backtest}
    file.replace(folder / "current.json", json.dumps(said).encode())
    _tidy(folder, number)


def _tidy(folder: Path, number: int) -> None:
    """Remove all nights but a current one and that before, which somebody may be reading."""
    for other in folder.iterdir():
        if other.is_dir() and other.name not in (str(number), str(number - 1)):
            rmtree(other, ignore_errors=True)


def _kept(folder: Path) -> Decisions:
    """Return what a night decided."""
    header, _ = checkpoint.load(folder / "decisions.bin")
    return Decisions(tuple(header["stages"]), header["columns"])


def _digest(rows: Table) -> str:
    """Return a digest of all that a table says."""
    digest = hashlib.sha256(repr((len(rows), [*rows.columns])).encode())
    for column in rows.columns.values():
        if isinstance(column, np.ndarray):
            digest.update(np.ascontiguousarray(column).tobytes())
        else:
            digest.update(json.dumps(column).encode())
    return digest.hexdigest()


def _digest_of_file(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
