"""What is known of each of several series, and of how they depend: joint scenarios, and lessons."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bocopt.core import Array, IntArray, Solution
from bocopt.live.coupled_program import Coupled, Undecided
from bocopt.live.coupled_record import no_past
from bocopt.live.series_names import series_seed
from bocopt.live.series_states import SeriesStates, Some
from bocopt.live.shared_model import SharedModel
from bocopt.models import AcrossSeries
from bocopt.models.coupling import margins, paired, probability
from bocopt.numeric import noise
from bocopt.policies.baselines import ANY_SCALE
from bocopt.state import Arrays, CheckpointError, flatten, rebuild
from bocopt.wrappers import scenarios_of


class JointScenarios(NamedTuple):
    """Scenarios of some series at one time, all of equal weight."""

    each: Array  # (n, S, m) of each by itself
    joint: Array  # (S, n m) of all
    informed: bool  # whether anything is known of any outcome


class JointLaws:
    """The laws of series that are numbered by their place, and where past outcomes stood in them.

    `own` is always the number of the decision among those of its series.
    """

    def __init__(self, coupled: Coupled, across: AcrossSeries | None, seed: int) -> None:
        self.coupled, self.outcome, self._seed = coupled, Undecided(coupled.dim_xi), seed
        self._states = SeriesStates(coupled.policy, self.outcome)
        self._shared = SharedModel(across, seed)
        self._past = no_past(coupled.memory)

    @property
    def across(self) -> AcrossSeries | None:
        """The model of all series that stands beside, if any."""
        return self._shared.model

    def __len__(self) -> int:
        return len(self._states)

    def add(self, names: Sequence[str]) -> None:
        """Add series, at the places after the last."""
        seeds = np.array([series_seed(self._seed, name) for name in names], np.int64)
        self._states.add(seeds)
        self._past = self._past.with_places(len(self))

    def remove(self, many: int) -> None:
        """Remove so many of the last series, that have learned nothing."""
        self._states.remove(many)
        self._past = self._past.with_places(len(self))

    def begin(self, number: int) -> None:
        """Begin a time, of which outcomes will come."""
        self._past = self._past.begun(number)

    def beside(self, places: IntArray, x: Array) -> Array:
        """Return what a model of all series says (n, b) under contexts (n, k)."""
        return self._shared.beside(places, x)

    def scenarios(self, places: IntArray, own: IntArray, x: Array, beside: Array) -> JointScenarios:
        """Return the scenarios of different series (n) under their contexts."""
        coupled, seen = self.coupled, self._shared.seen(x, beside)
        each = np.empty((len(places), coupled.scenarios, coupled.dim_xi))
        known = np.zeros(len(places), bool)
        for some, law in self._laws(places, own, seen):
            if law is not None:
                each[some], known[some] = margins(*law, coupled.scenarios), True
        if not known.all():
            each[~known] = self._of_new(each[known])
        past, seeds = self._past.probability[:, places], self._states.seeds[places]
        informed = bool(known.any()) or coupled.initial is not None
        return JointScenarios(each, paired(each, past, seeds, own), informed)

    def learn(
        self, number: int, places: IntArray, own: IntArray, x: Array, beside: Array, xi: Array
    ) -> None:
        """Learn outcomes (n, m) of different series, of the decision of a time."""
        seen = self._shared.seen(x, beside)
        past = self._past.learned(number, places, self._stood(places, own, seen, xi))
        shared = self._shared.after(places, beside, xi)
        nothing = np.zeros(len(places))
        taken = Solution(np.zeros((len(places), 0)), nothing, nothing.astype(np.int64), nothing)
        self._states.learn(places, own, seen, taken, xi)
        self._past, self._shared.state = past, shared

    def arrays(self) -> Arrays:
        """Return all that `restore` needs to go on from here, bit for bit."""
        return flatten(self._past, "past") | self._states.arrays() | self._shared.arrays()

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over what `arrays` returned."""
        self._states.restore(arrays)
        self._past = rebuild(no_past(1), arrays, "past")
        self._shared.restore(arrays)
        if self._past.probability.shape != (self.coupled.memory, len(self)):
            raise CheckpointError("Its past is not that of its series.")

    def _of_new(self, others: Array) -> Array:
        """Return scenarios (S, m) of a series without outcomes, by those of others (n, S, m)."""
        dim, initial = self.coupled.dim_xi, self.coupled.initial
        if initial is None and len(others):
            pool = others.reshape(-1, dim)
        else:
            pool = np.tile(np.array(ANY_SCALE if initial is None else initial)[:, None], (1, dim))
        equal = np.full((1, len(pool)), 1.0 / len(pool))
        found: Array = margins(pool[None], equal, self.coupled.scenarios)[0]
        return found

    def _stood(self, places: IntArray, own: IntArray, seen: Array, xi: Array) -> Array:
        """Return where outcomes (n, m) stood in the laws of their series; NaN where there was none.

        The law is that of now, just before the outcome is learned.
        """
        found = np.full(len(places), np.nan)
        v = noise.uniform(self._states.seeds[places], own, "coupled outcome", ())
        for some, law in self._laws(places, own, seen):
            if law is not None:
                found[some] = probability(*law, xi[some], v[some])
        return found

    def _laws(
        self, places: IntArray, own: IntArray, seen: Array
    ) -> Iterator[tuple[Some, tuple[Array, Array] | None]]:
        """Yield some of the series, and their scenarios (n, s, m) with weights (n, s), or None."""
        policy = self._states.policy

        def laws(state: Any, some: Some) -> tuple[Array, Array] | None:
            """Return the laws of some."""
            at: Any = own[some]
            found = scenarios_of(policy, state, at, seen[some])
            if found is None:
                return None
            return found[0], np.broadcast_to(found[1], found[0].shape[:2])

        yield from self._states.each(places, laws)
