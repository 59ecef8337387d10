"""bocopt: Bayesian online contextual optimization.

Decide under uncertainty, see the outcome in full, learn from the quality of the decision.
"""

from bocopt import losses, models, policies, predictors, priors, problems, streams
from bocopt.beliefs import GibbsPosterior, LiuWest, ResampleMove
from bocopt.core import Decision, Dims, Sense, Solution, Status
from bocopt.guarantees import Monitor
from bocopt.live import Agent
from bocopt.losses import DecisionRegret
from bocopt.models import Mixture
from bocopt.policies import (
    BGS,
    BMA,
    DFL,
    Adam,
    ConditionalOptimum,
    Constant,
    Ensemble,
    Frozen,
    MeanPrediction,
    MostProbable,
    Predictive,
    PtO,
    ResidualSampleAverage,
    SampleAverage,
    Vote,
    WeightedSampleAverage,
)
from bocopt.predictors import Linear, SigmoidLinear
from bocopt.priors import Calibrated, Gaussian
from bocopt.problems import Knapsack, from_callables
from bocopt.run import Stage, play, run
from bocopt.streams import PaperStream, Replay, from_csv
from bocopt.trace import Trace, record

__version__ = "0.2.0"

__all__ = [
    "BGS",
    "BMA",
    "DFL",
    "Adam",
    "Agent",
    "Calibrated",
    "ConditionalOptimum",
    "Constant",
    "Decision",
    "DecisionRegret",
    "Dims",
    "Ensemble",
    "Frozen",
    "Gaussian",
    "GibbsPosterior",
    "Knapsack",
    "Linear",
    "LiuWest",
    "MeanPrediction",
    "Mixture",
    "Monitor",
    "MostProbable",
    "PaperStream",
    "Predictive",
    "PtO",
    "Replay",
    "ResampleMove",
    "ResidualSampleAverage",
    "SampleAverage",
    "Sense",
    "SigmoidLinear",
    "Solution",
    "Stage",
    "Status",
    "Trace",
    "Vote",
    "WeightedSampleAverage",
    "__version__",
    "from_callables",
    "from_csv",
    "losses",
    "models",
    "play",
    "policies",
    "predictors",
    "priors",
    "problems",
    "record",
    "run",
    "streams",
]
