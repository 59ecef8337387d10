"""What a lambda costs in the guarantees that are proved at a fixed one."""

from math import log
from typing import NamedTuple
from warnings import warn

from bocopt import arguments
from bocopt.beliefs import for_horizon


class Guidance(NamedTuple):
    """Slack per stage at the chosen lam, and at the best for the horizon."""

    lam: float
    slack: float
    best: float  # lam*
    least: float  # slack at lam*
    vacuous: bool  # whether the slack alone is as much as the range

    def __str__(self) -> str:
        said = (
            f"lam = {self.lam:.3g} costs {self.slack:.3g} a stage; lam* = {self.best:.3g} costs "
            f"{self.least:.3g}."
        )
        return f"{said} The bound is vacuous." if self.vacuous else said


def guide(lam: float, *, horizon: int, scale: float, delta: float = 0.05) -> Guidance:
    """Slack lam C^2 / 8 + log(1/delta) / (lam T) per stage, at lam and at lam*.

    For T stages with losses or costs in a range of C; warns where the bound says nothing. lam* is
    best for the bound (E13): the learning rate at which a belief learns well is another matter.

    >>> print(guide(1e-4, horizon=1000, scale=100.0))
    lam = 0.0001 costs 30.1 a stage; lam* = 0.00155 costs 3.87.
    """
    arguments.number("guide", "lam", lam, "(0, inf)")
    best = for_horizon(horizon, scale, delta)
    slack, least = (rate * scale**2 / 8 + log(1 / delta) / (rate * horizon) for rate in (lam, best))
    found = Guidance(lam, slack, best, least, slack >= scale)
    if found.vacuous:
        warn("The bound is vacuous: its slack is no less than the range.", stacklevel=2)
    return found
