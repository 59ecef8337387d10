"""The Gibbs posterior by sequential Monte Carlo.

`GibbsPosterior` is the paper's and looks at the last stage only. `ResampleMove` looks back on all
stages and finds the exact posterior; `SafeGrid` chooses its temperature.
"""

from bocopt.smc.belief import Belief
from bocopt.smc.diagnostics import Estimate, posterior_mean
from bocopt.smc.kernels import CrankNicolson, EllipticalSlice, FittedCrankNicolson, RandomWalk
from bocopt.smc.moves import LiuWest
from bocopt.smc.posterior import GibbsPosterior, Particles
from bocopt.smc.resample import multinomial, systematic
from bocopt.smc.resample_move import ResampleMove
from bocopt.smc.safe import SafeGrid
from bocopt.smc.temperature import AdaHedge, Fixed, for_horizon
from bocopt.smc.weights import effective_size

__all__ = [
    "AdaHedge",
    "Belief",
    "CrankNicolson",
    "EllipticalSlice",
    "Estimate",
    "FittedCrankNicolson",
    "Fixed",
    "GibbsPosterior",
    "LiuWest",
    "Particles",
    "RandomWalk",
    "ResampleMove",
    "SafeGrid",
    "effective_size",
    "for_horizon",
    "multinomial",
    "posterior_mean",
    "systematic",
]
