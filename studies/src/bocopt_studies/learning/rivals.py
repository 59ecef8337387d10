"""Whom the default learner is compared with: what others would build from the same past."""

from typing import Any

from bocopt import Ensemble, Mixture, SampleAverage
from bocopt.core import Policy
from bocopt.paper import ConditionalOptimum
from bocopt.policies import Near, Predictive, ResidualSampleAverage, WeightedSampleAverage
from bocopt.policies.charges import allowed_misses
from bocopt_studies.learning.boosted import BoostedQuantiles
from bocopt_studies.learning.forests import ForestResiduals, ForestWeights
from bocopt_studies.learning.table import AVERAGE, BEST, ENSEMBLE
from bocopt_studies.learning.worlds import LearningWorld

MIXTURE = "its mixture alone"
ADAPTIVE = "Ensemble, adaptive level"


def learners(world: LearningWorld) -> dict[str, Policy[Any]]:
    """The ensemble, its first arm, and its rivals; all learn from scratch."""
    problem, size = world.problem, world.problem.dims.xi
    counted = allowed_misses(problem) is not None
    return {
        ENSEMBLE: Ensemble(problem),
        **({ADAPTIVE: Ensemble(problem, calibration="adaptive")} if counted else {}),
        MIXTURE: Predictive(problem, Mixture(dim_xi=size)),
        "forest weights": Predictive(problem, ForestWeights(size)),
        "forest and local residuals": Predictive(problem, ForestResiduals(size)),
        "boosted quantiles": Predictive(problem, BoostedQuantiles(size)),
        "kernel-weighted outcomes": WeightedSampleAverage(problem, nearness=Near()),
        "nearest outcomes": WeightedSampleAverage(problem),
        "regression and residuals": ResidualSampleAverage(problem),
        AVERAGE: SampleAverage(problem),
    }


def optimum(world: LearningWorld) -> dict[str, Policy[Any]]:
    """Return the policy that knows the law, by name, where it is known; else an empty mapping."""
    return {} if world.law is None else {BEST: ConditionalOptimum(world.problem, world.law)}
