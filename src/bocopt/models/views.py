"""What a mixture knows: outcomes, how they are looked at, and what came of it."""

from typing import NamedTuple

from bocopt.core import Array, BoolArray, IntArray
from bocopt.models.calibration import Calibration
from bocopt.models.design import Ground
from bocopt.models.member import Fit
from bocopt.models.scale import Bend, Plain, Scale
from bocopt.numeric.history import History


class MixtureInfo(NamedTuple):
    """What the last outcome said about the members; NaN before there was a prediction."""

    weights: Array  # (M) after the outcome
    log_score: Array  # (M) log density of the outcome, as predicted
    mixture_score: Array  # () of the mixture
    probability: Array  # (m) of a smaller outcome, under the mixture: uniform if calibrated
    failed: Array  # (M) 1 where a member could not predict


class MixtureState(NamedTuple):
    """Outcomes, fits and weights."""

    seeds: IntArray  # ()
    x: History  # (n, k)
    xi: History  # (n, m)
    lowest: Array  # (m) outcome so far
    highest: Array  # (m)
    bends: tuple[Bend, ...]  # one a view
    grounds: tuple[Ground, ...]  # one a view
    fits: tuple[Fit, ...]  # (M) members
    broken: BoolArray  # (M) members whose last fit failed
    fitted: Array  # (V) outcomes seen at the last fit, one a view
    scatter: Array  # (M, m, m) sum of products of standardised errors
    log_w: Array  # (M)
    levels: Calibration  # where outcomes lay in what was predicted for them
    info: MixtureInfo


class View(NamedTuple):
    """How the past is looked at: on a scale, and with what weight of old outcomes."""

    scale: Scale
    discount: float

    @property
    def name(self) -> str:
        scale = "" if isinstance(self.scale, Plain) else f", {type(self.scale).__name__.lower()}"
        return scale + ("" if self.discount == 1 else f", discount {self.discount:g}")
