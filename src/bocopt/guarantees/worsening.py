"""An e-detector of change: an alarm when another policy that was better has cost more lately.

A `Comparison` is about the average so far, which a change for the worse moves slowly. Let d_s be
what the other decision costs more at stage s, at least low_s, and nu_s its expectation given the
past. With a stake a in (0, 1) and a unit,

    M_t = (M_{t-1} + 1) (1 + a d_t / max(unit / 2, -low_t)),    M_0 = 0,

is capital that was staked anew at every stage, against "it is expected to cost no more": where
nu <= 0 at every stage, E[M_t | past] <= M_{t-1} + 1, so that M_t - t is a supermartingale. So it is
for the mean over stakes. There is an alarm where that mean is 1 / `rate`, and M begins again at 0.
Of a policy that never is expected to cost more, E[alarms until t] <= rate t: false alarms come once
in 1 / rate stages at most, on average, and the first of them no sooner. The same bets on -d tell
that it has been better since; then the alarm is over.

Reference: Shin, Ramdas, Rinaldo (2024), E-detectors: a nonparametric framework for sequential
change detection.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bocopt import arguments
from bocopt.core import Array
from bocopt.guarantees import kernels
from bocopt.guarantees.certificate import (
    LATE,
    NO_RANGE,
    Certificate,
    Evidence,
    certificate,
    shadow_of,
)
from bocopt.guarantees.kernels.records import Lately, named

_STAKES = 0.9 / 3.0 ** np.arange(5)  # from bold to careful: a change may be large or small
_FIRST, _UNIT = len(Lately._fields), Lately._fields.index("unit")


@dataclass(frozen=True, kw_only=True)
class Worsening:
    """An alarm when the decisions of a shadow have cost more lately than those taken.

    `shadow` is the number of it among those of a `Shadowed` policy, `name` what it is called.
    `rate` is how often there are false alarms at most, on average, a stage.
    """

    lockstep: ClassVar[bool] = True
    shadow: int = 0
    name: str = "the other"
    scale: float | None = None  # the unit of the stakes, declared in advance
    rate: float = 0.001

    def __post_init__(self) -> None:
        arguments.integer("Worsening", "shadow", self.shadow, "[0, inf)")
        arguments.number("Worsening", "rate", self.rate, "(0, 1)")
        if self.scale is not None:
            arguments.number("Worsening", "scale", self.scale, "(0, inf)")

    def init(self, lead: tuple[int, ...]) -> Array:
        """`Lately`, then the bets that it costs more, then those that it costs less."""
        state = np.zeros((*lead, _FIRST + 2 * len(_STAKES)))
        state[..., _UNIT] = self.scale or 0.0
        return state

    def step(self, state: Array, evidence: Evidence) -> Array:
        """Return the state after one more stage, with bets that the difference has changed."""
        e, shown = evidence, shadow_of(evidence, self.shadow)
        after: Array = kernels.lately.watched(
            state, e.cost, *shown, e.possible, e.late, 1.0 / self.rate, _STAKES
        )
        return after

    def alarm(self, state: Array) -> Array:
        """Return the compared stage () of the latest alarm; NaN without one, or if it is over."""
        worse = named(Lately, state[..., :_FIRST]).worse
        return np.where(worse > 0, worse, np.nan)

    def stages(self, state: Array) -> int:
        """Return how many stages were compared, for one trial."""
        return int(named(Lately, state[..., :_FIRST]).t)

    def certificate(self, state: Array) -> Certificate:
        """Return the bound on the rate of false alarms; the note says if it costs more lately."""
        sums = named(Lately, state[..., :_FIRST])
        value = sums.alarms / np.maximum(sums.t, 1.0)
        return certificate(
            f"watch on {self.name}",
            "expected rate of false alarms a stage",
            value=value,
            slack=self.rate - value,
            trivial=np.ones(value.shape),
            delta=0.0,
            assumptions=(
                "the difference lies in a range that is known before xi",
                *[LATE] * bool(sums.late.any()),
            ),
            broken={
                f"{self.name} did not decide": sums.absent,
                NO_RANGE: sums.unknown,
                "The difference was outside its range": sums.exceeded,
                "The outcome was outside the support that the range rests on": sums.impossible,
            },
            note=self._words(state),
        )

    def _words(self, state: Array) -> str:
        at = self.alarm(state)
        if at.ndim:
            return f"Alarm in {int(np.isfinite(at).sum())} of {at.size} trials."
        if np.isnan(at):
            return f"No sign that {self.name} costs more lately."
        return f"{self.name} has cost more lately: alarm at compared stage {int(at)}."


def worsenings(names: Sequence[str], *, scale: float | None = None) -> list[Worsening]:
    """Return a `Worsening` for each shadow."""
    names = tuple(arguments.each("worsenings", "names", names, str))
    return [Worsening(shadow=i, name=name, scale=scale) for i, name in enumerate(names)]
