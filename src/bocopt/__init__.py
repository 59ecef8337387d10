"""bocopt: Bayesian online contextual optimization.

Decide under uncertainty, see the outcome in full, learn from the quality of the decision.
"""

from bocopt import losses, models, policies, predictors, priors, problems, streams
from bocopt.beliefs import GibbsPosterior, LiuWest, ResampleMove
from bocopt.compared import Compared
from bocopt.comparing import compare
from bocopt.core import Decision, Dims, Sense, Solution, Status
from bocopt.guarantees import Monitor
from bocopt.live import Agent
from bocopt.loop import Stage, play, run
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
    Recorded,
    ResidualSampleAverage,
    Rule,
    SampleAverage,
    Shadowed,
    SPOPlus,
    Vote,
    WeightedSampleAverage,
)
from bocopt.predictors import Linear, SigmoidLinear
from bocopt.priors import Calibrated, Gaussian
from bocopt.problems import (
    Chance,
    CVaR,
    Expectation,
    Knapsack,
    WorstCase,
    from_callables,
    from_cvxpy,
)
from bocopt.problems.program import (
    Program,
    absolute,
    binary,
    integer,
    maximise,
    minimise,
    pos,
    program,
    real,
    recourse,
)
from bocopt.streams import PaperStream, Replay, from_csv
from bocopt.trace import Trace, record

__version__ = "0.2.0"

__all__ = [
    "BGS",
    "BMA",
    "DFL",
    "Adam",
    "Agent",
    "CVaR",
    "Calibrated",
    "Chance",
    "Compared",
    "ConditionalOptimum",
    "Constant",
    "Decision",
    "DecisionRegret",
    "Dims",
    "Ensemble",
    "Expectation",
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
    "Program",
    "PtO",
    "Recorded",
    "Replay",
    "ResampleMove",
    "ResidualSampleAverage",
    "Rule",
    "SPOPlus",
    "SampleAverage",
    "Sense",
    "Shadowed",
    "SigmoidLinear",
    "Solution",
    "Stage",
    "Status",
    "Trace",
    "Vote",
    "WeightedSampleAverage",
    "WorstCase",
    "__version__",
    "absolute",
    "binary",
    "compare",
    "from_callables",
    "from_csv",
    "from_cvxpy",
    "integer",
    "losses",
    "maximise",
    "minimise",
    "models",
    "play",
    "policies",
    "pos",
    "predictors",
    "priors",
    "problems",
    "program",
    "real",
    "record",
    "recourse",
    "run",
    "streams",
]
