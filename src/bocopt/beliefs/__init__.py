"""The Gibbs posterior by sequential Monte Carlo.

`GibbsPosterior` is the paper's and looks at the last stage only. `ResampleMove` looks back on all
stages and finds the exact posterior; `SafeGrid` chooses its learning rate. `MetropolisHastings` and
`ApproximateBayes` learn a batch at once.
"""

from bocopt.beliefs.approximate import ApproximateBayes
from bocopt.beliefs.belief import Belief
from bocopt.beliefs.chain import MetropolisHastings
from bocopt.beliefs.diagnostics import Estimate, posterior_mean
from bocopt.beliefs.draws import Average, Draws, average
from bocopt.beliefs.drift import TowardsDecision, TowardsOutcome
from bocopt.beliefs.gibbs import GibbsBelief, GibbsPosterior
from bocopt.beliefs.ibis import ResampleMove
from bocopt.beliefs.kernels import CrankNicolson, EllipticalSlice, FittedCrankNicolson, RandomWalk
from bocopt.beliefs.learning_rate import AdaHedge, Fixed, for_horizon
from bocopt.beliefs.liu_west import LiuWest
from bocopt.beliefs.safe_bayes import SafeGrid
from bocopt.numeric.weights import effective_size, multinomial, systematic

__all__ = [
    "AdaHedge",
    "ApproximateBayes",
    "Average",
    "Belief",
    "CrankNicolson",
    "Draws",
    "EllipticalSlice",
    "Estimate",
    "FittedCrankNicolson",
    "Fixed",
    "GibbsBelief",
    "GibbsPosterior",
    "LiuWest",
    "MetropolisHastings",
    "RandomWalk",
    "ResampleMove",
    "SafeGrid",
    "TowardsDecision",
    "TowardsOutcome",
    "average",
    "effective_size",
    "for_horizon",
    "multinomial",
    "posterior_mean",
    "systematic",
]
