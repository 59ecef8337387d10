"""bocopt: Bayesian online contextual optimization.

Decide under uncertainty, see the outcome in full, learn from the quality of the decision.
"""

from bocopt import policies, predictors, priors, problems, streams
from bocopt.agent import Agent
from bocopt.core import Decision, Dims, Sense, Solution, Status
from bocopt.losses import DecisionRegret
from bocopt.policies import (
    BGS,
    BMA,
    DFL,
    Adam,
    ConditionalOptimum,
    Constant,
    Frozen,
    MeanPrediction,
    MostProbable,
    PtO,
    SampleAverage,
    Vote,
)
from bocopt.predictors import Linear, SigmoidLinear
from bocopt.priors import Calibrated, Gaussian
from bocopt.problems import Knapsack, from_callables
from bocopt.run import Stage, play, run
from bocopt.smc import GibbsPosterior, LiuWest, ResampleMove
from bocopt.streams import PaperStream, Replay, from_csv
from bocopt.trace import Trace, record

__version__ = "0.1.0"

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
    "Frozen",
    "Gaussian",
    "GibbsPosterior",
    "Knapsack",
    "Linear",
    "LiuWest",
    "MeanPrediction",
    "MostProbable",
    "PaperStream",
    "PtO",
    "Replay",
    "ResampleMove",
    "SampleAverage",
    "Sense",
    "SigmoidLinear",
    "Solution",
    "Stage",
    "Status",
    "Trace",
    "Vote",
    "__version__",
    "from_callables",
    "from_csv",
    "play",
    "policies",
    "predictors",
    "priors",
    "problems",
    "record",
    "run",
    "streams",
]
