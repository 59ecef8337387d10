"""Live, honest guarantees on what decisions cost: one fold over stages each."""

from bocopt.guarantees.batch import gibbs, offline
from bocopt.guarantees.belief_losses import (
    AgainstOneDraw,
    ClippedRegret,
    OneDraw,
    UpdatedBeliefs,
)
from bocopt.guarantees.best_arm import BestArm
from bocopt.guarantees.certificate import (
    Certificate,
    Difference,
    Evidence,
    Guarantee,
    TwoSided,
    certify,
)
from bocopt.guarantees.comparison import Comparison, comparisons
from bocopt.guarantees.decisions import Betting, Direct, EmpiricalBernstein, HoeffdingMixture
from bocopt.guarantees.feasibility import Feasibility
from bocopt.guarantees.many import discoveries
from bocopt.guarantees.monitor import Monitor, evidence_of
from bocopt.guarantees.outlook import Outlook
from bocopt.guarantees.pac_bayes import anytime
from bocopt.guarantees.theorems import (
    Comparator,
    Corollary35,
    Guidance,
    Theorem32,
    Theorem33,
    guide,
)
from bocopt.guarantees.tightest import Tightest, headline
from bocopt.guarantees.vote import c_bound, vote_margin
from bocopt.guarantees.worsening import Worsening
from bocopt.problems.ranges import range_of

__all__ = [
    "AgainstOneDraw",
    "BestArm",
    "Betting",
    "Certificate",
    "ClippedRegret",
    "Comparator",
    "Comparison",
    "Corollary35",
    "Difference",
    "Direct",
    "EmpiricalBernstein",
    "Evidence",
    "Feasibility",
    "Guarantee",
    "Guidance",
    "HoeffdingMixture",
    "Monitor",
    "OneDraw",
    "Outlook",
    "Theorem32",
    "Theorem33",
    "Tightest",
    "TwoSided",
    "UpdatedBeliefs",
    "Worsening",
    "anytime",
    "c_bound",
    "certify",
    "comparisons",
    "discoveries",
    "evidence_of",
    "gibbs",
    "guide",
    "headline",
    "offline",
    "range_of",
    "vote_margin",
]
