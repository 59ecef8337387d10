"""Models of xi given x that learn online: regressions with noise, and their mixture."""

from bocopt.models.across import AcrossSeries
from bocopt.models.constant import ConstantVariance
from bocopt.models.forest import Forest
from bocopt.models.informed import Informed
from bocopt.models.kernel import KernelVariance
from bocopt.models.law import Law
from bocopt.models.light import LightMixture
from bocopt.models.log_variance import LogVariance
from bocopt.models.member import Member, Moments
from bocopt.models.mixture import Mixture, default_members
from bocopt.models.random_coefficients import RandomCoefficients
from bocopt.models.remembering import Remembering
from bocopt.models.scale import Logarithmic, Plain, Scale
from bocopt.models.shared_prior import SharedPrior, histories_of
from bocopt.models.smooth import Smooth

__all__ = [
    "AcrossSeries",
    "ConstantVariance",
    "Forest",
    "Informed",
    "KernelVariance",
    "Law",
    "LightMixture",
    "LogVariance",
    "Logarithmic",
    "Member",
    "Mixture",
    "Moments",
    "Plain",
    "RandomCoefficients",
    "Remembering",
    "Scale",
    "SharedPrior",
    "Smooth",
    "default_members",
    "histories_of",
]
