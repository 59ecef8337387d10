"""Predictors m(x; theta, u) from context to uncertainty, without noise u and with it."""

from bocopt.predictors.linear import Linear, SigmoidLinear
from bocopt.predictors.noisy import LogScale, NoisyLinear, RandomSlopes, WithResiduals

__all__ = [
    "Linear",
    "LogScale",
    "NoisyLinear",
    "RandomSlopes",
    "SigmoidLinear",
    "WithResiduals",
]
