"""Laws of the noise (Student t with 2 or 4 degrees of freedom), and scales of outcomes.

All that differs between these laws stands here: a law with other degrees of freedom is a branch in
`density`, `below` and `_quantile`, and its number in `KNOWN`.
"""

import math

import numpy as np

from bocopt.core import Array
from bocopt.models.kernels.light.layout import MANY, MIDDLES, PLAIN, TAILS
from bocopt.numeric.compiled import inlined

KNOWN = (2.0, 4.0)  # degrees of freedom that the formulas below are for: others would pass as 4


@inlined
def density(tail: float, error: float) -> float:
    """The log density of a Student t with 2 or 4 degrees of freedom."""
    if tail == 2.0:
        return -1.5 * math.log(2.0 + error * error)
    return math.log(12.0) - 2.5 * math.log(4.0 + error * error)


@inlined
def below(tail: float, error: float) -> float:
    """Its distribution function."""
    if tail == 2.0:
        return 0.5 + error / (2.0 * math.sqrt(2.0 + error * error))
    s = 1.0 + error * error / 4.0
    return 0.5 + 0.375 * error / math.sqrt(s) * (1.0 - error * error / (12.0 * s))


@inlined
def weight(tail: float, error: float) -> float:
    """What an outcome counts in its regression: the less, the further out."""
    return (tail + 1.0) / (tail + error * error)


@inlined
def on_scale(law: int, y: float, unit: float) -> float:
    """The outcome as a regression sees it."""
    return y if law < PLAIN else math.log1p(max(y, 0.0) / unit)


@inlined
def slope_of(law: int, y: float, unit: float) -> float:
    """The log of the volume that a unit of outcomes has there."""
    return 0.0 if law < PLAIN else -math.log(unit + max(y, 0.0))


@inlined
def suits(law: int, lowest: float) -> bool:
    """Return True if a law is meant for such outcomes: logarithms need what is never negative."""
    return law < PLAIN or law == MANY or lowest >= 0.0


def _quantile(tail: float, level: float) -> float:
    """Return a quantile of a Student t with 2 or 4 degrees of freedom."""
    a = 4.0 * level * (1.0 - level)
    if tail == 2.0:
        return (2.0 * level - 1.0) * math.sqrt(2.0 / a)
    root = math.sqrt(a)
    away = math.cos(math.acos(min(root, 1.0)) / 3.0) / root - 1.0
    return math.copysign(2.0 * math.sqrt(max(away, 0.0)), level - 0.5)


def checked(tails: Array) -> Array:
    """Return degrees of freedom; a ValueError names those that no formula here is for."""
    unknown = sorted(set(tails.tolist()) - set(KNOWN))
    if unknown:
        raise ValueError(
            f"TAILS of the light mixture must be degrees of freedom of {KNOWN}, whose formulas "
            f"stand in tails.py. Got {unknown} instead."
        )
    return tails


QUANTILES = np.array([[_quantile(tail, level) for level in MIDDLES] for tail in checked(TAILS)])
