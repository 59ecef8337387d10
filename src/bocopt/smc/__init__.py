"""The Gibbs posterior by sequential Monte Carlo: weights, resampling, moves, the sampler."""

from bocopt.smc.moves import LiuWest
from bocopt.smc.posterior import GibbsPosterior, Particles
from bocopt.smc.resample import multinomial, systematic
from bocopt.smc.weights import effective_size

__all__ = [
    "GibbsPosterior",
    "LiuWest",
    "Particles",
    "effective_size",
    "multinomial",
    "systematic",
]
