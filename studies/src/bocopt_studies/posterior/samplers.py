"""The exact posterior of the paper's problem: what the studies of it share."""

from bocopt.beliefs import CrankNicolson
from bocopt.beliefs.learning_rate import LearningRate
from bocopt.paper import (
    Calibrated,
    DecisionRegret,
    Gaussian,
    GibbsPosterior,
    ResampleMove,
    SigmoidLinear,
)
from bocopt_studies.paper.settings import CONTEXT, ITEMS, RESOURCES, Settings, problem_of, stream_of
from bocopt_studies.posterior.tasks import Rules
from bocopt_studies.study import Size

PREDICTOR = SigmoidLinear(CONTEXT, ITEMS * RESOURCES)
PROBLEM, STREAM = problem_of(Settings()), stream_of(Settings())
LOSS = DecisionRegret(PROBLEM, PREDICTOR)
#: The best of the grid on seeds 1000 to 1019: under the aggregated rule, and under any other.
CHOSEN, CHOSEN_FOR_ONE = (1.5, 1e-4), (3.0, 1e-2)


def full_history(prior: Gaussian | Calibrated, lam: float | LearningRate) -> ResampleMove:
    """Return the sampler with full-history moves: 200 particles, waste-free pCN, chains of 5."""
    return ResampleMove(
        prior=prior, loss=LOSS, lam=lam, size=200, kernel=CrankNicolson(), chain_length=5
    )


def calibrated(stretch: float) -> Calibrated:
    """Return the prior whose predictions have `stretch` times the sd of xi."""
    return Calibrated(PREDICTOR, stretch=stretch)


def rules(sampler: ResampleMove | GibbsPosterior, size: Size) -> Rules:
    """Return the task of a sampler under every decision rule, on the paper's stream."""
    return Rules(
        problem=PROBLEM,
        predictor=PREDICTOR,
        stream=STREAM,
        sampler=sampler,
        seeds=size.seeds,
        horizon=size.horizon,
    )
