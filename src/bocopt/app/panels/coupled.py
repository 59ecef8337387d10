"""A case whose series share a program: one decision a time for all that are open, and its cost.

A stage is a time. What is played at a time is what an agent would have lived: outcomes that are
known by then are learned, series by series, and then one program decides all that are open.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from bocopt import checkpoint
from bocopt.app.case import Case, file_name
from bocopt.app.features.series import Panel, Series
from bocopt.app.findings import Played
from bocopt.app.panels.blocks import agents_file
from bocopt.app.panels.rows import PanelRows, Step, rows_of_panel, steps_of
from bocopt.app.playing.in_hindsight import KeptCosts, least_costs
from bocopt.app.playing.play import paid
from bocopt.compared import NOW
from bocopt.core import Array, IntArray
from bocopt.live import CoupledAgent
from bocopt.live.open_series import OpenSeries
from bocopt.state import CheckpointError

_LARGEST = 10**9  # decisions that may wait: a table knows how many there are
_AGENT = "agent."


@dataclass(frozen=True)
class CoupledPlayer:
    """Player of the times of a case whose series are decided together."""

    case: Case
    keep_every: int = 200  # times
    keep_seconds: float = 5.0

    @property
    def panel(self) -> Panel:
        """Return the panel of the case, which must have one."""
        assert self.case.panel is not None
        return self.case.panel

    @property
    def problem(self) -> OpenSeries:
        """Return the programs of all series."""
        assert isinstance(self.case.problem, OpenSeries)
        return self.case.problem

    @cached_property
    def rows(self) -> PanelRows:
        """Return the decisions of all series, a row each."""
        return rows_of_panel(self.panel, 0, len(self.panel.names))

    @cached_property
    def times(self) -> Series:
        """Return the times as stages: contexts, outcomes and decisions of all series at once."""
        return times_of(self.problem, self.panel)

    def play(self, advance: Callable[[int], None] = lambda stages: None) -> dict[str, Played]:
        """Return what each policy decided and paid at each time, and what was done."""
        times, problem = self.times, self.problem
        least = least_costs(problem, times, self._kept_costs)
        found = {} if times.now is None else {NOW: paid(problem, times, times.now, least)}
        for name in self.case.coupled:
            z, status = self._decided(name, advance)
            found[name] = paid(problem, times, z, least)._replace(status=status, hindsight=least)
        return found

    def forget(self) -> None:
        """Delete all that is kept, so that it is played again."""
        self._kept_costs.forget()
        for name in self.case.coupled:
            self._file(name).unlink(missing_ok=True)

    def _decided(self, policy: str, advance: Callable[[int], None]) -> tuple[Array, IntArray]:
        """Return the decisions (M, d) and statuses (M) of a policy, from where it stopped."""
        rows, coupled = self.rows, self.case.coupled[policy]
        agent, done = CoupledAgent(coupled, seed=self.case.seed, max_open=_LARGEST), 0
        z = np.full((len(self.panel.time), self.problem.dims.z), np.nan)
        status = np.zeros(len(z), np.int64)
        kept = _loaded(self._file(policy), self._digest(policy))
        if kept is not None:
            header, arrays = kept
            z, status, done = arrays["z"], arrays["status"], int(header["steps"])
            own = {n.removeprefix(_AGENT): a for n, a in arrays.items() if n.startswith(_AGENT)}
            agent = CoupledAgent.of(header["agent"], own, coupled)
        deadline = time.monotonic() + self.keep_seconds
        steps = list(steps_of(rows))
        for number, step in enumerate(steps):
            if number >= done:
                self._step(agent, step, z, status)
            if step.decides:
                advance(len(step.rows))
            due = not step.moment % self.keep_every or time.monotonic() > deadline
            if number >= done and step.decides and due:
                self._keep(policy, agent, number + 1, z, status)
                deadline = time.monotonic() + self.keep_seconds
        if done < len(steps):
            self._keep(policy, agent, len(steps), z, status)
        agents = agents_file(self.case, policy, 0)
        agents.parent.mkdir(parents=True, exist_ok=True)
        agent.save(agents)
        agent.close()
        return z, status

    def _step(self, agent: CoupledAgent, step: Step, z: Array, status: IntArray) -> None:
        """Play one step; decisions are written to z (M, d) and status (M)."""
        rows, some = self.rows, step.rows
        some = some[np.argsort(np.array(rows.names)[rows.place[some]], kind="stable")]
        names = np.array(rows.names)[rows.place[some]]
        if not step.decides:
            for moment in np.unique(rows.moment[some]).tolist():
                own = rows.moment[some] == moment
                agent.observe(names[own].tolist(), rows.xi[some[own]], moment)
            return
        found = agent.decide(names.tolist(), rows.x[some])
        layout = self.problem.layout
        each = np.zeros(layout.each.shape)
        each[rows.place[some]] = found.each
        z[step.moment], status[step.moment] = layout.whole(each, found.common), found.status
        never = ~rows.known[some]
        if never.any():
            nothing = np.full((int(never.sum()), rows.xi.shape[1]), np.nan)
            agent.observe(names[never].tolist(), nothing, found.number)

    def _keep(
        self, policy: str, agent: CoupledAgent, steps: int, z: Array, status: IntArray
    ) -> None:
        """Write the progress, in the place of what was kept before."""
        header, arrays = agent.parts()
        own = {f"{_AGENT}{name}": array for name, array in arrays.items()}
        said = {"digest": self._digest(policy), "steps": steps, "agent": header}
        file = self._file(policy)
        file.parent.mkdir(parents=True, exist_ok=True)
        checkpoint.save(file, said, own | {"z": z, "status": status})

    def _file(self, policy: str) -> Path:
        return self.case.results / "blocks" / f"{file_name(policy)}-0.bin"

    def _digest(self, policy: str | None) -> str:
        rows, times = self.rows, self.times
        module = __name__ if policy is not None else least_costs.__module__
        parts: list[Any] = [times.x, times.xi]
        if policy is not None:
            parts = [rows.x, rows.xi, rows.arrives, rows.begins, rows.moment]
        return self.case.digest_in_rows(policy, module, rows.names, parts)

    @property
    def _kept_costs(self) -> KeptCosts:
        path = self.case.results / "blocks" / "hindsight-0.bin"
        return KeptCosts(path, self._digest(None), self.keep_seconds)


def times_of(problem: OpenSeries, panel: Panel) -> Series:
    """Return the times of a panel as the stages of one series, for the problem of all series.

    The outcome of a time is missing where that of any series is.
    """
    many, series = len(panel.time), len(panel.names)
    opened = np.zeros((many, series), bool)
    x = np.zeros((many, series, len(panel.x_names)))
    xi = np.zeros((many, series, len(panel.xi_names)))
    arrives, lines = np.zeros(many, np.int64), np.full(many, np.iinfo(np.int64).max)
    for i, (one, at) in enumerate(zip(panel.series, panel.at, strict=True)):
        opened[at, i], x[at, i], xi[at, i] = True, one.x, one.xi
        known = np.append(at, many)[np.minimum(one.arrives, len(at))]
        np.maximum.at(arrives, at, known)
        np.minimum.at(lines, at, one.lines)
    missing = np.isnan(xi).any(axis=(1, 2))
    flat = xi.reshape(many, -1)
    flat[missing] = np.nan
    notes = list(panel.notes)
    if missing.any():
        notes.append(
            f"At {int(missing.sum()):,} of {many:,} times the outcome of some series is missing. "
            "What came is learned; what such a time cost is not known."
        )
    return Series(
        time=panel.time,
        x=problem.seen(opened, x),
        x_names=tuple(
            [f"open, {name}" for name in panel.names]
            + [f"{c}, {name}" for name in panel.names for c in panel.x_names if problem.width]
        ),
        xi=flat,
        xi_names=tuple(f"{c}, {name}" for name in panel.names for c in panel.xi_names),
        arrives=arrives,
        now=_now(problem, panel, opened),
        lines=lines,
        notes=tuple(notes),
        warm_up=panel.warm_up,
    )


def _now(problem: OpenSeries, panel: Panel, opened: Array) -> Array | None:
    """Return what was decided at each time (M, d); NaN where a part was not recorded.

    What is common stands in the rows of all series, and must be the same there.
    """
    recorded = [one.now for one in panel.series if one.now is not None]
    if not recorded:
        return None
    layout, many = problem.layout, len(panel.time)
    size = layout.each.shape[1]
    each = np.zeros((many, *layout.each.shape))
    low = np.full((many, len(layout.common)), np.inf)
    high, unknown = -low, np.zeros(many, bool)
    for i, (one, at) in enumerate(zip(panel.series, panel.at, strict=True)):
        now = np.full((len(at), size + low.shape[1]), np.nan) if one.now is None else one.now
        each[at, i] = now[:, :size]
        np.minimum.at(low, at, now[:, size:])
        np.maximum.at(high, at, now[:, size:])
        unknown[at] |= np.isnan(now).any(axis=1)
    apart = np.flatnonzero((low != high).any(axis=1) & ~unknown)
    if len(apart):
        raise ValueError(
            f"What is common to all series ({', '.join(layout.common_names)}) must be the same in "
            f"all rows of a time. It is not at {panel.time[int(apart[0])]}."
        )
    found = layout.whole(np.nan_to_num(each), low)
    found[unknown] = np.nan
    return found


def parts_of_series(
    case: Case, panel: Panel, played: Mapping[str, Played]
) -> Iterator[dict[str, Played]]:
    """Yield for each series what was decided for it, and what is common, with the cost of all."""
    assert isinstance(case.problem, OpenSeries)
    layout = case.problem.layout
    for number, at in enumerate(panel.at):
        places = np.concatenate([layout.each[number], layout.common])
        yield {
            name: Played(
                z=one.z[at][:, places],
                cost=one.cost[at],
                feasible=one.feasible[at],
                hindsight=one.hindsight[at],
                status=one.status[at],
                info={},
                said=(),
            )
            for name, one in played.items()
        }


def _loaded(path: Path, digest: str) -> tuple[Mapping[str, Any], dict[str, Any]] | None:
    """Return what is kept; None if there is nothing, or of other data."""
    try:
        header, arrays = checkpoint.load(path)
    except (CheckpointError, OSError):
        return None
    return (header, arrays) if header.get("digest") == digest else None
