"""The paper's experiment: its settings, its policies and the numbers it prints."""

from dataclasses import dataclass
from typing import Any, Literal

from bocopt import (
    BGS,
    BMA,
    DFL,
    Adam,
    ConditionalOptimum,
    Constant,
    DecisionRegret,
    Frozen,
    Gaussian,
    GibbsPosterior,
    Knapsack,
    LiuWest,
    PaperStream,
    PtO,
    SampleAverage,
    SigmoidLinear,
)
from bocopt.core import Policy

ITEMS, RESOURCES, CONTEXT = 4, 3, 3

#: Table 1 of the print: (mean, spread) by policy and column.
PRINTED = {
    "BMA": {
        "reward": (84.52, 0.05),
        "reward_last": (84.53, 0.03),
        "feasibility": (0.99, 0.00),
        "feasibility_last": (0.99, 0.00),
    },
    "DFL": {
        "reward": (75.63, 5.27),
        "reward_last": (78.16, 0.24),
        "feasibility": (0.92, 0.08),
        "feasibility_last": (0.96, 0.01),
    },
    "BGS": {
        "reward": (48.45, 6.29),
        "reward_last": (53.63, 1.89),
        "feasibility": (0.54, 0.07),
        "feasibility_last": (0.60, 0.02),
    },
    "PtO": {
        "reward": (31.85, 0.39),
        "reward_last": (31.67, 0.05),
        "feasibility": (0.32, 0.01),
        "feasibility_last": (0.32, 0.00),
    },
}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Every choice the experiment rests on; E-numbers point to docs/errata.md."""

    offset: float = 1.0  # E1: the print has 2
    run_in: int = 100
    lower: int = 0  # E2: the text of the print has 1
    upper: int = 1000  # E3: the print has none
    alpha: float = 0.9
    prior_sd: float = 1.0  # E10
    particles: int = 20
    lam: float = 1e-4
    threshold: float = 0.5
    shrinkage: float = 0.9
    steps: int = 3
    move: Literal["printed", "corrected"] = "printed"  # E6, E7
    rate: float = 0.1
    decay: float = 0.99
    decay_every: int = 100  # E17: the print does not say
    perturbations: int = 20
    floor: float = 1e-6  # E18: the print has none
    constant: tuple[int, ...] = (2, 2, 1, 1)
    scenarios: int = 1000


def problem_of(settings: Settings) -> Knapsack:
    return Knapsack(
        value=(12.0,) * ITEMS,
        capacity=(8.0,) * RESOURCES,
        salvage=(3.0,) * RESOURCES,
        lower=settings.lower,
        upper=settings.upper,
        alpha=settings.alpha,
    )


def stream_of(settings: Settings) -> PaperStream:
    return PaperStream(offset=settings.offset, run_in=settings.run_in)


def policies_of(settings: Settings) -> dict[str, Policy[Any]]:
    """The paper's four policies, then the baselines, in the order of the table."""
    problem, stream = problem_of(settings), stream_of(settings)
    predictor = SigmoidLinear(CONTEXT, ITEMS * RESOURCES)
    prior = Gaussian.isotropic(predictor.dim, settings.prior_sd)
    posterior = GibbsPosterior(
        prior=prior,
        loss=DecisionRegret(problem, predictor),
        lam=settings.lam,
        size=settings.particles,
        threshold=settings.threshold,
        move=LiuWest(settings.shrinkage, settings.steps, settings.move),
    )
    adam = Adam(settings.rate, settings.decay, settings.decay_every)
    bma = BMA(problem, predictor, posterior)
    return {
        "BMA": bma,
        "DFL": DFL(
            problem=problem,
            predictor=predictor,
            prior=prior,
            adam=adam,
            perturbations=settings.perturbations,
            floor=settings.floor,
        ),
        "BGS": BGS(problem, predictor, posterior),
        "PtO": PtO(problem=problem, predictor=predictor, prior=prior, adam=adam),
        "Constant": Constant(settings.constant),
        "SAA": SampleAverage(problem, first=(settings.lower,) * ITEMS),
        "Prior": Frozen(bma),
        "Conditional": ConditionalOptimum(problem, stream, settings.scenarios),
    }
