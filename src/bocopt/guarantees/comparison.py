"""Confidence sequences for how much better another policy is than the one that decides."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bocopt import arguments
from bocopt.core import Array
from bocopt.guarantees import betting, kernels
from bocopt.guarantees.certificate import (
    LATE,
    NO_RANGE,
    Certificate,
    Difference,
    Evidence,
    certificate,
    shadow_of,
)
from bocopt.guarantees.kernels.records import Apart, Bets, named
from bocopt.guarantees.phrases import at_worst

_RANGES = "the difference lies in a range that is known before xi"
_SUMS = len(Apart._fields)


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A confidence sequence for the average expected difference in cost so far, both sides.

    Both decisions are priced on the same xi. `shadow` is the number of the other one among those of
    a `Shadowed` policy, `name` what it is called. By bets with delta / 2 each: look as often as you
    like. Of several comparisons all hold together but for a chance of the sum of their deltas.

    Capital falls as an outcome grows. So a stage whose outcome was seen in part, or never came, is
    counted as if it had been the worst that what was seen allows, for either side: then nothing is
    assumed of what hides outcomes, and the average is that of all stages.
    """

    lockstep: ClassVar[bool] = True
    shadow: int = 0
    name: str = "the other"
    scale: float | None = None  # the unit of the bets, declared in advance
    delta: float = 0.05

    def __post_init__(self) -> None:
        arguments.integer("Comparison", "shadow", self.shadow, "[0, inf)")
        arguments.number("Comparison", "delta", self.delta, "(0, 1)")
        if self.scale is not None:
            arguments.number("Comparison", "scale", self.scale, "(0, inf)")

    def init(self, lead: tuple[int, ...]) -> Array:
        """`Apart`, bets against large differences, and bets against small ones.

        They are in units of the first range of a difference that was not 0.
        """
        bets = betting.no_bets((*lead, 2), self.scale).reshape(*lead, -1)
        return np.concatenate([np.zeros((*lead, _SUMS)), bets], axis=-1)

    def step(self, state: Array, evidence: Evidence) -> Array:
        """Return the state after one more stage, with bets on its difference and on minus that."""
        e, enough = evidence, math.log(2.0 / self.delta)
        shown = e.cost, *shadow_of(e, self.shadow), e.possible, e.late
        stakes = betting.STAKES, betting.LOG_WEIGHTS
        sums: Array = kernels.bets.compared(state, *shown, enough, *stakes)
        return sums

    def with_parts_missing(
        self, most: Array, least: Array, own: Array, other: Array, missing: Array
    ) -> Array:
        """The state after stages of which each is a sum, and parts of it never came.

        most        after they were shown as large a difference as each can have been
        least       after as small a one: capital falls in the outcome, so either side is safe
        own, other  () what the parts cost that came
        missing     () the stages of which none came
        """
        smallest, largest = (named(Apart, end[..., :_SUMS]) for end in (least, most))
        sums = largest._replace(
            own=own,
            other=other,
            in_part=missing,
            least=(smallest.other - smallest.own) - (other - own),
            most=(largest.other - largest.own) - (other - own),
            worse=smallest.worse,
        )
        up, down = most[..., _SUMS:], least[..., _SUMS:]
        half = up.shape[-1] // 2
        return np.concatenate([np.stack(sums, axis=-1), up[..., :half], down[..., half:]], axis=-1)

    def difference(self, state: Array) -> Difference:
        """Return the average difference that was seen, and the ends of its confidence sequence."""
        sums, bets = named(Apart, state[..., :_SUMS]), state[..., _SUMS:]
        t, since = np.maximum(sums.t, 1.0), np.maximum(sums.better, sums.worse)
        shown, apart = sums.t - sums.in_part, sums.other - sums.own
        up, down = (betting.most(side, self.delta / 2) for side in np.split(bets, 2, axis=-1))
        return Difference(
            seen=np.where(shown > 0, apart / np.maximum(shown, 1.0), np.nan),
            low=np.maximum(-down, sums.low) / t,
            high=np.minimum(up, sums.high) / t,
            since=np.where(since > 0, since, np.nan),
            least=(apart + sums.least) / t,
            most=(apart + sums.most) / t,
        )

    def log_evidence(self, state: Array, *, worse: bool = False) -> Array:
        """Return the log e-value () that the other is better on average so far; -inf if none.

        With `worse`, the one that it is worse. See `many`, which weighs those of many comparisons.
        """
        sums, bets = named(Apart, state[..., :_SUMS]), state[..., _SUMS:]
        broken = sums.absent + sums.unknown + sums.exceeded + sums.impossible
        side = np.split(bets, 2, axis=-1)[int(worse)]
        known = named(Bets, side[..., : len(Bets._fields)]).t == 0  # no difference was uncertain
        found = np.where(known, 0.0, betting.log_capital(side, 0.0))
        rounding = 4.0 * 2.0**-52 * sums.t * (abs(sums.own) + abs(sums.other))
        most = -sums.low if worse else sums.high
        sure = np.where(most < -rounding, np.inf, found)  # by the ranges alone
        return np.where(broken > 0, -np.inf, sure)

    def interval(self, state: Array) -> tuple[Array, Array]:
        """Return the least and the largest believable average expected difference, each ()."""
        found = self.difference(state)
        return found.low, found.high

    def certificate(self, state: Array) -> Certificate:
        """The upper side, and the difference with both."""
        found, sums = self.difference(state), named(Apart, state[..., :_SUMS])
        in_part = sums.in_part > 0
        value = np.where(in_part, found.most, found.seen)
        return certificate(
            f"comparison with {self.name}",
            f"average expected cost of {self.name} less that of the decisions taken",
            value=value,
            least=np.where(in_part, found.least, np.nan),
            slack=found.high - value,
            trivial=sums.high / np.maximum(sums.t, 1.0),
            delta=self.delta,
            assumptions=(_RANGES, *[LATE] * bool(sums.late.any())),
            broken={
                f"{self.name} did not decide": sums.absent,
                NO_RANGE: sums.unknown,
                "The difference was outside its range": sums.exceeded,
                "The outcome was outside the support that the range rests on": sums.impossible,
            },
            note=at_worst(sums.in_part),
            other=self.name,
            difference=found,
        )


def comparisons(
    names: Sequence[str], *, scale: float | None = None, delta: float = 0.05
) -> list[Comparison]:
    """Return one for each shadow; all hold together but for a chance of delta, which they share."""
    names = tuple(arguments.each("comparisons", "names", names, str))
    arguments.number("comparisons", "delta", delta, "(0, 1)")
    return [
        Comparison(shadow=i, name=name, scale=scale, delta=delta / len(names))
        for i, name in enumerate(names)
    ]
