"""Every policy that we ship, at the paper's settings and at a learning rate that makes it move."""

from typing import Any

from bocopt import Ensemble, Mixture
from bocopt.core import Policy
from bocopt.paper import (
    BMA,
    DecisionRegret,
    Gaussian,
    MeanPrediction,
    MostProbable,
    PaperStream,
    ResampleMove,
    SigmoidLinear,
    Vote,
)
from bocopt.policies import Predictive, ResidualSampleAverage, WeightedSampleAverage
from bocopt.problems import Knapsack
from bocopt_studies.paper.settings import Settings, policies_of, problem_of, stream_of

SETTINGS = {
    "paper": Settings(),
    "hot": Settings(lam=1e-2),  # E21: at 1e-4 the particles are hardly ever moved
    "hot-corrected": Settings(lam=1e-2, move="corrected"),
    "learners": Settings(),
}
HORIZON = {"paper": 40, "hot": 700, "hot-corrected": 700, "learners": 40}
POLICIES = tuple(policies_of(Settings()))
MOVING = ("BMA", "BGS")

# Only the policies that hold a posterior depend on the learning rate.
CASES = [("paper", policy) for policy in POLICIES] + [
    (setting, policy) for setting in ("hot", "hot-corrected") for policy in MOVING
]


def learners() -> dict[str, Policy[Any]]:
    """What learns beside the paper's policies, on the paper's problem."""
    problem, predictor = problem_of(Settings()), SigmoidLinear(3, 12)
    exact = ResampleMove(
        prior=Gaussian.isotropic(predictor.dim),
        loss=DecisionRegret(problem, predictor),
        lam=1e-2,
        size=20,
    )
    return {
        "Ensemble": Ensemble(problem, prior_weight=0.5),  # so that both arms are drawn
        "Predictive": Predictive(problem, Mixture(dim_xi=12)),
        "WeightedSampleAverage": WeightedSampleAverage(problem),
        "ResidualSampleAverage": ResidualSampleAverage(problem),
        "BMA of ResampleMove": BMA(problem, predictor, exact),
        "MostProbable": MostProbable(problem, predictor, exact),
        "MeanPrediction": MeanPrediction(problem, predictor, exact),
        "Vote": Vote(problem, predictor, exact),
    }


LEARNERS = [("learners", policy) for policy in learners()]


def parts(setting: str, policy: str) -> tuple[Policy[Any], Knapsack, PaperStream]:
    settings = SETTINGS[setting]
    policies = learners() if setting == "learners" else policies_of(settings)
    return policies[policy], problem_of(settings), stream_of(settings)
