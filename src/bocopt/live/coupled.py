"""The mutable shell for series that share a program: one call decides for all that are open."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bocopt import arguments, checkpoint
from bocopt.core import Array, IntArray, Solution, Status, judge
from bocopt.file import Owner
from bocopt.fingerprint import differing, fingerprints
from bocopt.live.coupled_laws import JointLaws
from bocopt.live.coupled_program import Coupled
from bocopt.live.coupled_record import CoupledDecision, CoupledOutcome, Taken, none_taken
from bocopt.live.panel_checks import differ
from bocopt.live.series_names import places_of, refuse, some_of
from bocopt.loop import context
from bocopt.models import AcrossSeries
from bocopt.state import Arrays, CheckpointError, flatten, rebuild

_UNSOLVED = (Status.INFEASIBLE, Status.FALLBACK)


class CoupledAgent:
    """Decide now for all series that are open, by one program; observe each of them later.

    Each series has a law of its own, with the state that a `PanelAgent` would have. A series begins
    with its first decision. Its outcomes may come late, in any order, alone or with others, or
    never; at most `max_open` decisions wait for some.

    With `across`, a model of all series stands beside, as beside a `PanelAgent`.

    >>> from bocopt.problems import Newsvendor
    >>> def truck(shops):
    ...     return Newsvendor(unit_cost=[1.0] * len(shops), price=3.0, capacity=50.0)
    >>> agent = CoupledAgent(Coupled(truck, initial=[20.0, 40.0]))
    >>> found = agent.decide(["north", "south"], [[0.3], [0.1]])
    >>> found.of("north"), found.of("south")
    ({'z': 30.0}, {'z': 20.0})
    >>> agent.observe(["south"], [5.0]).waiting
    1
    >>> agent.observe(["north"], [31.0]).cost
    -55.0
    """

    def __init__(
        self,
        coupled: Coupled,
        *,
        seed: int = 0,
        max_open: int = 1000,
        across: AcrossSeries | None = None,
    ) -> None:
        if not isinstance(coupled, Coupled):
            raise arguments.wrong("CoupledAgent", "coupled", "a Coupled", coupled)
        self._seed = arguments.integer("CoupledAgent", "seed", seed, "[0, 9e18]")
        self._max_open = arguments.integer("CoupledAgent", "max_open", max_open, "[1, inf)")
        if across is not None:
            arguments.kind("CoupledAgent", "across", across, AcrossSeries)
            if coupled.dim_xi != 1:
                expected = "None where an outcome of a series has several numbers"
                raise arguments.wrong("CoupledAgent", "across", expected, across)
        self.coupled = coupled
        self._laws = JointLaws(coupled, across, self._seed)
        self._places: dict[str, int] = {}
        self._next = np.zeros(0, np.int64)  # decisions of each series so far
        self._number = 0  # of the next decision
        self._taken: dict[int, Taken] = {}
        self._guard, self._owner = RLock(), Owner()

    @property
    def names(self) -> tuple[str, ...]:
        """The series, in the order in which they came."""
        return tuple(self._places)

    @property
    def decisions(self) -> int:
        """The number of decisions so far."""
        return self._number

    @property
    def open(self) -> tuple[int, ...]:
        """The numbers of the decisions that wait for outcomes."""
        return tuple(number for number, one in self._taken.items() if one.waits.any())

    def numbers(self, names: Sequence[str], own: ArrayLike) -> IntArray:
        """Return the numbers (n) of held decisions, by those (n) among those of each series.

        An error names the series that have no such decision.
        """
        places = places_of("CoupledAgent.numbers", self._places, names)
        wanted, found = np.asarray(own), np.full(len(places), -1)
        for number, taken in self._taken.items():
            order = np.argsort(taken.place)
            at = np.minimum(np.searchsorted(taken.place[order], places), len(order) - 1)
            rows = order[at]
            same = (taken.place[rows] == places) & (taken.own[rows] == wanted)
            found[same] = number
        refuse(names, (found < 0, "have no such decision that is held"))
        return found

    def __repr__(self) -> str:
        """Return the name of the function, and how many series and decisions there are."""
        called = getattr(self.coupled.problem_of, "__name__", "a program")
        return f"<CoupledAgent: {called}, {len(self._places)} series, {self._number} decisions>"

    def decide(
        self, names: Sequence[str], x: ArrayLike, number: int | None = None
    ) -> CoupledDecision:
        """Decide for different series (n), all that are open, under their contexts (n, k).

        With the `number` of a decision that is held, that is told again, unchanged.
        """
        owner = "CoupledAgent.decide"
        with self._guard:
            places, names = places_of(owner, self._places, names), tuple(names)
            x = self._contexts(owner, x, len(names))
            if number is not None and number != self._number:
                return self._again(number, names, x)
            waiting = len(self.open)
            if waiting >= self._max_open:
                raise ValueError(
                    f"{waiting} decisions wait for outcomes, as max_open is: observe them, or say "
                    "by NaN that they never come."
                )
            layout = self.coupled.program(names).layout
            self._check_parts(names)
            new = some_of(names, places < 0)
            places[places < 0] = len(self._next) + np.arange(len(new))
            count = np.append(self._next, np.zeros(len(new), np.int64))
            self._laws.add(new)
            try:
                own, beside = count[places], self._laws.beside(places, x)
                scenarios = self._laws.scenarios(places, own, x, beside)
                solution = self.coupled.solve(names, scenarios.each, scenarios.joint, x)
            except BaseException:
                self._laws.remove(len(new))
                raise
            solution = _with_status(solution, scenarios.informed)
            waits = np.ones(len(names), bool)
            xi = np.full((len(names), self.coupled.dim_xi), np.nan)
            taken = Taken(places, own, x, beside, solution, xi, waits)
            count[places] += 1
            self._next = count
            self._laws.begin(self._number)
            self._places |= {name: int(p) for name, p in zip(names, places, strict=True)}
            self._taken = {n: one for n, one in self._taken.items() if one.waits.any()}
            self._taken[self._number] = taken
            self._number += 1
            return taken.told(self._number - 1, names, layout)

    def _again(self, number: int, names: tuple[str, ...], x: Array) -> CoupledDecision:
        """Return a decision that is held."""
        taken = self._held("decide", number)
        same = self._names_of(taken) == names
        if not same or differ(taken.x, x).any():
            what = "other series" if not same else "other contexts"
            raise ValueError(f"Decision {number} was taken for {what}.")
        return taken.told(number, names, self.coupled.program(names).layout)

    def _held(self, method: str, number: int) -> Taken:
        if isinstance(number, bool) or not isinstance(number, int | np.integer):
            raise arguments.wrong(f"CoupledAgent.{method}", "number", "a whole number", number)
        if number not in self._taken:
            when = "was not taken yet" if number >= self._number else "waits for nothing any more"
            raise ValueError(f"Decision {number} {when}. Open are: {list(self.open) or 'none'}.")
        return self._taken[int(number)]

    def observe(
        self, names: Sequence[str], xi: ArrayLike, number: int | None = None
    ) -> CoupledOutcome:
        """Learn outcomes (n) or (n, m) of some series of a decision: of the oldest that is open.

        With `number`, of that one; the same outcome again changes nothing. NaN never comes: nothing
        is learned, and it is waited for no more.
        """
        owner = "CoupledAgent.observe"
        with self._guard:
            places, dim = places_of(owner, self._places, names), self.coupled.dim_xi
            came = np.asarray(xi)
            came = came[:, None] if dim == 1 and came.ndim == 1 else came
            came = arguments.array(owner, "xi", came, (dim,), gaps=True).copy()
            if came.shape != (len(places), dim):
                raise arguments.wrong(
                    owner, "xi", f"{len(places)} outcomes, a row each", came.shape
                )
            if number is None:
                if not self.open:
                    raise ValueError("No decision waits for an outcome.")
                number = min(self.open)
            taken = self._held("observe", number)
            rows = _rows_of(names, places, came, taken, number)
            return self._observed(int(number), taken, rows, came)

    def _observed(self, number: int, taken: Taken, rows: IntArray, came: Array) -> CoupledOutcome:
        """Learn what is new; what is known says nothing."""
        new = taken.waits[rows] & ~np.isnan(came).any(axis=1)
        some, xi = rows[new], came[new]
        if len(some):
            places, own = taken.place[some], taken.own[some]
            self._laws.learn(number, places, own, taken.x[some], taken.beside[some], xi)
        outcomes, waits = taken.xi.copy(), taken.waits.copy()
        outcomes[rows], waits[rows] = came, False
        taken = taken._replace(xi=outcomes, waits=waits)
        if waits.any() or number == self._number - 1:
            self._taken[number] = taken
        else:
            del self._taken[number]
        return self._told(number, taken)

    def _told(self, number: int, taken: Taken) -> CoupledOutcome:
        waiting, nothing = int(taken.waits.sum()), float("nan")
        if waiting or np.isnan(taken.xi).any():
            return CoupledOutcome(number, waiting, nothing, nothing)
        names = self._names_of(taken)
        problem, x = self.coupled.program(names).problem, self.coupled.context(names, taken.x)
        cost, violation = judge(problem, x, taken.solution.z, taken.xi.ravel())
        return CoupledOutcome(number, 0, float(cost), float(violation <= 0))

    def _names_of(self, taken: Taken) -> tuple[str, ...]:
        names = list(self._places)
        return tuple(names[place] for place in taken.place.tolist())

    def _check_parts(self, names: tuple[str, ...]) -> None:
        """Refuse a program that has other parts than the one of the latest decision."""
        if not self._number:
            return
        layout = self.coupled.program(names).layout
        before = self.coupled.program(self._names_of(self._taken[self._number - 1])).layout
        if (layout.each_names, layout.common_names) != (before.each_names, before.common_names):
            raise ValueError(
                f"The program of {len(names)} series decides {list(layout.each_names)} for each "
                f"and {list(layout.common_names)} in common, but the one before "
                f"{list(before.each_names)} and {list(before.common_names)}. Where arrays that are "
                "common can have as many places as there are series, name them, by "
                "Coupled(..., common=[...])."
            )

    def save(self, path: str | Path) -> None:
        """Write everything to one file, at once or not at all.

        The file is this agent's until it is closed: no other agent can save to it meanwhile.
        """
        with self._guard:
            header, arrays = self.parts()
            checkpoint.save(path, header, arrays, self._owner)

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """Return a header and arrays that say everything, for a file of yours."""
        header = {
            "coupled": self._configuration(),
            "seed": self._seed,
            "max_open": self._max_open,
            "names": list(self._places),
            "number": self._number,
            "taken": list(self._taken),
        }
        each = (flatten(one, f"taken.{number}") for number, one in self._taken.items())
        held = {name: array for one in each for name, array in one.items()}
        return header, {"next": self._next} | held | self._laws.arrays()

    def close(self) -> None:
        """Let other agents save to the file that this one saved to."""
        with self._guard:
            self._owner.close()

    @classmethod
    def load(
        cls, path: str | Path, coupled: Coupled, *, across: AcrossSeries | None = None
    ) -> "CoupledAgent":
        """Go on where `save` stopped, with the same configuration, bit for bit."""
        return cls.of(*checkpoint.load(path), coupled, across=across, where=str(path))

    @classmethod
    def of(
        cls,
        header: Mapping[str, Any],
        arrays: Mapping[str, NDArray[Any]],
        coupled: Coupled,
        *,
        across: AcrossSeries | None = None,
        where: str = "The checkpoint",
    ) -> "CoupledAgent":
        """Return the agent of what `parts` returned."""
        if "coupled" not in header:
            raise CheckpointError(f"{where} is of something else than series that are coupled.")
        changed = differing(header["coupled"], cls(coupled, across=across)._configuration())
        if changed:
            raise CheckpointError(
                f"{where} was saved with another configuration. What differs: {', '.join(changed)}."
            )
        try:
            seed, most = header["seed"], header["max_open"]
            agent = cls(coupled, seed=seed, max_open=most, across=across)
            agent._restore(header, arrays)
        except Exception as error:
            why = error if isinstance(error, CheckpointError) else repr(error)
            raise CheckpointError(f"{where} does not fit what it is loaded into. {why}") from error
        return agent

    def _restore(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        self._laws.restore(arrays)
        self._places = {str(name): i for i, name in enumerate(header["names"])}
        self._next, self._number = arrays["next"], int(header["number"])
        self._taken = {int(i): rebuild(none_taken(), arrays, f"taken.{i}") for i in header["taken"]}
        if not len(self._places) == len(self._next) == len(self._laws):
            raise CheckpointError("Its series do not add up.")

    def _configuration(self) -> dict[str, str]:
        return fingerprints({"coupled": self.coupled, "across": self._laws.across})

    def _contexts(self, owner: str, x: ArrayLike, many: int) -> Array:
        """Return contexts (n, k) that fit the laws and the contexts before them."""
        found = context(owner, self.coupled.policy, self._laws.outcome, np.asarray(x)).copy()
        known = next(reversed(self._taken.values())).x.shape[1] if self._taken else None
        if found.ndim != 2 or len(found) != many or known not in (None, found.shape[1]):
            size = "" if known is None else f" of {known} numbers, as those before"
            raise arguments.wrong(owner, "x", f"{many} contexts{size}, a row each", found.shape)
        return found


def _with_status(solution: Solution, informed: bool) -> Solution:
    """Return a solution that says so where nothing was known of any outcome."""
    if informed or int(solution.status) in _UNSOLVED:
        return solution
    return solution._replace(status=np.asarray(Status.UNINFORMED, np.int64))


def _rows_of(
    names: Sequence[str], places: IntArray, xi: Array, taken: Taken, number: int
) -> IntArray:
    """Return the rows of series in a decision; an error of those that it does not have."""
    order = np.argsort(taken.place)
    at = np.minimum(np.searchsorted(taken.place[order], places), len(order) - 1)
    rows = order[at]
    absent = taken.place[rows] != places
    gaps = np.isnan(xi)
    other = ~absent & ~taken.waits[rows] & differ(taken.xi[rows], xi)
    refuse(
        names,
        (absent, f"are not in decision {number}"),
        (other, f"already have another outcome of decision {number}, or gave it up"),
        (gaps.any(axis=1) & ~gaps.all(axis=1), "have only a part of their outcome"),
    )
    return np.asarray(rows)
