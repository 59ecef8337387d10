"""Policies: the paper's method, its competitors, and honest baselines."""

from bocopt.policies.baselines import ConditionalOptimum, Constant, Frozen, SampleAverage
from bocopt.policies.bayes import BGS, BMA, MeanPrediction, MostProbable, Vote
from bocopt.policies.ensemble import Ensemble
from bocopt.policies.given_across import GivenAcross
from bocopt.policies.gradient import DFL, Adam, PtO
from bocopt.policies.informed import informed_ensemble
from bocopt.policies.partly_seen import PartlySeen
from bocopt.policies.predictive import Predictive
from bocopt.policies.shadowed import Shadowed
from bocopt.policies.spo import SPOPlus
from bocopt.policies.spread import SpreadControl
from bocopt.policies.today import Recorded, Rule
from bocopt.policies.weighted import Near, Nearest, ResidualSampleAverage, WeightedSampleAverage

__all__ = [
    "BGS",
    "BMA",
    "DFL",
    "Adam",
    "ConditionalOptimum",
    "Constant",
    "Ensemble",
    "Frozen",
    "GivenAcross",
    "MeanPrediction",
    "MostProbable",
    "Near",
    "Nearest",
    "PartlySeen",
    "Predictive",
    "PtO",
    "Recorded",
    "ResidualSampleAverage",
    "Rule",
    "SPOPlus",
    "SampleAverage",
    "Shadowed",
    "SpreadControl",
    "Vote",
    "WeightedSampleAverage",
    "informed_ensemble",
]
