"""Live, honest guarantees on what decisions cost: one fold over stages each."""

from bocopt.guarantees.batch import gibbs, offline
from bocopt.guarantees.best_arm import BestArm
from bocopt.guarantees.certificate import Certificate, Evidence, Guarantee, certify
from bocopt.guarantees.decisions import Direct, EmpiricalBernstein, HoeffdingMixture
from bocopt.guarantees.feasibility import Feasibility
from bocopt.guarantees.guidance import Guidance, guide
from bocopt.guarantees.monitor import Monitor, evidence_of, range_of
from bocopt.guarantees.theorems import Comparator, Corollary35, Theorem32, Theorem33
from bocopt.guarantees.tightest import Tightest, headline

__all__ = [
    "BestArm",
    "Certificate",
    "Comparator",
    "Corollary35",
    "Direct",
    "EmpiricalBernstein",
    "Evidence",
    "Feasibility",
    "Guarantee",
    "Guidance",
    "HoeffdingMixture",
    "Monitor",
    "Theorem32",
    "Theorem33",
    "Tightest",
    "certify",
    "evidence_of",
    "gibbs",
    "guide",
    "headline",
    "offline",
    "range_of",
]
