"""Models of xi given x that learn online: regressions with noise, and their mixture."""

from bocopt.models.law import Law
from bocopt.models.members import (
    ConstantVariance,
    KernelVariance,
    LogVariance,
    Member,
    RandomCoefficients,
)
from bocopt.models.mixture import Mixture, default_members

__all__ = [
    "ConstantVariance",
    "KernelVariance",
    "Law",
    "LogVariance",
    "Member",
    "Mixture",
    "RandomCoefficients",
    "default_members",
]
