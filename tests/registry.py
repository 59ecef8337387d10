"""Everything that is public, and small instances to test it with.

Classes are found by walking `__all__`, wherever in the package they stand, and sorted by what they
have. One that becomes public needs an instance here: `test_registry.py` says so, and then checks
every law that fits it.
"""

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from functools import cache
from importlib import import_module
from inspect import isclass, isfunction
from itertools import islice
from pkgutil import iter_modules
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar, Protocol

import numpy as np
from blackbox import wrapped
from pyepo_shape import Cheapest

import bocopt
from bocopt import losses, priors
from bocopt.abilities import IsRegret
from bocopt.core import Array, Dims, Policy, Problem
from bocopt.loop import Stage, play
from bocopt.paper import PaperStream
from bocopt.policies import Constant
from bocopt.problems import Knapsack
from bocopt.problems.program import Program
from bocopt.trace import record
from bocopt.wrappers import says


def public_modules() -> list[ModuleType]:
    """The package, every part of it that says what is public, and priors and losses."""
    inside = [import_module(f"bocopt.{found.name}") for found in iter_modules(bocopt.__path__)]
    return [bocopt, *(m for m in inside if hasattr(m, "__all__")), priors, losses]


def public_names(module: ModuleType) -> list[str]:
    """Its `__all__`; of a module without one, what it defines."""
    if hasattr(module, "__all__"):
        return list(module.__all__)
    theirs = {name: getattr(thing, "__module__", "") for name, thing in vars(module).items()}
    return [n for n, where in theirs.items() if where == module.__name__ and n[0] != "_"]


def _is_concrete(thing: object) -> bool:
    """Whether it is a class that can have instances: a contract cannot."""
    return isclass(thing) and not getattr(thing, "_is_protocol", False)


#: Classes and functions by name.
PUBLIC: dict[str, Any] = {
    name: getattr(module, name)
    for module in public_modules()
    for name in public_names(module)
    if isfunction(getattr(module, name)) or _is_concrete(getattr(module, name))
} | {one.__name__: one for one in (Dims, Program, Stage, play, record)}
CLASSES: dict[str, type] = {name: thing for name, thing in PUBLIC.items() if isclass(thing)}
the = SimpleNamespace(**PUBLIC)

#: What makes a class one of a kind, the first that fits. What fits none is a plain value.
KINDS: list[tuple[str, set[str]]] = [
    ("policy", {"init", "decide", "learn"}),
    ("problem", {"dims", "sense", "risk", "solve", "cost", "violation"}),
    ("risk", {"alpha", "value", "met"}),
    ("guarantee", {"init", "step", "certificate"}),
    ("member", {"init", "refit", "predict"}),
    ("predictor", {"dim", "dim_noise", "sample"}),
    ("prior", {"dim", "sample", "log_density"}),
    ("prior", {"dim", "fit"}),
    ("loss", {"lower", "dim_noise", "__call__"}),
    ("kernel", {"sweep", "wanted"}),
    ("stream", {"stages"}),
    ("optimiser", {"init", "step", "rate"}),
    ("sampler", {"init", "step"}),
]


def kind_of(cls: type) -> str:
    if issubclass(cls, tuple | Enum | Exception) or Protocol in cls.__bases__:
        return "record"
    has = {*dir(cls), *(f.name for f in (fields(cls) if is_dataclass(cls) else ()))}
    return next((kind for kind, needs in KINDS if needs <= has), "value")


class Small(PaperStream):
    """The paper's contexts, with two outcomes that are never zero."""

    def sample_given(self, x: Array, u: Array) -> Array:
        return np.abs(super().sample_given(x, u)[..., :2]) + 0.1


DIMS = Dims(3, 2, 2)
STREAM = Small(run_in=3)
KNAPSACK = Knapsack(value=[12.0, 12.0], capacity=[8.0], salvage=[3.0], upper=50)
PARALLEL = the.ShortestPath(edges=[(0, 1), (0, 1)], source=0, target=1)
LINEAR, NOISY = the.Linear(3, 2), the.NoisyLinear(3, 2)


def prior_of(predictor: Any) -> Any:
    """Around predicting 1."""
    return the.Gaussian(mean=predictor.constant(np.ones(2)).tolist(), sd=0.2)


def predictor_of(loss: Any) -> Any:
    return loss.predictor if hasattr(loss, "predictor") else predictor_of(loss.loss)


def _predictors() -> dict[str, Any]:
    return {
        "Linear": LINEAR,
        "SigmoidLinear": the.SigmoidLinear(3, 2),
        "NoisyLinear": NOISY,
        "NoisyLinear, heavy tails": the.NoisyLinear(3, 2, df=4.0),
        "LogScale": the.LogScale(3, 2),
        "RandomSlopes": the.RandomSlopes(3, 2),
        "RandomSlopes, heavy tails": the.RandomSlopes(3, 2, df=6.0),
        "WithResiduals": the.WithResiduals(LINEAR, [[0.1, 0.2], [-0.1, 0.1]]),
    }


def _losses(problem: Problem) -> dict[str, Any]:
    regret = the.DecisionRegret(problem, LINEAR)
    return {
        "DecisionRegret": regret,
        "Clipped": the.Clipped(regret, at=30.0),
        "LogScore": the.LogScore(the.RandomSlopes(3, 2)),
        "EnergyScore": the.EnergyScore(NOISY, draws=4),
        "PinballScore": the.PinballScore(NOISY, draws=4),
        "ScenarioRegret": the.ScenarioRegret(NOISY, problem, draws=4),
    }


def _kernels() -> dict[str, Any]:
    return {
        "CrankNicolson": the.CrankNicolson(),
        "RandomWalk": the.RandomWalk(),
        "FittedCrankNicolson": the.FittedCrankNicolson(),
        "EllipticalSlice": the.EllipticalSlice(tries=8),
    }


def _temperatures() -> dict[str, Any]:
    return {"Fixed": the.Fixed(0.05), "AdaHedge": the.AdaHedge(3.0, largest=0.1)}


def _moves() -> dict[str, Any]:
    return {
        "LiuWest": the.LiuWest(),
        "LiuWest, printed": the.LiuWest(mode="printed"),
        "LiuWest, diagonal": the.LiuWest(diagonal=0.5),
    }


def _samplers(problem: Problem) -> dict[str, Any]:
    losses = _losses(problem)

    def settings(loss: Any) -> dict[str, Any]:
        lam = 0.1 if says(loss, IsRegret) else 3.0  # so that particles are moved
        return {"prior": prior_of(predictor_of(loss)), "loss": loss, "lam": lam, "size": 8}

    def gibbs(loss: Any = losses["DecisionRegret"], **options: Any) -> Any:
        return the.GibbsPosterior(**{**settings(loss), **options})

    def exact(loss: Any = losses["DecisionRegret"], **options: Any) -> Any:
        return the.ResampleMove(**{**settings(loss), "sweeps": 2, **options})

    calibrated = the.Calibrated(LINEAR, warm_up=8)
    return {
        **{f"GibbsPosterior of {name}": gibbs(loss) for name, loss in losses.items()},
        **{f"GibbsPosterior by {name}": gibbs(move=move) for name, move in _moves().items()},
        **{f"ResampleMove of {name}": exact(loss) for name, loss in losses.items()},
        **{f"ResampleMove by {name}": exact(kernel=k) for name, k in _kernels().items()},
        **{f"ResampleMove at {name}": exact(lam=lam) for name, lam in _temperatures().items()},
        "ResampleMove, waste-free": exact(chain_length=4),
        "ResampleMove, forgetful": exact(window=7, discount=0.9),
        "ResampleMove, sharing": exact(switch_rate=0.1),
        "ResampleMove, calibrated": exact(prior=calibrated),
        "SafeGrid": the.SafeGrid(exact(), [0.01, 0.1]),
        "Mixture": the.Mixture(dim_xi=2, scenarios=16),
        "Mixture, forgetful": the.Mixture(
            dim_xi=2, members=[the.ConstantVariance()], discounts=[0.9], memory=7, scenarios=16
        ),
        "Mixture, calibrated": the.Mixture(
            dim_xi=2,
            members=[the.ConstantVariance(), the.Forest(trees=6)],
            scales=[the.Plain(), the.Logarithmic()],
            calibrate=True,
            scenarios=16,
        ),
        "LightMixture": the.LightMixture(dim_xi=2, scenarios=16),
        "Remembering": the.Remembering(
            the.Mixture(dim_xi=2, scenarios=16), lags=[1, 3], periods=[5]
        ),
        "Remembering, informed": the.Remembering(_informed(at_once=True)),
        "Informed": _informed(),
        **_brought(),
    }


def _informed(**options: Any) -> Any:
    own = the.Mixture(dim_xi=2, members=[the.ConstantVariance()], scenarios=16)
    return the.Informed(shared_prior(), own, **options)


@cache
def shared_prior() -> Any:
    """Of three streams like `STREAM`."""
    stages = list(islice(STREAM.stages(np.arange(3)), 9))
    x, xi = (np.stack(parts, axis=1) for parts in zip(*stages, strict=True))
    return the.SharedPrior.of(zip(x, xi, strict=True))


def _brought() -> dict[str, Any]:
    """Regressors of other libraries."""
    ridge = import_module("sklearn.linear_model").Ridge()
    linear = import_module("river.linear_model").BayesianLinearRegression()
    return {
        "FromSklearn": the.from_sklearn(ridge, every=3, begin=4),
        "FromSklearn, window": the.from_sklearn(ridge, every=2, begin=4, window=5, folds=1),
        "FromRiver": the.from_river(linear),
    }


def _members() -> dict[str, Any]:
    return {
        "ConstantVariance": the.ConstantVariance(),
        "Forest": the.Forest(trees=6),
        "KernelVariance": the.KernelVariance(),
        "KernelVariance, few rows": the.KernelVariance(rows=5),
        "LogVariance": the.LogVariance(),
        "RandomCoefficients": the.RandomCoefficients(),
        "RandomCoefficients, heavy tails": the.RandomCoefficients(df=4.0),
        "Smooth": the.Smooth(),
        "Smooth, few rows": the.Smooth(rows=5),
    }


class _AnyContext(Constant):
    """The same decision, whatever is missing; for outcomes of any number of components."""

    takes_missing: ClassVar[bool] = True


def policies(problem: Problem = KNAPSACK) -> dict[str, Policy[Any]]:
    """Every policy on a problem of two decisions and two outcomes."""
    samplers = _samplers(problem)
    gibbs, exact = samplers["GibbsPosterior by LiuWest"], samplers["ResampleMove by CrankNicolson"]
    model, log_score = samplers["Mixture"], samplers["GibbsPosterior of LogScore"]
    one_model = {"problem": problem, "predictor": LINEAR, "prior": prior_of(LINEAR)}
    sigmoid = {**one_model, "predictor": the.SigmoidLinear(3, 2)}
    with_residuals = _predictors()["WithResiduals"]
    return {
        "BMA": the.BMA(problem, LINEAR, gibbs),
        "BMA, noisy": the.BMA(problem, predictor_of(log_score.loss), log_score),
        "BMA, residuals": the.BMA(problem, with_residuals, gibbs),
        "BMA, exact": the.BMA(problem, LINEAR, exact),
        "BMA, calibrated": the.BMA(problem, LINEAR, samplers["ResampleMove, calibrated"]),
        "BMA, grid": the.BMA(problem, LINEAR, samplers["SafeGrid"]),
        "BGS": the.BGS(problem, LINEAR, gibbs),
        "BGS, exact": the.BGS(problem, LINEAR, exact),
        "MostProbable": the.MostProbable(problem, LINEAR, gibbs),
        "MostProbable, exact": the.MostProbable(problem, LINEAR, exact),
        "MeanPrediction": the.MeanPrediction(problem, LINEAR, exact),
        "Vote": the.Vote(problem, LINEAR, gibbs),
        "PtO": the.PtO(**one_model),
        "PtO, sigmoid": the.PtO(**sigmoid),
        "DFL": the.DFL(**one_model, perturbations=4, floor=0.1),
        "DFL, sigmoid": the.DFL(**sigmoid, perturbations=4, floor=0.1),
        "SPOPlus": the.SPOPlus(**(one_model | {"problem": PARALLEL})),
        "Constant": the.Constant([1, 1]),
        "Frozen": the.Frozen(the.BMA(problem, LINEAR, gibbs)),
        "SampleAverage": the.SampleAverage(problem, initial_decision=[0, 0]),
        "SampleAverage, latest": the.SampleAverage(problem, latest=7),
        "WeightedSampleAverage": the.WeightedSampleAverage(problem),
        "WeightedSampleAverage, near": the.WeightedSampleAverage(
            problem, nearness=the.Near(), latest=7
        ),
        "ResidualSampleAverage": the.ResidualSampleAverage(problem, latest=7),
        "ConditionalOptimum": the.ConditionalOptimum(problem, STREAM, scenarios=8),
        "Predictive": the.Predictive(problem, model),
        "Ensemble": the.Ensemble(problem, model, prior_weight=0.5),
        "Ensemble, leader": the.Ensemble(
            problem, model, [the.Constant([1, 1])], selection="leader"
        ),
        "Ensemble, adaptive": the.Ensemble(problem, model, calibration="adaptive"),
        "Predictive, informed": the.Predictive(problem, _informed(at_once=True)),
        "Ensemble, informed": the.Ensemble(problem, samplers["Informed"]),
        "SpreadControl": the.SpreadControl(problem, model),
        "PartlySeen": the.PartlySeen(the.SampleAverage(problem)),
        "GivenAcross": the.GivenAcross(_AnyContext([1, 1]), the.AcrossSeries(levels=3)),
        "Rule": the.Rule(_one_each),
        "Recorded": the.Recorded(np.ones((1000, 2))),
        "Shadowed": the.Shadowed(
            the.SampleAverage(problem),
            {"one each": the.Constant([1, 1]), "BMA": the.BMA(problem, LINEAR, gibbs)},
        ),
    }


def played_on(policy: Policy[Any], otherwise: Problem = KNAPSACK) -> Problem:
    """The problem that a policy of the registry decides for, where it says one."""
    problem: Problem = getattr(policy, "problem", otherwise)
    return problem


def _guarantees() -> dict[str, Any]:
    on_beliefs = {"lam": 0.1, "scale": 30.0}
    return {
        **{
            name: CLASSES[name](**on_beliefs)
            for name in ("Theorem32", "Theorem33", "Corollary35", "Comparator")
        },
        **{
            name: CLASSES[name](scale=30.0)
            for name in ("AgainstOneDraw", "ClippedRegret", "OneDraw", "UpdatedBeliefs")
        },
        "BestArm": the.BestArm(),
        "Direct": the.Direct(lam=0.01),
        "HoeffdingMixture": the.HoeffdingMixture(),
        "EmpiricalBernstein": the.EmpiricalBernstein(scale=2000.0),
        "EmpiricalBernstein, forgiving": the.EmpiricalBernstein(scale=20.0, strict=False),
        "Feasibility": the.Feasibility(),
        "Feasibility, target": the.Feasibility(alpha=0.5),
        "Tightest": the.headline(scale=20.0),
        "Betting": the.Betting(),
        "Comparison": the.Comparison(),
        "Worsening": the.Worsening(),
        "Outlook": the.Outlook(ahead=1, window=9, delta=0.9),
    }


def _problems() -> dict[str, Any]:
    return {
        "Knapsack": KNAPSACK,
        "Knapsack, ties": Knapsack(value=[3.0] * 2, capacity=[6.0], salvage=[3.0], upper=6),
        "Knapsack, at least one": Knapsack(
            value=[12.0] * 2, capacity=[8.0], salvage=[3.0], lower=1, upper=9
        ),
        "Knapsack, worst feasible": Knapsack(
            value=[12.0, 2.0], capacity=[8.0], salvage=[3.0], upper=9, pays_worst_feasible=True
        ),
        "Newsvendor": the.Newsvendor(unit_cost=[1.0, 2.0], price=[3.0, 3.0], capacity=2.0),
        "Newsvendor, penalised": the.Newsvendor(
            unit_cost=[1.0, 2.0], price=[3.0, 3.0], penalty=1.0, salvage=0.5, largest_demand=6.0
        ),
        "ShortestPath": PARALLEL,
        "ShortestPath, bounded": replace(PARALLEL, largest_cost=6.0),
        "BinaryKnapsack": the.BinaryKnapsack(items=1, capacity=1.0),
        "BinaryKnapsack, bounded": the.BinaryKnapsack(
            items=1, capacity=1.0, infeasible_reward=-1.0, largest_value=6.0
        ),
        "BinaryKnapsack, certain weights": the.BinaryKnapsack(
            items=2, capacity=3.0, weights=[1.0, 2.5], largest_value=6.0
        ),
        "Program": _shop(),
        "Program, in a box": _shop(support=(0, 6)),
        "Program, in a box with a chance": _load(support=(0, 6)),
        "Program, curved": _curved(),
        "Program, a chance": _load(),
        "Program, recourse": _repair(),
        "Conic": _near(),
        "FromPyepo": the.from_pyepo(Cheapest),
        "FromCallables": wrapped(dims=DIMS),
        "FromCallables, nothing promised": wrapped(dims=DIMS, alpha=None),
        "FromCallables, bounded": wrapped(
            dims=DIMS, bounds=_knapsack_range, support=lambda x, xi: (xi >= 0).all()
        ),
        "FromCallables, differences bounded": wrapped(
            dims=DIMS,
            bounds=_knapsack_range,
            bounds_of_difference=_knapsack_differences,
            support=lambda x, xi: (xi >= 0).all(),
        ),
    }


def _shop(**options: Any) -> Any:
    @bocopt.program(x=3, xi=2, order=bocopt.real(2, upper=5), **options)
    def shop(x: Any, xi: Any, order: Any) -> Any:
        sold = np.minimum(order, xi).sum()
        return bocopt.minimise(order.sum() - 3 * sold + x[0]), order.sum() <= 3

    return shop


def _load(**options: Any) -> Any:
    @bocopt.program(
        xi=2, chance=0.7, infeasible_objective=0.0, take=bocopt.integer(2, upper=4), **options
    )
    def load(xi: Any, take: Any) -> Any:
        return bocopt.maximise([3, 2] @ take), xi @ take <= 4

    return load


def _curved() -> Any:
    @bocopt.program(xi=2, support=(0, 6), build=bocopt.real(2, upper=5))
    def curved(xi: Any, build: Any) -> Any:
        worn = bocopt.pos(xi[0] * xi[1] - build.sum())
        return bocopt.minimise(np.sqrt(xi) @ build + xi[0] ** 2 + worn)

    return curved


def _repair() -> Any:
    @bocopt.program(xi=2, risk=the.CVaR(0.5), build=bocopt.binary(2), short=bocopt.recourse(2))
    def repair(xi: Any, build: Any, short: Any) -> Any:
        return bocopt.minimise(build.sum() + 4 * short.sum()), 2 * build + short >= xi

    return repair


def _near() -> Any:
    cp: Any = import_module("cvxpy")

    def near(xi: Any, z: Any) -> Any:
        return cp.Minimize(cp.sum_squares(z - xi)), [z >= 0, cp.sum(z) <= 2]

    return the.from_cvxpy(xi=2, z=2)(near)


def _one_each(x: Array) -> list[float]:
    return [1.0, 1.0]


def _ordered(x: dict[str, float], margin: float = 1.0) -> list[float]:
    return [margin * x["last"]]


def _knapsack_range(x: Array, z: Array) -> tuple[float, float]:
    low, high = KNAPSACK.range(x, z)
    return float(low), float(high)


def _knapsack_differences(x: Array, z: Array, other: Array) -> tuple[float, float]:
    low, high = KNAPSACK.range_of_difference(x, z, other)
    return float(low), float(high)


def _streams() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    x, xi = rng.normal(size=(3, 6, 2)), rng.random((3, 6, 2))
    return {
        "PaperStream": the.PaperStream(run_in=3),
        "PolynomialCosts": the.PolynomialCosts(degree=2, half_width=0.5, dim_x=3, dim_xi=2),
        "Replay": the.Replay(x[0], xi[0]),
        "ChangePoint": the.ChangePoint(the.PaperStream(), the.PaperStream(offset=1.3), at=3),
    }


def _batch_learners() -> dict[str, Any]:
    settings = {"prior": prior_of(LINEAR), "loss": the.DecisionRegret(KNAPSACK, LINEAR)}
    outcome = the.TowardsOutcome(LINEAR, strength=5.0)
    return {
        "ApproximateBayes": the.ApproximateBayes(**settings, tolerance=30.0, size=20),
        "MetropolisHastings": the.MetropolisHastings(**settings, lam=0.1, burn_in=50, draws=20),
        "MetropolisHastings, drifting": the.MetropolisHastings(
            **settings, lam=0.1, burn_in=50, draws=20, drift=outcome
        ),
        "TowardsOutcome": outcome,
        "TowardsDecision": the.TowardsDecision(PARALLEL, LINEAR),
    }


def truck(shops: Sequence[str]) -> Any:
    """One capacity for all shops."""
    capacity = 30.0 * len(shops)
    return the.Newsvendor(unit_cost=[1.0] * len(shops), price=3.0, capacity=capacity)


def _values() -> dict[str, Any]:
    stages = list(bocopt.run(the.Constant([1, 1]), STREAM, problem=KNAPSACK, horizon=2))
    return {
        "AcrossSeries": the.AcrossSeries(lags=[0], trees=3),
        "Plain": the.Plain(),
        "SharedPrior": shared_prior(),
        "Logarithmic": the.Logarithmic(),
        "Near": the.Near(),
        "Nearest": the.Nearest(),
        **_batch_learners(),
        "Expectation": the.Expectation(),
        "Chance": the.Chance(0.8),
        "CVaR": the.CVaR(0.6, alpha=0.7),
        "WorstCase": the.WorstCase(alpha=0.7),
        "Adam": the.Adam(),
        "Incremental": the.Incremental(the.SampleAverage(KNAPSACK)),
        "Agent": the.Agent(the.Constant([1, 1]), problem=KNAPSACK),
        "PanelAgent": the.PanelAgent(the.Constant([1, 1]), problem=KNAPSACK),
        "Coupled": the.Coupled(truck),
        "CoupledAgent": the.CoupledAgent(the.Coupled(truck)),
        "Monitor": the.Monitor(KNAPSACK),
        "BestMargin": the.BestMargin(_ordered, margins=[1.0, 1.2]),
        "Spec": the.Spec(
            "demand", context=["price"], time="day", calendar=["weekday"], lags=[1, 7], rolling=[7]
        ),
        "Spec, late": the.Spec(
            ["demand"], categories=["store"], time="day", arrives="came", warm_up=5
        ),
        "Featuriser": the.Featuriser(
            the.Spec("demand", context=["price"], time="day", calendar=["weekday"], lags=[1, 7]),
            kind="date",
            origin=1_709_251_200_000_000,
        ),
        "PanelFeaturiser": the.PanelFeaturiser(
            the.Spec("demand", context=["price"], time="day", series="shop", lags=[1]),
            kind="date",
        ),
        "Case": the.Case(
            name="shop", problem=KNAPSACK, policies={"average": the.SampleAverage(KNAPSACK)}
        ),
        "Trace": record(stages, KNAPSACK.sense),
    }


def instances() -> dict[str, Any]:
    """By a name that begins with its class and says what is special about it."""
    return {
        **_predictors(),
        "Gaussian": prior_of(LINEAR),
        "Calibrated": the.Calibrated(LINEAR, warm_up=5),
        **_losses(KNAPSACK),
        **_kernels(),
        **_temperatures(),
        **_moves(),
        **_samplers(KNAPSACK),
        **_members(),
        **policies(),
        **_guarantees(),
        **_problems(),
        **_streams(),
        **_values(),
    }


INSTANCES = instances()


def of_kind(kind: str) -> dict[str, Any]:
    return {name: thing for name, thing in INSTANCES.items() if kind_of(type(thing)) == kind}
