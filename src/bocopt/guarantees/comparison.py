"""Whether another policy is better than the one that decides, by how much, and how sure that is."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.core import Array, Sense
from bocopt.guarantees import betting
from bocopt.guarantees.certificate import LATE, NO_RANGE, Certificate, Evidence, certificate
from bocopt.guarantees.phrases import amount, between

_SIGNS = np.array([1.0, -1.0])
_RANGES = "the difference lies in a range that is known before xi"


class Apart(NamedTuple):
    """Sums over stages; a difference is the cost of the other decision less that of the one taken.

    Bets are in units of the first range of a difference that was not 0.
    """

    t: Array  # ()
    own: Array  # () cost of the decisions taken
    other: Array  # () of the others
    low: Array  # () least that the difference could have been
    high: Array  # () most
    bets: betting.Bets  # (2) against large differences, and against small ones
    since: Array  # (2) the stage since which the other one is surely better, and worse; 0 if not
    absent: Array  # () stages at which it did not decide
    unknown: Array  # () stages without a range
    exceeded: Array  # () stages whose difference was outside its range
    impossible: Array  # () stages whose outcome the range was not meant for
    late: Array  # ()


class Difference(NamedTuple):
    """Per stage; negative where the other one is better."""

    seen: Array  # ()
    low: Array  # () least that is believable of the average expected difference
    high: Array  # () most
    since: (
        Array  # () the stage since which it is known on which side of 0 it is; NaN where it is not
    )


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A confidence sequence for the average expected difference in cost, both sides.

    Both decisions are priced on the same xi. `shadow` is the number of the other one among those of
    a `Shadowed` policy, `name` what it is called. By bets with delta / 2 each: look as often as you
    like. Of several comparisons all hold together but for a chance of the sum of their deltas.
    """

    shadow: int = 0
    name: str = "the other"
    scale: float | None = None  # the unit of the bets, declared in advance
    sense: Sense = Sense.MINIMISE  # whether words are about costs or rewards
    delta: float = 0.05

    def __post_init__(self) -> None:
        arguments.integer("Comparison", "shadow", self.shadow, "[0, inf)")
        arguments.kind("Comparison", "sense", self.sense, Sense)
        arguments.number("Comparison", "delta", self.delta, "(0, 1)")
        if self.scale is not None:
            arguments.number("Comparison", "scale", self.scale, "(0, inf)")

    def init(self, lead: tuple[int, ...]) -> Apart:
        zero, two = np.zeros(lead), (*lead, 2)
        return Apart(*(zero,) * 5, betting.no_bets(two, self.scale), np.zeros(two), *(zero,) * 5)

    def step(self, state: Apart, evidence: Evidence) -> Apart:
        from bocopt.guarantees.kernels import folds

        e, (other, low, high) = evidence, self._shown(evidence)
        seen = folds.apart(e.cost, other, low, high, _SIGNS)
        least, most, kept, absent, unknown, exceeded = seen
        bets, t = betting.after(state.bets, kept, least, most), state.t + 1.0
        enough = math.log(2.0 / self.delta)  # of the capital, to refute
        return Apart(
            t=t,
            own=state.own + e.cost,
            other=state.other + other,
            low=state.low + least[..., 0],
            high=state.high + most[..., 0],
            bets=bets,
            since=folds.since(state.since, betting.log_capital(bets, 0.0), enough, t),
            absent=state.absent + absent,
            unknown=state.unknown + unknown,
            exceeded=state.exceeded + exceeded,
            impossible=state.impossible + ~e.possible,
            late=state.late + e.late,
        )

    def _shown(self, e: Evidence) -> tuple[Array, Array, Array]:
        """() cost of the shadow and the range of the difference; NaN where there is no shadow."""
        if len(e.shadows) > self.shadow:
            return e.shadows[self.shadow]
        nothing = np.full(e.cost.shape, np.nan)
        return nothing, nothing, nothing

    def difference(self, state: Apart) -> Difference:
        """What is known of it."""
        t = np.maximum(state.t, 1.0)
        up, down = np.moveaxis(betting.most(state.bets, self.delta / 2), -1, 0)
        since = state.since.max(axis=-1)
        return Difference(
            seen=(state.other - state.own) / t,
            low=np.maximum(-down, state.low) / t,
            high=np.minimum(up, state.high) / t,
            since=np.where(since > 0, since, np.nan),
        )

    def interval(self, state: Apart) -> tuple[Array, Array]:
        """() the least and the largest average expected difference that is believable."""
        found = self.difference(state)
        return found.low, found.high

    def certificate(self, state: Apart) -> Certificate:
        """The upper side; the note has the other one, and the verdict."""
        found, t = self.difference(state), np.maximum(state.t, 1.0)
        return certificate(
            f"comparison with {self.name}",
            f"average expected cost of {self.name} less that of the decisions taken",
            value=found.seen,
            slack=found.high - found.seen,
            trivial=state.high / t,
            delta=self.delta,
            assumptions=(_RANGES, *[LATE] * bool(state.late.any())),
            broken={
                f"{self.name} did not decide": state.absent,
                NO_RANGE: state.unknown,
                "The difference was outside its range": state.exceeded,
                "The outcome was outside the support that the range rests on": state.impossible,
            },
            note=self.words(state) if not state.t.ndim and not state.unknown.any() else "",
        )

    def words(self, state: Apart) -> str:
        """For one trial: by how much it is better or worse."""
        found, sense = self.difference(state), self.sense
        said = f"Seen: {amount(float(found.seen), sense)} a stage; at all times "
        interval = between(float(found.low), float(found.high), sense)
        return f"{said}{interval}: {verdict(found)}."


def verdict(found: Difference) -> str:
    """For one trial."""
    if np.isnan(found.since):
        return "which is better is open"
    return f"{'better' if found.high <= 0 else 'worse'} since stage {int(found.since)}"


def comparisons(
    names: Sequence[str], *, scale: float | None = None, sense: Sense, delta: float = 0.05
) -> list[Comparison]:
    """One for each shadow; all hold together but for a chance of delta, which they share."""
    names = tuple(arguments.each("comparisons", "names", names, str))
    arguments.number("comparisons", "delta", delta, "(0, 1)")
    return [
        Comparison(shadow=i, name=name, scale=scale, sense=sense, delta=delta / len(names))
        for i, name in enumerate(names)
    ]
