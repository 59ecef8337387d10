"""The mutable shell for many series at once: one call decides for all of them, or for some."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import RLock
from typing import Any, Generic

import numpy as np
from numpy.typing import ArrayLike

from bocopt import arguments, checkpoint
from bocopt.core import Array, IntArray, Policy, Problem, S, judge
from bocopt.file import Owner
from bocopt.fingerprint import differing, fingerprints
from bocopt.guarantees import Monitor
from bocopt.live.agent import Agent
from bocopt.live.held import Held, none_held
from bocopt.live.panel_answers import PanelDecisions, PanelOutcomes, side_by_side
from bocopt.live.panel_checks import check_due, check_open, numbers_of
from bocopt.live.series_names import places_of, series_seed, some_of
from bocopt.live.series_states import SeriesStates, plays_in_rows
from bocopt.live.shared_model import SharedModel
from bocopt.loop import context
from bocopt.models import AcrossSeries
from bocopt.policies import GivenAcross
from bocopt.policies.matching import check_same_problem, problem_of
from bocopt.policies.predictive import of_problem
from bocopt.state import Arrays, CheckpointError, flatten, rebuild
from bocopt.wrappers import scenarios_of


class PanelAgent(Generic[S]):
    """Decide now for many series at once, observe later: a row of a policy's state for each.

    Each series is played as an `Agent` of its own would play it, with the seed `series_seed`, and
    with the same bits: there is no Python work for each, so 10^5 series take seconds. A series
    begins with its first decision. Outcomes may come late, out of order, or never. At most
    `max_open` decisions of a series wait for theirs.

    With `across`, a model of all series stands beside: its quantiles are the last numbers of what
    the policy sees, NaN where it knows nothing; it is fitted anew whenever that is due. The same
    is said by a `GivenAcross`, a policy with such a model.

    The policy says `lockstep` and decides without a memo, as `Predictive` with a `LightMixture` and
    `SampleAverage` do. Nothing is watched: there is no monitor of each series.

    >>> from bocopt.models import LightMixture
    >>> from bocopt.policies import Predictive
    >>> from bocopt.problems import Newsvendor
    >>> shop = Newsvendor(unit_cost=[1.0], price=[3.0])
    >>> agent = PanelAgent(Predictive(shop, LightMixture(), initial_decision=[20.0]))
    >>> agent.decide(["north", "south"], [[0.3], [0.1]]).z.tolist()
    [[20.0], [20.0]]
    >>> agent.observe(["north", "south"], [[31.0], [5.0]]).cost.tolist()
    [-40.0, 5.0]
    >>> found = agent.decide(["south"], [[0.2]])
    >>> found.number.tolist(), bool(found.z < 20)
    ([1], True)
    """

    def __init__(
        self,
        policy: Policy[S],
        *,
        problem: Problem | None = None,
        seed: int = 0,
        max_open: int = 1000,
        across: AcrossSeries | None = None,
    ) -> None:
        arguments.kind("PanelAgent", "policy", policy, Policy)
        problem = problem_of("PanelAgent", problem, policy)
        check_same_problem(policy, problem)
        if isinstance(policy, GivenAcross):
            if across is not None:
                expected = "None, as the policy has a model of all series"
                raise arguments.wrong("PanelAgent", "across", expected, across)
            across = policy.across
            policy = policy.policy
        if not plays_in_rows(policy):
            expected = "a policy whose states are rows, as `Predictive` of a `LightMixture`"
            raise arguments.wrong("PanelAgent", "policy", expected, type(policy).__name__)
        self._seed = arguments.integer("PanelAgent", "seed", seed, "[0, 9e18]")
        self._max_open = arguments.integer("PanelAgent", "max_open", max_open, "[1, inf)")
        if across is not None:
            arguments.kind("PanelAgent", "across", across, AcrossSeries)
            if problem.dims.xi != 1:
                expected = "None where an outcome has several numbers"
                raise arguments.wrong("PanelAgent", "across", expected, across)
        self._states, self._shared = SeriesStates(policy, problem), SharedModel(across, self._seed)
        self._places: dict[str, int] = {}
        self._next = np.zeros(0, np.int64)  # the number of the next decision of each
        self._held: Held | None = None  # once a context says how long it is
        self._guard, self._owner = RLock(), Owner()

    @classmethod
    def of(
        cls,
        states: SeriesStates[S],
        names: Sequence[str],
        latest: Held,
        *,
        seed: int = 0,
        max_open: int = 1000,
    ) -> "PanelAgent[S]":
        """Return the agent of series that were played elsewhere, with the latest decision of each.

        Its states are those that were played: whoever played them has no more business with them.
        """
        agent = cls(states.policy, problem=states.problem, seed=seed, max_open=max_open)
        agent._states, agent._held, agent._next = states, latest, latest.number + 1
        agent._places = {name: place for place, name in enumerate(names)}
        return agent

    @property
    def names(self) -> tuple[str, ...]:
        """The series, in the order in which they came."""
        return tuple(self._places)

    @property
    def problem(self) -> Problem:
        """The problem that it decides."""
        return self._states.problem

    def decisions(self, names: Sequence[str]) -> IntArray:
        """Return the number of decisions (n) of each series so far; 0 of one that is not known."""
        places = self._found("PanelAgent.decisions", names)
        known = np.append(self._next, 0)
        return known[places]

    def open(self, names: Sequence[str]) -> IntArray:
        """Return the number of decisions (n) of each series that wait for their outcome."""
        return self._open(self._found("PanelAgent.open", names))

    def _open(self, places: IntArray) -> IntArray:
        if self._held is None:
            return np.zeros(len(places), np.int64)
        counts = np.bincount(self._held.place[self._held.open], minlength=len(self._next) + 1)
        return counts[places].astype(np.int64)

    def __repr__(self) -> str:
        """Return the names of policy and problem, and how many series and decisions there are."""
        policy, problem = self._states.policy, self._states.problem
        return (
            f"<PanelAgent: {type(policy).__name__} on {type(problem).__name__}, {len(self._next)} "
            f"series, {self._next.sum()} decisions, {self._states.learned.sum()} outcomes>"
        )

    def decide(
        self, names: Sequence[str], x: ArrayLike, numbers: ArrayLike | None = None
    ) -> PanelDecisions:
        """Decide for different series (n) under their contexts (n, k).

        With `numbers` (n), that are the next of their series or still held, a decision that was
        taken is told again, unchanged, as long as it waits for its outcome or is the latest.
        """
        with self._guard:
            places = self._found("PanelAgent.decide", names)
            x = self._contexts("PanelAgent.decide", x, len(places))
            due = np.append(self._next, 0)[places]
            number = due if numbers is None else numbers_of("decide", numbers, len(places))
            held = self._held or self._none_held(x.shape[1])
            rows = held.find(places, number)
            waiting = self._open(places)
            check_due(names, x, number - due, held, rows, waiting, self._max_open)
            new = number == due
            after = self._decided(some_of(names, new), places[new], x[new], held)
            self._held = after
            if (places < 0).any():
                places = self._found("PanelAgent.decide", names)
            found = after.at(after.find(places, number))
            return PanelDecisions(number, found.solution.z, found.solution.status)

    def _decided(self, names: Sequence[str], at: IntArray, x: Array, held: Held) -> Held:
        """Return what is held after the next decisions of series at places, -1 of a new one."""
        before = len(self._next)
        new = some_of(names, at < 0)
        places = {name: before + i for i, name in enumerate(new)}
        at[at < 0] = before + np.arange(len(new))
        number = np.append(self._next, np.zeros(len(new), np.int64))
        self._states.add(self._seeds(new))
        try:
            beside = self._shared.beside(at, x)
            solution = self._states.decide(at, number[at], self._shared.seen(x, beside))
        except BaseException:
            self._states.remove(len(new))
            raise
        waits = np.full((len(at), self.problem.dims.xi), np.nan)
        taken = Held(at, number[at], x, beside, solution, waits, np.ones(len(at), bool))
        number[at] += 1
        self._next, self._places = number, self._places | places
        return held.with_new(taken)

    def observe(
        self, names: Sequence[str], xi: ArrayLike, numbers: ArrayLike | None = None
    ) -> PanelOutcomes:
        """Learn outcomes (n, m) of different series: of the oldest open decision of each.

        With `numbers` (n), of these; the same outcome again changes nothing. An outcome that is NaN
        never comes: nothing is learned, and its decision waits no more.
        """
        owner = "PanelAgent.observe"
        with self._guard:
            places = self._found(owner, names)
            held = self._held or self._none_held(0)
            xi = arguments.array(owner, "xi", xi, (self.problem.dims.xi,), gaps=True).copy()
            if xi.shape != (len(places), self.problem.dims.xi):
                raise arguments.wrong(owner, "xi", f"{len(places)} outcomes, a row each", xi.shape)
            if numbers is None:
                rows = held.oldest(places)
            else:
                rows = held.find(places, numbers_of("observe", numbers, len(places)))
            check_open(names, xi, held, rows)
            return self._observed(held, rows, xi)

    def _observed(self, held: Held, rows: IntArray, xi: Array) -> PanelOutcomes:
        """Learn outcomes of decisions that are held; those that are closed say nothing new."""
        came = held.open[rows] & ~np.isnan(xi).any(axis=1)
        own = held.at(rows[came])
        seen = self._shared.seen(own.x, own.beside)
        shared = self._shared.after(own.place, own.beside, xi[came])
        self._states.learn(own.place, own.number, seen, own.solution, xi[came])
        self._shared.state = shared
        cost, feasible = np.full((2, len(rows)), np.nan)
        if came.any():
            x = self._of_problem(own.x)
            paid, violation = judge(self.problem, x, own.solution.z, xi[came])
            cost[came], feasible[came] = paid, violation <= 0
        outcomes, opened = held.xi.copy(), held.open.copy()
        outcomes[rows], opened[rows] = xi, False
        number = held.number[rows]
        after = held._replace(xi=outcomes, open=opened)
        if self._held is not None:
            self._held = after.with_new(after.at(rows[:0]))
        return PanelOutcomes(number, cost, feasible)

    def scenarios(self, names: Sequence[str], x: ArrayLike) -> tuple[Array, Array]:
        """Return scenarios (n, s, m) of different series under their contexts, and weights (n, s).

        A law with fewer scenarios than another one has some of weight 0. A series that is not known
        has the law of a new one; one whose policy has no scenarios yet is an error.
        """
        with self._guard:
            owner = "PanelAgent.scenarios"
            places = self._found(owner, names)
            x = self._contexts(owner, x, len(places))
            new = some_of(names, places < 0)
            at: Any = np.append(self._next, 0)[places]
            places[places < 0] = len(self._next) + np.arange(len(new))
            self._states.add(self._seeds(new))
            policy, seen = self._states.policy, self._shared.seen(x, self._shared.beside(places, x))
            try:
                laws = self._states.each(
                    places, lambda state, some: scenarios_of(policy, state, at[some], seen[some])
                )
                found = list(laws)
            finally:
                self._states.remove(len(new))
        return side_by_side(names, found)

    def alone(self, name: str, monitor: Monitor | None = None) -> Agent[S]:
        """Return an agent of one series, that goes on by itself from where the series stands.

        None of its decisions may wait for its outcome. What watches it begins anew.
        """
        with self._guard:
            [place] = self._found("PanelAgent.alone", [name]).tolist()
            if self._shared.model is not None:
                raise ValueError(f"{name!r} has no agent by itself: a model of all is beside it.")
            if place < 0 or self._held is None:
                raise ValueError(f"There is no series {name!r}.")
            if self.open([name]).any():
                raise ValueError(
                    f"Decisions of {name!r} wait for their outcome: observe them first."
                )
            decisions = int(self._next[place])
            latest = self._held.at(self._held.find(np.array([place]), np.array([decisions - 1])))
            return Agent.of(
                self._states.policy,
                self._states.alone(place),
                decisions,
                int(self._states.learned[place]),
                (latest.x[0], latest.xi[0]),
                problem=self.problem,
                seed=series_seed(self._seed, name),
                max_open=self._max_open,
                monitor=monitor,
            )

    def save(self, path: str | Path) -> None:
        """Write everything to one file, at once or not at all.

        The file is this agent's until it is closed: no other agent can save to it meanwhile.
        """
        with self._guard:
            header = {
                "panel": self._configuration(),
                "seed": self._seed,
                "max_open": self._max_open,
                "names": list(self._places),
            }
            checkpoint.save(path, header, self._arrays(), self._owner)

    def close(self) -> None:
        """Let other agents save to the file that this one saved to."""
        with self._guard:
            self._owner.close()

    @classmethod
    def load(
        cls,
        path: str | Path,
        policy: Policy[S],
        *,
        problem: Problem | None = None,
        across: AcrossSeries | None = None,
    ) -> "PanelAgent[S]":
        """Go on where `save` stopped, with the same configuration, bit for bit."""
        header, arrays = checkpoint.load(path)
        if "panel" not in header:
            raise CheckpointError(f"{path} is a checkpoint of something else than a panel.")
        agent = cls(policy, problem=problem, across=across)
        changed = differing(header["panel"], agent._configuration())
        if changed:
            raise CheckpointError(
                f"{path} was saved with another configuration. What differs: {', '.join(changed)}."
            )
        try:
            seed, most = header["seed"], header["max_open"]
            agent = cls(policy, problem=problem, seed=seed, max_open=most, across=across)
            agent._restore(header, arrays)
        except Exception as error:
            why = error if isinstance(error, CheckpointError) else repr(error)
            raise CheckpointError(f"{path} does not fit what it is loaded into. {why}") from error
        return agent

    def _configuration(self) -> dict[str, str]:
        states = self._states
        parts = {"policy": states.policy, "problem": states.problem, "across": self._shared.model}
        return fingerprints(parts)

    def _arrays(self) -> Arrays:
        held = {} if self._held is None else flatten(self._held, "held")
        return {"next": self._next} | held | self._states.arrays() | self._shared.arrays()

    def _restore(self, header: Mapping[str, Any], arrays: Arrays) -> None:
        """Take over what was kept."""
        self._states.restore(arrays)
        self._places = {str(name): i for i, name in enumerate(header["names"])}
        self._next = arrays["next"]
        if not len(self._places) == len(self._next) == len(self._states):
            raise CheckpointError("Its series do not add up.")
        if "held.x" in arrays:
            self._held = rebuild(self._none_held(0), arrays, "held")
        self._shared.restore(arrays)
        unused = arrays.keys() - self._arrays().keys()
        if unused:
            raise CheckpointError(f"There are arrays that fit nowhere: {sorted(unused)}.")

    def _none_held(self, k: int) -> Held:
        dims = self.problem.dims
        return none_held(k, self._shared.width(k), dims.z, dims.xi)

    def _seeds(self, names: Sequence[str]) -> IntArray:
        return np.array([series_seed(self._seed, name) for name in names], np.int64)

    def _found(self, owner: str, names: Sequence[str]) -> IntArray:
        return places_of(owner, self._places, names)

    def _of_problem(self, x: Array) -> Array:
        """Return what the problem sees of contexts: a law that is given is for the policy alone."""
        return of_problem(x, self._states.policy) if self._shared.model is None else x

    def _contexts(self, owner: str, x: ArrayLike, many: int) -> Array:
        """Return contexts (n, k) that fit policy, problem and the contexts before them."""
        x = np.asarray(x)
        own = self._of_problem(x) if x.ndim == 2 else x
        found = context(owner, self._states.policy, self.problem, own).copy()
        if x.ndim == 2 and own.shape != x.shape:
            law = arguments.array(owner, "x", x[:, own.shape[1] :], (...,), gaps=True)
            found = np.concatenate([found, law], axis=1)
        known = None if self._held is None else self._held.x.shape[1]
        if found.ndim != 2 or len(found) != many or known not in (None, found.shape[1]):
            size = "" if known is None else f" of {known} numbers, as those before"
            raise arguments.wrong(owner, "x", f"{many} contexts{size}, a row each", found.shape)
        return found
