"""The paper's own methods: its belief and predictors, its policies and rivals, its stream.

from bocopt.paper import BMA, DecisionRegret, GibbsPosterior, Gaussian, SigmoidLinear
"""

from bocopt.beliefs import GibbsPosterior, LiuWest, ResampleMove
from bocopt.losses import DecisionRegret
from bocopt.policies import (
    BGS,
    BMA,
    DFL,
    Adam,
    ConditionalOptimum,
    Frozen,
    MeanPrediction,
    MostProbable,
    PtO,
    SPOPlus,
    Vote,
)
from bocopt.predictors import Linear, SigmoidLinear
from bocopt.priors import Calibrated, Gaussian
from bocopt.streams import PaperStream

__all__ = [
    "BGS",
    "BMA",
    "DFL",
    "Adam",
    "Calibrated",
    "ConditionalOptimum",
    "DecisionRegret",
    "Frozen",
    "Gaussian",
    "GibbsPosterior",
    "Linear",
    "LiuWest",
    "MeanPrediction",
    "MostProbable",
    "PaperStream",
    "PtO",
    "ResampleMove",
    "SPOPlus",
    "SigmoidLinear",
    "Vote",
]
