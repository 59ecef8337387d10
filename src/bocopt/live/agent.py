"""The mutable shell that a user holds: one live stream, late outcomes, a file to resume from."""

import warnings
from collections.abc import Mapping
from pathlib import Path
from threading import RLock
from typing import Any, Generic, NamedTuple

import numpy as np

from bocopt import arguments, checkpoint
from bocopt.core import Array, Decision, Policy, Problem, S, Status
from bocopt.file import Owner
from bocopt.fingerprint import fingerprint
from bocopt.guarantees import Monitor, evidence_of, range_of
from bocopt.live.record import Live, Open, kept, own, restored
from bocopt.policies import Shadowed
from bocopt.run import Stage, checked_decision, context, review
from bocopt.state import Arrays, CheckpointError, flatten, read_only, rebuild

_REMEMBERED = 4096  # closed decisions whose outcome can still be compared with a repeated one


class Ticket(NamedTuple):
    """A decision to act on; its outcome is reported under its id."""

    id: int
    z: Array  # read only
    status: Status


class Agent(Generic[S]):
    """Decide now, observe later: a policy on one live stream.

    Outcomes may come late, out of order and more than once. Each is learned when it arrives, with
    the stage of its decision; the same outcome again changes nothing, another one for the same id
    is an error (the latest 4096 are remembered; after that any repetition is an error). Whatever
    raises an error changes nothing. At most `max_open` decisions wait for their outcome; `forget`
    gives one up. Threads may share an agent: one call is done after the other. What it shows is
    read only.

    The monitor watches all of it: `print(agent.monitor)` says what is guaranteed so far. Give one
    of your own for a tighter headline, or for more guarantees. Without `hindsight`, a stage does
    not say what could have been decided, and an outcome costs one program less.

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
        hindsight: bool = True,
    ) -> None:
        arguments.kind("Agent", "policy", policy, Policy)
        arguments.kind("Agent", "problem", problem, Problem)
        if monitor is not None:
            arguments.kind("Agent", "monitor", monitor, Monitor)
        self._hindsight = bool(hindsight)
        self._max_open = arguments.integer("Agent", "max_open", max_open, "[1, inf)")
        self._seed = arguments.integer("Agent", "seed", seed, "[0, 9e18]")
        self._policy, self._problem = policy, problem
        state = policy.init(np.array(self._seed))
        self._monitor = monitor or _watching(policy, problem)
        self._monitor.claim(problem)
        self._live = Live(state, t=0, learned=0, open={}, watched=None, last=None)
        self._closed: dict[int, Array] = {}  # the latest outcomes, by the order they came in
        self._guard, self._owner = RLock(), Owner()

    @property
    def state(self) -> S:
        """The policy's state, with what it last learned in `state.info`; read only."""
        state: S = read_only(self._live.state)
        return state

    @property
    def monitor(self) -> Monitor:
        """What is guaranteed of the decisions whose outcome is known."""
        with self._guard:
            self._monitor.restore(self._live.watched)
            return self._monitor

    @property
    def open_ids(self) -> tuple[int, ...]:
        """Decisions that wait for their outcome, oldest first."""
        return tuple(self._live.open)

    def decide(self, x: Any) -> Ticket:
        """Decide under the context x."""
        with self._guard:
            live = self._live
            if len(live.open) >= self._max_open:
                raise ValueError(
                    f"{len(live.open)} decisions wait for their outcome, as many as max_open "
                    "allows. Observe or forget some first."
                )
            x = context("Agent.decide", self._policy, self._problem, x).copy()
            if x.ndim != 1:
                raise arguments.wrong("Agent.decide", "x", "one context", x.shape)
            if live.width not in (None, len(x)):
                expected = f"of {live.width} numbers, as the contexts before it"
                raise arguments.wrong("Agent.decide", "x", expected, x)
            decision = self._decision(live, x)
            z, status = decision.solution.z, Status(int(decision.solution.status))
            waiting = Open(
                read_only(x),
                decision,
                np.array(live.learned),
                *range_of(self._problem, x, z),
            )
            self._live = live._replace(t=live.t + 1, open={**live.open, live.t: waiting})
            return Ticket(live.t, z, status)

    def observe(self, ticket: int, xi: Any) -> Stage | None:
        """Learn the outcome of a decision; None if it was learned before."""
        xi = arguments.array("Agent.observe", "xi", xi, (self._problem.dims.xi,)).copy()
        if xi.ndim != 1:
            raise arguments.wrong("Agent.observe", "xi", "one outcome", xi.shape)
        ticket = arguments.integer("Agent.observe", "ticket", ticket, "(-inf, inf)")
        with self._guard:
            live = self._live
            if ticket not in live.open:
                self._compare_with_closed(ticket, xi)
                return None
            x, decision, learned, low, high = live.open[ticket]
            xi = read_only(xi)
            state, stage = arguments.checked(self._lesson, live.state, ticket, x, decision, xi)
            stale = bool(learned != live.learned)
            late = stale or bool(learned != ticket)  # an earlier outcome was not known, or never
            evidence = evidence_of(
                self._problem, stage, cost_range=(low, high), stale=stale, late=late
            )
            after = Live(
                state=state,
                t=live.t,
                learned=live.learned + 1,
                open={number: waiting for number, waiting in live.open.items() if number != ticket},
                watched=self._monitor.after(live.watched, evidence),
                last=(x, xi),
            )
            self._closed[ticket] = xi  # says nothing as long as the decision is open
            self._live = after
            if len(self._closed) > _REMEMBERED:
                del self._closed[next(iter(self._closed))]
            return stage

    def _lesson(
        self, before: S, ticket: int, x: Array, decision: Decision, xi: Array
    ) -> tuple[S, Stage]:
        """What the policy learns from an outcome, and what came of the decision."""
        state = self._policy.learn(before, ticket, x, decision, xi)
        info = read_only(state.info)
        return state, review(self._problem, ticket, x, decision, xi, info, self._hindsight)

    def _decision(self, live: Live, x: Array) -> Decision:
        """What the policy decides, checked, and copied so that nobody else can change it."""
        owner = f"{type(self._policy).__name__}.decide"
        decision = arguments.checked(self._policy.decide, live.state, live.t, x)
        return own(checked_decision(owner, self._problem, decision))

    def forget(self, ticket: int) -> None:
        """Give up waiting for an outcome; nothing is learned from the decision."""
        ticket = arguments.integer("Agent.forget", "ticket", ticket, "(-inf, inf)")
        with self._guard:
            live = self._live
            if ticket not in live.open:
                raise ValueError(f"No decision with id {ticket} is open.")
            rest = {number: waiting for number, waiting in live.open.items() if number != ticket}
            self._live = live._replace(open=rest)

    def _compare_with_closed(self, ticket: int, xi: Array) -> None:
        last = self._live.t - 1
        if not 0 <= ticket <= last:
            raise ValueError(f"There is no decision with id {ticket}; the last one was {last}.")
        if ticket not in self._closed:
            raise ValueError(
                f"Decision {ticket} was forgotten, or its outcome came too long ago to be compared."
            )
        if (self._closed[ticket] != xi).any():
            raise ValueError(f"Decision {ticket} already has another outcome.")

    def save(self, path: str | Path) -> None:
        """Write everything to one file, at once or not at all.

        The file is this agent's until it is closed: no other agent can save to it meanwhile.
        """
        with self._guard:
            header, arrays = self._kept()
            checkpoint.save(path, header, arrays, self._owner)

    def close(self) -> None:
        """Let other agents save to the file that this one saved to."""
        with self._guard:
            self._owner.close()

    def _kept(self) -> tuple[dict[str, Any], Arrays]:
        closed = {n: xi for n, xi in self._closed.items() if n not in self._live.open}
        header, arrays = kept(self._live, closed)
        settings = {
            "configuration": _configuration(self._policy, self._problem, self._monitor),
            "seed": self._seed,
            "max_open": self._max_open,
        }
        return {**settings, **header}, arrays

    @classmethod
    def load(
        cls,
        path: str | Path,
        policy: Policy[S],
        problem: Problem,
        *,
        monitor: Monitor | None = None,
        hindsight: bool = True,
    ) -> "Agent[S]":
        """Go on where `save` stopped, with the same configuration, bit for bit."""
        header, arrays = checkpoint.load(path)
        if "configuration" not in header:
            raise CheckpointError(f"{path} is a checkpoint of something else than an agent.")
        monitor = monitor or _watching(policy, problem)
        if header["configuration"] != _configuration(policy, problem, monitor):
            raise CheckpointError(
                f"{path} was saved with another configuration of the policy, the problem or the "
                "monitor."
            )
        try:
            settings = {name: header[name] for name in ("seed", "max_open")}
            agent = cls(policy, problem, **settings, hindsight=hindsight)
            agent._restore(header, arrays, monitor)
        except Exception as error:
            why = error if isinstance(error, CheckpointError) else repr(error)
            raise CheckpointError(f"{path} does not fit what it is loaded into. {why}") from error
        monitor.claim(problem)
        agent._monitor = monitor
        return agent

    def _restore(self, header: Mapping[str, Any], arrays: Arrays, monitor: Monitor) -> None:
        """Take over what was kept, and play one stage of it for a trial."""
        begun = self._live._replace(watched=monitor.begun(()))
        self._live, self._closed = restored(header, arrays, begun, self._problem)
        for waiting in self._live.open.values():
            context("a checkpoint", self._policy, self._problem, waiting.x)
        unused = arrays.keys() - self._kept()[1].keys()
        if unused:
            raise CheckpointError(f"There are arrays that fit nowhere: {sorted(unused)}.")
        if self._live.last is not None:
            self._try(self._live, *self._live.last)

    def _try(self, live: Live, x: Array, xi: Array) -> None:
        """Whether the state is one that the policy can go on from: policies are pure."""
        live = live._replace(state=read_only(live.state))  # what it shares is copied, not added to
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            after = self._policy.learn(live.state, live.t, x, self._decision(live, x), xi)
        rebuild(live.state, flatten(after))


def _watching(policy: Policy[S], problem: Problem) -> Monitor:
    """A monitor of all that there is to watch."""
    return Monitor(problem, shadows=policy.names if isinstance(policy, Shadowed) else ())


def _configuration(policy: Policy[S], problem: Problem, monitor: Monitor) -> str:
    return fingerprint((policy, problem, monitor.guarantees))
