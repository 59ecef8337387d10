"""The mutable shell that a user holds: one live stream, late outcomes, a file to resume from."""

from pathlib import Path
from typing import Any, Generic, NamedTuple

import numpy as np

from bocopt import arguments, checkpoint
from bocopt.checkpoint import CheckpointError
from bocopt.core import Array, Decision, IntArray, Policy, Problem, S, Solution, Status
from bocopt.guarantees import Monitor, range_of
from bocopt.run import Stage, context, review

_REMEMBERED = 4096  # closed decisions whose outcome can still be compared with a repeated one
_HEADER = {"configuration", "seed", "max_open", "t", "learned", "open", "closed", "memo"}
_ANY = np.zeros(0)
_ANY_NUMBER = np.zeros(0, np.int64)
_ANY_SOLUTION = Solution(_ANY, _ANY, _ANY_NUMBER, _ANY)  # only its nesting matters


class Ticket(NamedTuple):
    """A decision to act on; its outcome is reported under its id."""

    id: int
    z: Array
    status: Status


class Open(NamedTuple):
    """A decision whose outcome is not known yet."""

    x: Array
    decision: Decision
    learned: IntArray  # () how many outcomes the policy knew
    low: Array  # () the least that it can cost
    high: Array  # () the most


class Agent(Generic[S]):
    """Decide now, observe later: a policy on one live stream.

    Outcomes may come late, out of order and more than once. Each is learned when it arrives, with
    the stage of its decision; the same outcome again changes nothing, another one for the same id
    is an error (the latest 4096 are remembered; after that any repetition is an error). Whatever
    raises an error changes nothing. At most `max_open` decisions wait for their outcome; `forget`
    gives one up.

    The monitor watches all of it: `print(agent.monitor)` says what is guaranteed so far. Give one
    of your own for a tighter headline, or for more guarantees.

    >>> from bocopt import Constant, Knapsack
    >>> problem = Knapsack(value=[12.0], capacity=[8.0], salvage=[3.0])
    >>> agent = Agent(Constant([5]), problem)
    >>> ticket = agent.decide([0.3])
    >>> stage = agent.observe(ticket.id, [1.2])
    >>> float(-stage.cost), bool(stage.feasible)
    (66.0, True)
    """

    def __init__(
        self,
        policy: Policy[S],
        problem: Problem,
        *,
        seed: int = 0,
        max_open: int = 1000,
        monitor: Monitor | None = None,
    ) -> None:
        self._max_open = arguments.integer("Agent", "max_open", max_open, "[1, inf)")
        self._seed = arguments.integer("Agent", "seed", seed, "[0, 9e18]")
        self._policy, self._problem = policy, problem
        self._state = policy.init(np.array(self._seed))
        self._monitor = monitor or Monitor(problem)
        self._monitor.claim(problem)
        self._t = self._learned = 0
        self._open: dict[int, Open] = {}
        self._closed: dict[int, Array] = {}  # the latest outcomes, by the order they came in

    @property
    def state(self) -> S:
        """The policy's state, with what it last learned in `state.info`."""
        return self._state

    @property
    def monitor(self) -> Monitor:
        """What is guaranteed of the decisions whose outcome is known."""
        return self._monitor

    @property
    def open_ids(self) -> tuple[int, ...]:
        """Decisions that wait for their outcome, oldest first."""
        return tuple(self._open)

    def decide(self, x: Any) -> Ticket:
        """Decide under the context x."""
        if len(self._open) >= self._max_open:
            raise ValueError(
                f"{len(self._open)} decisions wait for their outcome, as many as max_open allows. "
                "Observe or forget some first."
            )
        x = context("Agent.decide", self._problem, x).copy()
        if x.ndim != 1:
            raise arguments.wrong("Agent.decide", "x", "one context", x.shape)
        decision = self._policy.decide(self._state, self._t, x)
        if not all(isinstance(part, np.ndarray) for part in decision.memo):
            raise ValueError("A decision's memo must be a flat tuple of arrays.")
        ticket = Ticket(self._t, decision.solution.z, Status(int(decision.solution.status)))
        cost_range = range_of(self._problem, x, decision.solution.z)
        self._open[self._t] = Open(x, decision, np.array(self._learned), *cost_range)
        self._t += 1
        return ticket

    def observe(self, ticket: int, xi: Any) -> Stage | None:
        """Learn the outcome of a decision; None if it was learned before."""
        xi = arguments.array("Agent.observe", "xi", xi, (self._problem.dims.xi,))
        if xi.ndim != 1:
            raise arguments.wrong("Agent.observe", "xi", "one outcome", xi.shape)
        ticket = arguments.integer("Agent.observe", "ticket", ticket, "(-inf, inf)")
        if ticket not in self._open:
            self._compare_with_closed(ticket, xi)
            return None
        x, decision, learned, low, high = self._open[ticket]
        state = self._policy.learn(self._state, ticket, x, decision, xi)
        stage = review(self._problem, ticket, x, decision, xi, state.info._asdict())
        stale = bool(learned != self._learned)
        late = stale or bool(learned != ticket)  # some decision before had no outcome yet, or never
        self._monitor.observe(stage, cost_range=(low, high), stale=stale, late=late)
        self._state, self._learned = state, self._learned + 1
        del self._open[ticket]
        self._closed[ticket] = xi.copy()
        if len(self._closed) > _REMEMBERED:
            del self._closed[next(iter(self._closed))]
        return stage

    def forget(self, ticket: int) -> None:
        """Give up waiting for an outcome; nothing is learned from the decision."""
        ticket = arguments.integer("Agent.forget", "ticket", ticket, "(-inf, inf)")
        if ticket not in self._open:
            raise ValueError(f"No decision with id {ticket} is open.")
        del self._open[ticket]

    def _compare_with_closed(self, ticket: int, xi: Array) -> None:
        if not 0 <= ticket < self._t:
            raise ValueError(
                f"There is no decision with id {ticket}; the last one was {self._t - 1}."
            )
        if ticket not in self._closed:
            raise ValueError(
                f"Decision {ticket} was forgotten, or its outcome came too long ago to be compared."
            )
        if (self._closed[ticket] != xi).any():
            raise ValueError(f"Decision {ticket} already has another outcome.")

    def save(self, path: str | Path) -> None:
        """Write everything to one file, at once or not at all."""
        header = {
            "configuration": _configuration(self._policy, self._problem, self._monitor),
            "seed": self._seed,
            "max_open": self._max_open,
            "t": self._t,
            "learned": self._learned,
            "open": list(self._open),
            "closed": list(self._closed),
            "memo": [len(waiting.decision.memo) for waiting in self._open.values()],
        }
        arrays = checkpoint.flatten(self._state)
        arrays |= checkpoint.flatten(self._monitor.states or (), "monitor")
        if self._closed:
            arrays["outcomes"] = np.stack(list(self._closed.values()))
        for ticket, waiting in self._open.items():
            arrays |= checkpoint.flatten(waiting, f"open.{ticket}")
        checkpoint.save(path, header, arrays)

    @classmethod
    def load(
        cls,
        path: str | Path,
        policy: Policy[S],
        problem: Problem,
        *,
        monitor: Monitor | None = None,
    ) -> "Agent[S]":
        """Go on where `save` stopped, with the same configuration, bit for bit."""
        header, arrays = checkpoint.load(path)
        if not _HEADER <= header.keys():
            raise CheckpointError(f"{path} is a checkpoint of something else than an agent.")
        monitor = monitor or Monitor(problem)
        if header["configuration"] != _configuration(policy, problem, monitor):
            raise CheckpointError(
                f"{path} was saved with another configuration of the policy, the problem or the "
                "monitor."
            )
        agent = cls(policy, problem, seed=header["seed"], max_open=header["max_open"])
        agent._learned = header["learned"]
        agent._state = checkpoint.rebuild(agent._state, arrays)
        agent._t = header["t"]
        agent._closed = dict(zip(header["closed"], arrays.get("outcomes", _ANY), strict=True))
        for ticket, memo in zip(header["open"], header["memo"], strict=True):
            template = Open(_ANY, Decision(_ANY_SOLUTION, (_ANY,) * memo), _ANY_NUMBER, _ANY, _ANY)
            agent._open[ticket] = checkpoint.rebuild(template, arrays, f"open.{ticket}")
        watched = checkpoint.rebuild(monitor.begun(()) if agent._learned else (), arrays, "monitor")
        monitor.claim(problem)
        if watched:
            monitor.restore(watched)
        agent._monitor = monitor
        return agent


def _configuration(policy: Policy[S], problem: Problem, monitor: Monitor) -> str:
    return checkpoint.fingerprint((policy, problem, monitor.guarantees))
