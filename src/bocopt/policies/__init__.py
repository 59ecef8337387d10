"""Policies: the paper's method, its competitors, and honest baselines."""

from bocopt.policies.baselines import ConditionalOptimum, Constant, Frozen, SampleAverage
from bocopt.policies.bayes import BGS, BMA, MeanPrediction, MostProbable, Vote
from bocopt.policies.gradient import DFL, Adam, PtO

__all__ = [
    "BGS",
    "BMA",
    "DFL",
    "Adam",
    "ConditionalOptimum",
    "Constant",
    "Frozen",
    "MeanPrediction",
    "MostProbable",
    "PtO",
    "SampleAverage",
    "Vote",
]
