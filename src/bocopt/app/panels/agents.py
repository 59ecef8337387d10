"""The agents of all series of a panel, as a backtest or a night left them."""

from collections.abc import Container, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bocopt.app.case import Case, agents_of_blocks, file_name
from bocopt.app.panels.across import AcrossPanel, loaded
from bocopt.app.panels.across_pass import file_across
from bocopt.app.playing.play import begun
from bocopt.core import Array, IntArray
from bocopt.live import Agent, PanelAgent

_SERIES = 256  # of a block that is begun for new series


class Blocks:
    """Series that are played in lock step, in blocks with an agent each.

    Those that are `known` have one; another one begins with its first decision.
    """

    def __init__(self, case: Case, policy: str, folder: Path, known: Container[str]) -> None:
        self.case, self.policy, self.known = case, policy, known
        self.folder, one = folder, case.alone(policy)
        files = agents_of_blocks(folder, policy)
        self.agents: list[PanelAgent[Any]] = [
            PanelAgent.load(file, one, problem=case.problem) for file in files
        ]
        model = case.across(policy)
        self.across: AcrossPanel | None = None
        if model is not None:
            self.across = loaded(file_across(folder, policy), model, case.seed)
        self._of = {name: i for i, agent in enumerate(self.agents) for name in agent.names}
        self._sizes = [len(agent.names) for agent in self.agents]

    def decide(self, names: Sequence[str], x: Array) -> tuple[Array, IntArray]:
        """Return the decisions (n, d) of different series, and their statuses (n)."""
        for name in names:
            if name not in self._of:
                if name in self.known:
                    raise FileNotFoundError(2, f"No agent of '{name}' was left", str(self.folder))
                self._of[name] = self._block_of_new()
        if self.across is not None:
            x = np.concatenate([x, self.across.decide(self.across.places(names), x)], axis=1)
        z, status = np.empty((len(names), self.case.problem.dims.z)), np.zeros(len(names), int)
        for block, some in self._by_block(names):
            found = self.agents[block].decide([names[i] for i in some.tolist()], x[some])
            z[some], status[some] = found.z, found.status
        return z, status

    def observe(self, names: Sequence[str], stages: IntArray, xi: Array) -> None:
        """Learn outcomes (n, m) of decisions of different series; NaN for one that never comes."""
        if self.across is not None:
            self.across.observe(self.across.places(names), stages, xi[:, 0])
        for block, some in self._by_block(names):
            own = [names[i] for i in some.tolist()]
            self.agents[block].observe(own, xi[some], stages[some])

    def save(self, folder: Path) -> None:
        """Write a file for each block, and one of the model across series if there is one."""
        if self.across is not None:
            self.across.save(file_across(folder, self.policy))
        for number, agent in enumerate(self.agents):
            agent.save(folder / f"{file_name(self.policy)}-{number}.bin")
            agent.close()

    def _by_block(self, names: Sequence[str]) -> list[tuple[int, IntArray]]:
        blocks = np.array([self._of[name] for name in names], np.int64)
        return [(int(block), np.flatnonzero(blocks == block)) for block in np.unique(blocks)]

    def _block_of_new(self) -> int:
        if not self._sizes or self._sizes[-1] >= _SERIES:
            one, seed = self.case.alone(self.policy), self.case.seed
            self.agents.append(PanelAgent(one, problem=self.case.problem, seed=seed))
            self._sizes.append(0)
        self._sizes[-1] += 1
        return len(self.agents) - 1


class OneByOne:
    """Series with an agent each; those that are `known` have one, the others begin."""

    def __init__(self, case: Case, policy: str, known: Container[str]) -> None:
        self.case, self.policy, self.known = case, policy, known
        self._agents: dict[str, Agent[Any]] = {}

    def decide(self, names: Sequence[str], x: Array) -> tuple[Array, IntArray]:
        """Return the decisions (n, d) of different series, and their statuses (n)."""
        tickets = [self._agent(name).decide(own) for name, own in zip(names, x, strict=True)]
        z = np.array([ticket.z for ticket in tickets])
        return z, np.array([int(ticket.status) for ticket in tickets])

    def _agent(self, name: str) -> Agent[Any]:
        if name not in self._agents:
            case = self.case
            if name in self.known:
                self._agents[name] = case.one_by_name(name).agent(self.policy)
            else:
                one = case.policies[self.policy]
                self._agents[name] = begun(one, case.problem, case.seed_of(name)).agent
        return self._agents[name]
