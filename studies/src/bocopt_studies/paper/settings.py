"""The paper's experiment: its settings, its policies and the numbers it prints."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from bocopt import SampleAverage
from bocopt.core import Policy, Stream
from bocopt.paper import (
    BGS,
    BMA,
    DFL,
    Adam,
    ConditionalOptimum,
    DecisionRegret,
    Frozen,
    Gaussian,
    GibbsPosterior,
    LiuWest,
    PaperStream,
    PtO,
    SigmoidLinear,
)
from bocopt.policies import Constant
from bocopt.problems import Knapsack
from bocopt_studies.paper.variants import OneStream, Uncapped
from bocopt_studies.study import Size
from bocopt_studies.summaries import COLUMNS, Cell
from bocopt_studies.work.task import Play

ITEMS, RESOURCES, CONTEXT = 4, 3, 3


def _printed(*columns: tuple[float, float]) -> dict[str, Cell]:
    return {
        name: {"mean": mean, "sd": sd} for name, (mean, sd) in zip(COLUMNS, columns, strict=True)
    }


#: Table 1 of the print, by policy and column.
PRINTED = {
    "BMA": _printed((84.52, 0.05), (84.53, 0.03), (0.99, 0.00), (0.99, 0.00)),
    "DFL": _printed((75.63, 5.27), (78.16, 0.24), (0.92, 0.08), (0.96, 0.01)),
    "BGS": _printed((48.45, 6.29), (53.63, 1.89), (0.54, 0.07), (0.60, 0.02)),
    "PtO": _printed((31.85, 0.39), (31.67, 0.05), (0.32, 0.01), (0.32, 0.00)),
}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Every choice the experiment rests on; E-numbers point to docs/results/errata.md."""

    offset: float = 1.0  # E1: the print has 2
    run_in: int = 100  # the print does not say
    one_stream: bool = False  # E19: whether all trials see the same stream
    lower: int = 0  # E2: the text of the print has 1
    upper: int = 1000  # E3: the print has none
    capped: bool = True  # E4: V <= c'z, which the print lacks
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
    """Return the paper's knapsack of 4 items and 3 resources, at these settings."""
    return Knapsack(
        value=(12.0,) * ITEMS,
        capacity=(8.0,) * RESOURCES,
        salvage=(3.0,) * RESOURCES,
        lower=settings.lower,
        upper=settings.upper,
        alpha=settings.alpha,
    )


def stream_of(settings: Settings) -> PaperStream:
    """Return the paper's stream, with the offset and the run-in of these settings."""
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
    bma = BMA(problem if settings.capped else Uncapped(problem), predictor, posterior)
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
        "SAA": SampleAverage(problem, initial_decision=(settings.lower,) * ITEMS),
        "Prior": Frozen(bma),
        "Conditional": ConditionalOptimum(problem, stream, settings.scenarios),
    }


def tasks_of(settings: Settings, size: Size, names: Iterable[str]) -> dict[str, Play]:
    """One task for each of these policies, in this order."""
    problem, policies = problem_of(settings), policies_of(settings)
    stream: Stream = stream_of(settings)
    if settings.one_stream:
        stream = OneStream(stream)
    return {
        name: Play(
            policy=policies[name],
            problem=problem,
            stream=stream,
            seeds=size.seeds,
            horizon=size.horizon,
        )
        for name in names
    }
