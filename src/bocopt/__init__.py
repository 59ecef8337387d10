"""bocopt: Bayesian online contextual optimization.

Decide under uncertainty, see the outcome in full, learn from the quality of the decision. Here is
what most programs need; `bocopt.problems`, `bocopt.policies` and `bocopt.models` have more, and
`bocopt.paper` the methods of the paper.
"""

from bocopt.bounds import at_least, at_most, between
from bocopt.comparing import compare
from bocopt.core import Bounds, Decision, Model, Policy, Problem, Sense, Solution, Status
from bocopt.guarantees import Monitor
from bocopt.live import Agent, Coupled, CoupledAgent, PanelAgent
from bocopt.loop import run
from bocopt.models import Mixture
from bocopt.policies import Ensemble, Recorded, Rule, SampleAverage
from bocopt.problems import Chance, CVaR, Expectation, WorstCase, from_callables, from_cvxpy
from bocopt.problems.program import (
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
from bocopt.streams import Replay
from bocopt.trace import Trace, backtest

__version__ = "0.2.0"

__all__ = [
    "Agent",
    "Bounds",
    "CVaR",
    "Chance",
    "Coupled",
    "CoupledAgent",
    "Decision",
    "Ensemble",
    "Expectation",
    "Mixture",
    "Model",
    "Monitor",
    "PanelAgent",
    "Policy",
    "Problem",
    "Recorded",
    "Replay",
    "Rule",
    "SampleAverage",
    "Sense",
    "Solution",
    "Status",
    "Trace",
    "WorstCase",
    "__version__",
    "absolute",
    "at_least",
    "at_most",
    "backtest",
    "between",
    "binary",
    "compare",
    "from_callables",
    "from_cvxpy",
    "integer",
    "maximise",
    "minimise",
    "pos",
    "program",
    "real",
    "recourse",
    "run",
]
