"""Live, honest guarantees on what decisions cost: one fold over stages each."""

from bocopt.guarantees.certificate import Certificate, Evidence, Guarantee, certify
from bocopt.guarantees.feasibility import Feasibility
from bocopt.guarantees.monitor import Monitor, evidence_of, for_decisions
from bocopt.guarantees.sequences import Direct, EmpiricalBernstein, HoeffdingMixture
from bocopt.guarantees.theorems import Comparator, Corollary35, Theorem32, Theorem33, offline

__all__ = [
    "Certificate",
    "Comparator",
    "Corollary35",
    "Direct",
    "EmpiricalBernstein",
    "Evidence",
    "Feasibility",
    "Guarantee",
    "HoeffdingMixture",
    "Monitor",
    "Theorem32",
    "Theorem33",
    "certify",
    "evidence_of",
    "for_decisions",
    "offline",
]
