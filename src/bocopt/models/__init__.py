"""Models of xi given x that learn online: regressions with noise, and their mixture."""

from bocopt.models.constant import ConstantVariance
from bocopt.models.kernel import KernelVariance
from bocopt.models.law import Law
from bocopt.models.log_variance import LogVariance
from bocopt.models.member import Member
from bocopt.models.mixture import Mixture, default_members
from bocopt.models.random_coefficients import RandomCoefficients

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
