"""State of a mixture: outcomes, what was made of them, and the weights of laws."""

from typing import NamedTuple

from bocopt.core import Array, BoolArray, IntArray
from bocopt.models.calibration import Calibration
from bocopt.models.member_fits import Fits
from bocopt.models.tails import Widths
from bocopt.numeric.history import History


class MixtureInfo(NamedTuple):
    """Weights and scores of the laws at the last outcome; scores are NaN before any prediction."""

    weights: Array  # (M) after the outcome
    log_score: Array  # (M) log density of the outcome, as predicted
    mixture_score: Array  # () of the mixture
    probability: Array  # (m) of a smaller outcome, under the mixture: uniform if calibrated
    failed: Array  # (M) 1 where a law could not be used


class MixtureState(NamedTuple):
    """Outcomes, fits and weights."""

    seeds: IntArray  # ()
    x: History  # (n, k)
    xi: History  # (n, m)
    lowest: Array  # (m) outcome so far
    highest: Array  # (m)
    whole: BoolArray  # (m) components that were whole numbers so far: counts, spread in `xi`
    fits: Fits  # what members have made of the past
    widths: Widths  # of laws with heavy tails
    scatter: Array  # (M, m, m) sum of products of standardised errors
    log_w: Array  # (M)
    levels: Calibration  # where outcomes lay in what was predicted for them
    info: MixtureInfo
