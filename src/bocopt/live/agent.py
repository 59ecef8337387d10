"""The mutable shell that a user holds: one live stream, late outcomes, a file to resume from."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from threading import RLock
from typing import Any, Generic, overload

import numpy as np

from bocopt import arguments, checkpoint
from bocopt.bounds import is_of_parts, rows_of_parts
from bocopt.core import Array, Bounds, Policy, Problem, S, Status
from bocopt.file import Owner
from bocopt.fingerprint import differing
from bocopt.guarantees import Monitor
from bocopt.live.explanation import Explanation, Known, explained, known_at, with_latest
from bocopt.live.fold import Fold, Forgotten, Observed, configuration_parts, watching
from bocopt.live.naming import RowNames, row_names
from bocopt.live.outcomes import OutcomesSeen
from bocopt.live.record import kept, restored
from bocopt.live.ticket import Ticket
from bocopt.loop import Stage, context
from bocopt.policies.matching import policy_of, problem_of
from bocopt.policies.names import names_of
from bocopt.problems.names import decision_labels
from bocopt.state import Arrays, CheckpointError, read_only
from bocopt.wrappers import scenarios_of


class Agent(Generic[S]):
    """Decide now, observe later: a policy on one live stream.

    Outcomes may come late, out of order and more than once. Each is learned when it arrives, with
    the stage of its decision; the same outcome again changes nothing, another one for the same id
    is an error (the latest `dedupe_window` are kept; after that any repetition is an error).
    `correct` replaces one that was wrong: at least those of the latest `correctable` decisions.
    Whatever raises an error changes nothing. At most `max_open` decisions wait for their outcome;
    `forget` gives one up. `teach` has it learn from a history, of outcomes without decisions.
    Threads may share an agent: one call is done after the other. What it shows is read only.

    A problem alone is left to the default learner: `Agent(bakery)` is `Agent(Ensemble(bakery))`.
    `problem` is what decisions are judged by, for a policy that does not say its own.

    The monitor watches all of it: `print(agent.monitor)` says what is guaranteed so far. Give one
    of your own for a tighter headline, or for more guarantees. Without `hindsight`, a stage does
    not say what could have been decided, and an outcome costs one program less.

    >>> from bocopt.policies import Constant
    >>> from bocopt.problems import Knapsack
    >>> problem = Knapsack(value=[12.0], capacity=[8.0], salvage=[3.0])
    >>> agent = Agent(Constant([5]), problem=problem)
    >>> ticket = agent.decide([0.3])
    >>> stage = agent.observe(ticket.id, [1.2])
    >>> float(-stage.cost), bool(stage.feasible)
    (66.0, True)
    """

    @overload
    def __init__(
        self,
        policy: Policy[S],
        *,
        problem: Problem | None = ...,
        seed: int = ...,
        max_open: int = ...,
        monitor: Monitor | None = ...,
        hindsight: bool = ...,
        dedupe_window: int = ...,
        correctable: int = ...,
    ) -> None: ...
    @overload
    def __init__(
        self: "Agent[Any]",
        policy: Problem,
        *,
        problem: Problem | None = ...,
        seed: int = ...,
        max_open: int = ...,
        monitor: Monitor | None = ...,
        hindsight: bool = ...,
        dedupe_window: int = ...,
        correctable: int = ...,
    ) -> None: ...
    def __init__(
        self,
        policy: Policy[S] | Problem,
        *,
        problem: Problem | None = None,
        seed: int = 0,
        max_open: int = 1000,
        monitor: Monitor | None = None,
        hindsight: bool = True,
        dedupe_window: int = 4096,
        correctable: int = 30,
    ) -> None:
        policy = policy_of("Agent", policy)
        problem = problem_of("Agent", problem, policy)
        if monitor is not None:
            arguments.kind("Agent", "monitor", monitor, Monitor)
        self._max_open = arguments.integer("Agent", "max_open", max_open, "[1, inf)")
        self._seed = arguments.integer("Agent", "seed", seed, "[0, 9e18]")
        self._policy, self._problem = policy, problem
        self._fold = Fold(policy, problem, monitor or watching(policy, problem), bool(hindsight))
        self._live = self._fold.begin(self._seed)
        self._fold.monitor.claim(problem)
        self._seen = OutcomesSeen(problem, self._live, dedupe_window, correctable)
        self._names = RowNames()  # once rows with names came
        self._labels, self._weighed = decision_labels(problem), names_of(problem, policy)
        self._taken: Mapping[int, Known] = {}  # the latest decisions, to explain them
        self._guard, self._owner = RLock(), Owner()

    @classmethod
    def of(
        cls,
        policy: Policy[S],
        state: S,
        decisions: int,
        learned: int,
        last: tuple[Array, Array],
        *,
        problem: Problem,
        seed: int = 0,
        max_open: int = 1000,
        monitor: Monitor | None = None,
    ) -> "Agent[S]":
        """Return an agent that goes on from a state after so many decisions, none of them open.

        `last` are the latest context (k) and its outcome (m). What watches it begins anew.
        """
        agent = cls(policy, problem=problem, seed=seed, max_open=max_open, monitor=monitor)
        watched = agent._fold.monitor.initial(())
        agent._live = agent._live._replace(
            state=state, t=decisions, learned=learned, watched=watched, last=last
        )
        return agent

    @property
    def state(self) -> S:
        """The policy's state, with what it last learned in `state.info`; read only."""
        state: S = read_only(self._live.state)
        return state

    @property
    def monitor(self) -> Monitor:
        """The monitor, which says what is guaranteed of the decisions whose outcome is known."""
        with self._guard:
            self._fold.monitor.restore(self._live.watched)
            return self._fold.monitor

    @property
    def open_ids(self) -> tuple[int, ...]:
        """Decisions that wait for their outcome, oldest first; lessons are none."""
        return tuple(self._live.open)

    @property
    def taught(self) -> int:
        """Number of outcomes that it was taught: none of them is of a decision."""
        return self._live.taught

    @property
    def questions(self) -> tuple[str, ...]:
        """Questions to outcomes that look like sales, cut off at what was decided; or none.

        Demand that is counted is called sales with a chance of one in a thousand at the most. The
        first time there is a warning as well.
        """
        return tuple(self._seen.questions(self._names.xi))

    @property
    def takes_bounds(self) -> bool:
        """True where the policy can learn from an outcome that was seen in part."""
        return self._fold.takes_bounds

    def __repr__(self) -> str:
        """Return the names of policy and problem, and the counts of decisions and outcomes."""
        live = self._live
        lessons = f"{live.taught} lessons, " * bool(live.taught)
        return (
            f"<Agent: {type(self._policy).__name__} on {type(self._problem).__name__}, {lessons}"
            f"{live.t} decisions, {live.learned} outcomes, {len(live.open)} open>"
        )

    def scenarios(self, x: Any) -> tuple[Array, Array]:
        """Return the scenarios (s, m) that may come under a context (k), and their weights (s).

        It is what the next decision would be taken under. A policy may have no scenarios, or none
        before the first outcome; that is an error.

        >>> from bocopt import SampleAverage
        >>> from bocopt.problems import Knapsack
        >>> problem = Knapsack(value=[12.0], capacity=[8.0], salvage=[3.0])
        >>> agent = Agent(SampleAverage(problem))
        >>> agent.teach([[0.3], [0.1]], [[1.2], [1.1]])
        >>> scenarios, weights = agent.scenarios([0.5])
        >>> scenarios.tolist(), weights.tolist()
        ([[1.2], [1.1]], [0.5, 0.5])
        """
        with self._guard:
            live = self._live
            x, _ = self._names.read("Agent.scenarios", "x", x, "row")
            x = self._fold.context("Agent.scenarios", live, x)
            policy = self._fold.playing(live.in_part)
            found = scenarios_of(policy, live.state, live.stage, x)
        if found is None:
            name = type(self._policy).__name__
            raise ValueError(f"{name} has no scenarios, or none before the first outcome.")
        return found

    def teach(self, x: Any, xi: Any) -> None:
        """Learn a history, contexts (T, k) with their outcomes (T, m), or one row: (k), (m).

        Each is an array or a data frame, or of one number a series. Outcomes may be bounds where
        they were not seen in full: `[[3.0], [at_least(87)]]`, or `Bounds` of all rows.

        The policy decides at each row for itself, and learns from its outcome before the next: it
        is then what it would be had it lived them. But nobody took these decisions: they have no
        id, and the monitor counts none of them. All rows are learned, or none. Decisions that wait
        for their outcome must be observed or forgotten first, since it belongs to what the policy
        knew when it decided.

        >>> from bocopt import SampleAverage
        >>> from bocopt.problems import Knapsack
        >>> problem = Knapsack(value=[12.0], capacity=[8.0], salvage=[3.0])
        >>> agent = Agent(SampleAverage(problem))
        >>> agent.teach([[0.3], [0.1], [0.7]], [[1.2], [1.1], [1.0]])
        >>> agent.taught, agent.open_ids, agent.decide([0.5]).id
        (3, (), 0)
        """
        with self._guard:
            live = self._live
            parts = rows_of_parts(x, xi)
            if parts is None:
                x, xi, names = self._names.history("Agent.teach", x, xi)
                rows = zip(*self._fold.history("Agent.teach", live, x, xi), strict=True)
            else:
                x, names = self._names.read("Agent.teach", "x", x, "either")
                seen = [self._fold.outcome("Agent.teach", row, names.xi) for row in parts]
                bare = np.zeros((len(seen), self._problem.dims.xi))
                x, _ = self._fold.history("Agent.teach", live, np.atleast_2d(x), bare)
                rows = zip(x, seen, strict=True)
            if live.open:
                raise ValueError(
                    f"{len(live.open)} decisions wait for their outcome. Observe or forget them "
                    "before you teach."
                )
            for each in rows:
                live, _ = self._fold.apply(live, self._fold.teach(live, *each))
            self._live, self._names = live, names
            self._seen.lessons(live)

    def decide(self, x: Any) -> Ticket:
        """Decide under the context x."""
        with self._guard:
            live = self._live
            if len(live.open) >= self._max_open:
                raise ValueError(
                    f"{len(live.open)} decisions wait for their outcome, as many as max_open "
                    "allows. Observe or forget some first."
                )
            x, names = self._names.read("Agent.decide", "x", x, "row")
            x = self._fold.context("Agent.decide", live, x)
            decided = self._fold.decide(live, x)
            after, _ = self._fold.apply(live, decided)
            self._live, self._names = after, names
            self._seen.after(live, after, decided)
            self._taken = with_latest(self._taken, live, decided)
            solution = decided.waiting.decision.solution
            status = Status(int(solution.status))
            return Ticket(decided.number, solution.z, status, self._labels)

    def observe(self, ticket: int, xi: Any) -> Stage | None:
        """Learn the outcome of a decision; None if it was learned before.

        Where it was not seen in full, say what is known: a number may be `at_least(87)`,
        `at_most(3)`, `between(3, 5)`, or None. Demand is at least what was sold, where all was.

        >>> from bocopt import SampleAverage, at_least
        >>> from bocopt.problems import Newsvendor
        >>> agent = Agent(SampleAverage(Newsvendor(unit_cost=[1.0], price=3.0)))
        >>> agent.teach([[0.0], [0.0]], [[80.0], [90.0]])
        >>> stage = agent.observe(agent.decide([0.0]).id, at_least(90))
        >>> stage.xi, stage.seen.low
        (array([nan]), array([90.]))
        """
        ticket = arguments.integer("Agent.observe", "ticket", ticket, "(-inf, inf)")
        with self._guard:
            live = self._live
            seen, names = self._outcome("Agent.observe", xi)
            if ticket not in live.open:
                self._check_taken(ticket)
                self._seen.check_same(ticket, seen)
                return None
            event = Observed(ticket, seen)
            after, stage = self._fold.apply(live, event)
            self._seen.closing(ticket, seen)
            self._live, self._names = after, names
            self._seen.after(live, after, event)
            self._seen.ask(live.open[ticket].decision.solution.z, seen, names.xi)
            return stage and stage._replace(names=self._called() or None)

    def correct(self, ticket: int, xi: Any) -> Stage:
        """Replace the outcome of a decision by the right one; the stage as it was.

        What the policy knows and what the monitor says is then what it would be, had the right
        outcome come at once. Decisions taken meanwhile stay as they were taken. Outcomes of the
        latest `correctable` decisions can be corrected, and no others: not those before a lesson.

        >>> from bocopt import SampleAverage
        >>> from bocopt.problems import Newsvendor
        >>> agent = Agent(SampleAverage(Newsvendor(unit_cost=[1.0], price=3.0)))
        >>> ticket = agent.decide([0.0])
        >>> stage = agent.observe(ticket.id, [900.0])
        >>> stage = agent.correct(ticket.id, [90.0])
        >>> agent.scenarios([0.0])[0].tolist()
        [[90.0]]
        """
        ticket = arguments.integer("Agent.correct", "ticket", ticket, "(-inf, inf)")
        with self._guard:
            seen, names = self._outcome("Agent.correct", xi)
            if ticket in self._live.open:
                raise ValueError(f"Decision {ticket} has no outcome yet. Observe it.")
            self._check_taken(ticket)
            recent, after, stage = self._seen.corrected(self._fold, self._live, ticket, seen)
            self._live, self._names = after, names
            self._seen.take(recent, ticket, seen)
            return stage._replace(names=self._called() or None)

    def _outcome(self, owner: str, xi: Any) -> tuple[Bounds, RowNames]:
        """What was seen of an outcome, in full or in part, and the names that are known then."""
        if not is_of_parts(xi):
            xi, names = self._names.read(owner, "xi", xi, "row")
            return self._fold.outcome(owner, xi), names
        names = self._names
        if isinstance(xi, Mapping) and not names.xi:
            names = names._replace(xi=tuple(xi))
        return self._fold.outcome(owner, xi, names.xi), names

    def explain(self, ticket: int) -> Explanation:
        """The explanation of a decision: it beside others, under the scenarios it was taken under.

        `print` tells it in words. Of decisions before the latest 16, only those can be explained
        since which nothing was learned. One without scenarios is an error that says why.

        >>> from bocopt import SampleAverage
        >>> from bocopt.problems import Knapsack
        >>> problem = Knapsack(value=[12.0], capacity=[8.0], salvage=[3.0])
        >>> agent = Agent(SampleAverage(problem))
        >>> agent.teach({"rain": [0.3, 0.1]}, {"weight": [1.2, 1.1]})
        >>> print(agent.explain(agent.decide({"rain": 0.5}).id))
        Decision 0: z0 = 6, given rain = 0.5.
        Its status: z is optimal.
        Expected reward 75.3 under 2 scenarios, feasible in 100% of them, target 90%.
        Nothing that it was compared with would bring more.
        """
        number = arguments.integer("Agent.explain", "ticket", ticket, "(-inf, inf)")
        with self._guard:
            self._check_taken(number)
            then, decided = known_at(number, self._live, self._taken)
            return explained(self._fold, then, decided, {**self._called(), "z": self._labels})

    def _called(self) -> dict[str, tuple[str, ...]]:
        """The names of all numbers that have any."""
        return {**self._weighed, **self._names.known()}

    def forget(self, ticket: int) -> None:
        """Give up waiting for an outcome; nothing is learned from the decision."""
        ticket = arguments.integer("Agent.forget", "ticket", ticket, "(-inf, inf)")
        with self._guard:
            live = self._live
            if ticket not in live.open:
                raise ValueError(f"No decision with id {ticket} is open.")
            event = Forgotten(ticket)
            self._live, _ = self._fold.apply(live, event)
            self._seen.after(live, self._live, event)

    def _check_taken(self, ticket: int) -> None:
        last = self._live.t - 1
        if not 0 <= ticket <= last:
            raise ValueError(f"There is no decision with id {ticket}; the last one was {last}.")

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
        header, arrays = kept(self._live, self._seen.closed(self._live))
        settings = {
            "configuration": configuration_parts(self._policy, self._problem, self._fold.monitor),
            "seed": self._seed,
            "max_open": self._max_open,
            "correctable": self._seen.correctable,
        }
        names = self._names.known()
        named = {"names": names} if names else {}
        return {**settings, **named, **header}, arrays | self._seen.to_arrays(self._fold)

    @overload
    @classmethod
    def load(
        cls,
        path: str | Path,
        policy: Policy[S],
        *,
        problem: Problem | None = ...,
        monitor: Monitor | None = ...,
        hindsight: bool = ...,
        dedupe_window: int = ...,
    ) -> "Agent[S]": ...
    @overload
    @classmethod
    def load(
        cls,
        path: str | Path,
        policy: Problem,
        *,
        problem: Problem | None = ...,
        monitor: Monitor | None = ...,
        hindsight: bool = ...,
        dedupe_window: int = ...,
    ) -> "Agent[Any]": ...
    @classmethod
    def load(
        cls,
        path: str | Path,
        policy: Policy[S] | Problem,
        *,
        problem: Problem | None = None,
        monitor: Monitor | None = None,
        hindsight: bool = True,
        dedupe_window: int = 4096,
    ) -> "Agent[S]":
        """Go on where `save` stopped, with the same configuration, bit for bit."""
        policy = policy_of("Agent.load", policy)
        problem = problem_of("Agent.load", problem, policy)
        header, arrays = checkpoint.load(path)
        if "configuration" not in header:
            raise CheckpointError(f"{path} is a checkpoint of something else than an agent.")
        monitor = monitor or watching(policy, problem)
        changed = differing(header["configuration"], configuration_parts(policy, problem, monitor))
        if changed:
            raise CheckpointError(
                f"{path} was saved with another configuration. What differs: {', '.join(changed)}."
            )
        try:
            agent = cls(
                policy,
                problem=problem,
                seed=header["seed"],
                max_open=header["max_open"],
                hindsight=hindsight,
                dedupe_window=dedupe_window,
                correctable=header["correctable"],
            )
            agent._fold = replace(agent._fold, monitor=monitor)
            agent._restore(header, arrays)
        except Exception as error:
            why = error if isinstance(error, CheckpointError) else repr(error)
            raise CheckpointError(f"{path} does not fit what it is loaded into. {why}") from error
        monitor.claim(problem)
        return agent

    def _restore(self, header: Mapping[str, Any], arrays: Arrays) -> None:
        """Take over what was kept, and play one stage of it for a trial."""
        begun = self._live._replace(watched=self._fold.monitor.initial(()))
        if header.get("in_part", False):
            begun = self._fold.seen_in_part(begun)
        self._live, closed = restored(header, arrays, begun, self._problem)
        self._names = row_names(header, self._live.width, self._problem.dims.xi)
        self._seen.restore(self._fold, self._live, closed, arrays)
        for waiting in self._live.open.values():
            context("a checkpoint", self._policy, self._problem, waiting.x)
        unused = arrays.keys() - self._kept()[1].keys()
        if unused:
            raise CheckpointError(f"There are arrays that fit nowhere: {sorted(unused)}.")
        if self._live.last is not None:
            self._fold.check_next(self._live, *self._live.last)
